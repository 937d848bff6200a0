//go:build !race

package longtest

// Race is whether the race detector slows everything down.
const Race = false
