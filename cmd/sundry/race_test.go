//go:build race

package main

// raceDetector slows everything down.
const raceDetector = true
