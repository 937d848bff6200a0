package main

import (
	"runtime"

	"sundry/cache"
)

// pace keeps the collector from working every few milliseconds while the heap
// is small: it starts when the heap has doubled, and of a heap of 15 MiB that is
// soon. A block that is never touched counts as live without taking memory, so
// that it starts so much later. It costs the same room for garbage however full
// the cache is, where a higher GOGC would cost a multiple of it. What comes back
// must be called at the end; GOGC and GOMEMLIMIT work as ever.
func pace(memory int64) (keep func()) {
	if memory == 0 {
		memory = cache.DefaultMemory
	}
	block := make([]byte, memory/4)
	return func() { runtime.KeepAlive(block) }
}
