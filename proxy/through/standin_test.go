package through

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/web"
)

// hangs answers the first request after a minute late, and all others at once. A late error has the status 503.
func hangs(began time.Time, takes time.Duration, late int) http.HandlerFunc {
	var calls int
	return func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 2 {
			time.Sleep(takes)
			w.WriteHeader(late)
			fmt.Fprint(w, "late")
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=10, stale-if-error=600")
		fmt.Fprint(w, "answer after ", time.Since(began))
	}
}

// TestStandInIsTheNewestStored: a client that waits in vain for the origin does not get an older response than the one that is
// stored by then, nor one that has been purged.
func TestStandInIsTheNewestStored(t *testing.T) {
	const credentials = "Authorization: Basic eDp5" // are not coalesced
	for name, row := range map[string]struct {
		clients   int
		takes     time.Duration
		late      int
		meanwhile func(s *world)
		body      string
		took      time.Duration
	}{
		"slow origin, and nothing new": {2, 5 * time.Second, 200, func(*world) {}, "answer after 0s", patience},
		"slow origin, and a newer one": {2, 5 * time.Second, 200, func(s *world) { s.get("/a", credentials) }, "answer after 1m1s", patience},
		"an error, and a newer one":    {2, 2 * time.Second, 503, func(s *world) { s.get("/a", credentials) }, "answer after 1m1s", 2 * time.Second},
		"slow origin, and a purge":     {1, 5 * time.Second, 200, func(s *world) { s.store.Purge(web.Purge{At: time.Now(), Key: "test/a"}) }, "late", 5 * time.Second},
		"an error, and a purge of all": {1, 2 * time.Second, 503, func(s *world) { s.store.Purge(web.Purge{At: time.Now()}) }, "late", 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, hangs(time.Now(), row.takes, row.late))
				s.get("/a")
				time.Sleep(time.Minute)
				var all sync.WaitGroup
				for range row.clients { // the first one leads the flight
					all.Go(func() {
						if a := s.get("/a"); a.body != row.body || a.took != row.took {
							t.Errorf("%d %q after %s", a.status, a.body, a.took)
						}
					})
					synctest.Wait()
				}
				time.Sleep(time.Second)
				row.meanwhile(s)
				all.Wait()
				time.Sleep(row.takes) // until the late response has come
			})
		})
	}
}
