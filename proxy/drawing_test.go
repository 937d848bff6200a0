package proxy

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"sundry/upstreams/lib/costtest"
)

// Three hundred large QR codes at once are drawn one after the other in little
// memory; requests that would wait too long are refused.
func TestManyDrawingsAtOnce(t *testing.T) {
	f := newFront(t, nil, replaying("qrcode"))
	f.get("/api/qrcode?text=warm&size=2000").want(t, http.StatusOK)
	var calls sync.WaitGroup
	var drawn, refused atomic.Int64
	peak := costtest.PeakHeap(func() {
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
	})
	if drawn.Load() == 0 || drawn.Load()+refused.Load() != 300 {
		t.Errorf("%d drawn, %d refused", drawn.Load(), refused.Load())
	}
	if peak>>20 > 200 {
		t.Errorf("%d MiB at the peak", peak>>20)
	}
	t.Logf("%d drawn, %d refused, %d MiB at the peak", drawn.Load(), refused.Load(), peak>>20)
}
