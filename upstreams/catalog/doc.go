// Package catalog compiles one YAML file per endpoint into an endpoint that
// serves. What it promises: everything about an endpoint is in its file; every
// mistake in it is found at load and reported with file, line and what was
// expected; nothing is parsed or compiled while serving; a set of endpoints is
// replaced as a whole or not at all.
package catalog
