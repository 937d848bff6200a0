// Package recorded holds the recorded exchanges of the catalog's sources. What it
// promises: every source that calls an upstream has exchanges that replay and
// tests answer from, that give samples, shapes and examples of its endpoint's
// answers, and that the doctor compares live answers to. No request needs this
// package.
package recorded
