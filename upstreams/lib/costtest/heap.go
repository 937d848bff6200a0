package costtest

import (
	"runtime"
	"sync"
	"time"
)

// PeakHeap runs f and returns the largest growth of the heap while it ran, in bytes.
func PeakHeap(f func()) uint64 {
	runtime.GC()
	before, peak := allocated(), uint64(0)
	done := make(chan struct{})
	var sampling sync.WaitGroup
	sampling.Go(func() {
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
	sampling.Wait()
	return peak - min(peak, before)
}

func allocated() uint64 {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return now.HeapAlloc
}
