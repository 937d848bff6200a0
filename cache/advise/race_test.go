//go:build race

package advise_test

const raceDetector = true
