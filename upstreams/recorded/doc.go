// Package recorded holds the catalog to what its upstreams once answered. What
// it promises: every source that asks somebody has recorded exchanges, which
// show what its endpoint answers (samples, shapes, examples), answer for it in
// replay and in tests, and tell the doctor when an upstream has changed. A
// request's way needs none of it.
package recorded
