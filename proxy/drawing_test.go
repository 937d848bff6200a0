package proxy

import (
	"fmt"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Three hundred large QR codes at once are drawn one after the other, within
// little memory. Those for whom it takes too long are told so.
func TestManyDrawingsAtOnce(t *testing.T) {
	f := newFront(t, nil, replayed)
	f.get("/api/qrcode?text=warm&size=2000").want(t, http.StatusOK)
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak uint64
	done := make(chan struct{})
	var watching, calls sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapAlloc)
			}
		}
	})
	var drawn, refused atomic.Int64
	for i := range 300 {
		calls.Go(func() {
			a, err := f.try(t.Context(), http.MethodGet, fmt.Sprintf("/api/qrcode?text=%d&size=2000", i))
			switch {
			case err != nil:
				t.Error(err)
			case a.StatusCode == http.StatusOK:
				drawn.Add(1)
			case a.StatusCode == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
				refused.Add(1)
			default:
				t.Errorf("%d %s", a.StatusCode, a.body)
			}
		})
	}
	calls.Wait()
	close(done)
	watching.Wait()
	if drawn.Load() == 0 || drawn.Load()+refused.Load() != 300 {
		t.Errorf("%d drawn, %d refused", drawn.Load(), refused.Load())
	}
	if got := (peak - min(peak, before.HeapAlloc)) >> 20; got > 200 {
		t.Errorf("%d MiB at the peak", got)
	}
	t.Logf("%d drawn, %d refused, %d MiB at the peak", drawn.Load(), refused.Load(), (peak-min(peak, before.HeapAlloc))>>20)
}
