package through

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
)

// TestWhoHasAnAnswerFindsItStored: a caller asks again as soon as it has read the last byte.
func TestWhoHasAnAnswerFindsItStored(t *testing.T) {
	for name, length := range map[string]bool{"with a length": true, "chunked": false} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "max-age=60")
				if length {
					w.Header().Set("Content-Length", "6")
				}
				fmt.Fprint(w, "answer")
				_ = http.NewResponseController(w).Flush()
			})
			const callers, each = 8, 200
			var all sync.WaitGroup
			for i := range callers {
				all.Go(func() {
					for j := range each {
						path := fmt.Sprint("/", i, "/", j)
						s.get(path)
						s.get(path, "Range: bytes=1-2") // would be another request to the origin
					}
				})
			}
			all.Wait()
			s.wantCalls(callers * each)
		})
	}
}
