// Package heaptest measures in tests how much memory work takes at its peak.
package heaptest

import (
	"runtime"
	"sync"
	"time"
)

// Peak runs f and returns by how many bytes the heap has grown at most meanwhile.
func Peak(f func()) uint64 {
	runtime.GC()
	before, peak := allocated(), uint64(0)
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				peak = max(peak, allocated())
			}
		}
	})
	f()
	close(done)
	watching.Wait()
	return peak - min(peak, before)
}

func allocated() uint64 {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return now.HeapAlloc
}
