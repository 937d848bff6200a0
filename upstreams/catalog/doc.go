// Package catalog turns one YAML file per endpoint into something that serves.
// What it promises: everything about an endpoint stands in its file; a mistake
// in it is found at load and reported with file, line and what was expected; a
// set of endpoints is swapped whole or not at all.
package catalog
