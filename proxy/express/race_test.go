//go:build race

package express

const raceDetector = true
