package through

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/clients"
)

// TestTheOriginsTimeIsToldApart: what an origin takes, and what a client takes to get a body, is not this service's time.
func TestTheOriginsTimeIsToldApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(2 * time.Second)
			w.Header().Set("Cache-Control", "max-age=60")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(3 * time.Second) // a body that is slow
			_, _ = io.WriteString(w, "ok")
		}, func(s *Settings) {
			s.Admit, s.Leave = func(clients.ID, time.Time) bool { time.Sleep(time.Second); return true }, func(clients.ID) {}
		})
		results := make(chan Result, 1)
		began := time.Now()
		get := func() Result {
			began = time.Now()
			w := &heads{header: http.Header{}}
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://api.test/a", nil)
			s.h.Serve(w, r, "", func(res *Result) { results <- *res })
			return <-results
		}
		if res := get(); res.Waited != 2*time.Second || res.Head.Sub(began) != 3*time.Second {
			t.Errorf("a miss: head after %s, of which the origin was waited for %s", res.Head.Sub(began), res.Waited)
		}
		synctest.Wait()
		if res := get(); res.Waited != 0 || res.Head.Sub(began) != 0 || res.Code != http.StatusOK {
			t.Errorf("a hit: head after %s, of which the origin was waited for %s; %d", res.Head.Sub(began), res.Waited, res.Code)
		}
	})
}

// heads is a writer that takes everything at once.
type heads struct{ header http.Header }

func (w *heads) Header() http.Header         { return w.header }
func (w *heads) WriteHeader(int)             {}
func (w *heads) Write(b []byte) (int, error) { return len(b), nil }
