package costtest

import "time"

// Process returns how long work takes the processors, in all goroutines of this process. Tests that run in parallel would count too,
// and the garbage collector, which the caller turns off.
func Process(work func()) time.Duration {
	start := processTime()
	work()
	return processTime() - start
}
