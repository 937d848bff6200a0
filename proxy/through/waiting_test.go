package through

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/clients"
)

// places lets some requests wait.
func places(n int64) (free *atomic.Int64, admit func(*Settings)) {
	free = &atomic.Int64{}
	free.Store(n)
	return free, func(s *Settings) {
		s.Admit = func(clients.ID, time.Time) bool {
			if free.Add(-1) >= 0 {
				return true
			}
			free.Add(1)
			return false
		}
		s.Leave = func(clients.ID) { free.Add(1) }
	}
}

// TestAnOriginThatHangs holds up so many requests as may wait, be it for one answer or each for its own, and the others get
// 503 at once, or what is stored; hits go on.
func TestAnOriginThatHangs(t *testing.T) {
	for name, paths := range map[string]int{"all ask for the same": 1, "each asks for something else": 100} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				free, admit := places(10)
				now := answers(200, "max-age=10, stale-if-error=600", "good")
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) { now(w, r) }, admit)
				s.get("/stale")
				time.Sleep(time.Minute)
				s.get("/stored")
				now = slow(5*time.Second, answers(200, "max-age=10", "late"))
				var all sync.WaitGroup
				var late, refused atomic.Int64
				for i := range 100 {
					all.Go(func() {
						method := [...]string{http.MethodGet, http.MethodGet, http.MethodHead, http.MethodPost}[i%4]
						switch a := s.ask(method, fmt.Sprint("/", i%paths), ""); {
						case a.status == 200 && a.took == 5*time.Second:
							late.Add(1)
						case a.status == 503 && a.took == 0 && a.header.Get("Retry-After") != "":
							refused.Add(1)
						default:
							t.Errorf("%s: %d %q after %s", method, a.status, a.body, a.took)
						}
					})
				}
				synctest.Wait()
				for path, want := range map[string]string{"/stored": "good", "/stale": "good"} {
					if a := s.get(path); a.body != want || a.took > 0 {
						t.Errorf("%s: %d %q after %s", path, a.status, a.body, a.took)
					}
				}
				all.Wait()
				synctest.Wait()
				if late.Load() != 10 || refused.Load() != 90 || free.Load() != 10 {
					t.Errorf("%d have waited, %d were refused, %d places are free", late.Load(), refused.Load(), free.Load())
				}
			})
		})
	}
}

// TestABodyThatArrivesTakesNoPlace of those who wait, nor does a caller who has left.
func TestABodyThatArrivesTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free, admit := places(1)
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hangs" {
				<-r.Context().Done()
				return
			}
			w.Header().Set("Cache-Control", "no-store")
			for range 3 {
				fmt.Fprint(w, "part")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Second)
			}
		}, admit)
		var all sync.WaitGroup
		for range 3 {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				all.Go(func() {
					if a := s.ask(method, "/", ""); a.status != 200 || a.took != 3*time.Second {
						t.Errorf("%d after %s", a.status, a.took)
					}
				})
				synctest.Wait()
			}
		}
		all.Wait()
		c, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "GET /hangs HTTP/1.1\r\nHost: x\r\n\r\n")
		synctest.Wait()
		if n := free.Load(); n != 0 {
			t.Errorf("%d places are free while it hangs", n)
		}
		_ = c.Close()
		synctest.Wait()
		if n := free.Load(); n != 1 {
			t.Errorf("%d places are free", n)
		}
	})
}
