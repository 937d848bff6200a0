// Package recorded holds the recorded exchanges of the catalog's sources. What it
// promises: every source that calls an upstream has recorded exchanges. Replay and
// tests answer from them, the samples, shapes and examples of the endpoint's answers
// are made of them, and the doctor compares live answers with them. No request needs
// this package.
package recorded
