//go:build !race

package express

const raceDetector = false
