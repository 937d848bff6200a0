package through

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/clients"
)

// allowance lets so many requests through the rate limit. counted is how many have been counted.
func allowance(n int64) (left, counted *atomic.Int64, limit func(*Settings)) {
	left, counted = &atomic.Int64{}, &atomic.Int64{}
	left.Store(n)
	return left, counted, func(s *Settings) {
		s.Limit = func(clients.ID, time.Time) (time.Duration, bool) {
			counted.Add(1)
			return 1500 * time.Millisecond, left.Add(-1) >= 0
		}
	}
}

// TestRequestsAreCountedThatNeedTheOrigin, each once; what is stored is for nothing, and so is a refresh behind the client.
func TestRequestsAreCountedThatNeedTheOrigin(t *testing.T) {
	const lasting, short = "max-age=600", "max-age=10, stale-while-revalidate=600"
	for name, row := range map[string]struct {
		cacheControl string
		after        time.Duration // since the response was stored
		method       string
		lines        []string
		want         int64
	}{
		"hit":          {lasting, time.Second, "GET", nil, 0},
		"head":         {lasting, time.Second, "HEAD", nil, 0},
		"range":        {lasting, time.Second, "GET", []string{"Range: bytes=0-1"}, 0},
		"not modified": {lasting, time.Second, "GET", []string{`If-None-Match: "v"`}, 0},
		"refresh":      {short, time.Minute, "GET", nil, 0},
		"validation":   {"max-age=10", time.Minute, "GET", nil, 1},
		"no-cache":     {"no-cache", time.Minute, "GET", nil, 1},
		"old head":     {"max-age=10", time.Minute, "HEAD", nil, 1},
		"unsafe":       {lasting, time.Second, "DELETE", nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, counted, limit := allowance(100)
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Etag", `"v"`)
					answers(200, row.cacheControl, "stored")(w, r)
				}, limit)
				s.get("/x")
				if n := counted.Swap(0); n != 1 {
					t.Errorf("a miss counts as %d", n)
				}
				time.Sleep(row.after)
				if a := s.ask(row.method, "/x", "", row.lines...); a.status >= 400 {
					t.Errorf("%d %s", a.status, a.body)
				}
				synctest.Wait()
				if n := counted.Load(); n != row.want {
					t.Errorf("counts as %d", n)
				}
			})
		})
	}
}

// TestWaitingForAnothersRequestIsCountedOnce, also where its response turns out to be for that one alone.
func TestWaitingForAnothersRequestIsCountedOnce(t *testing.T) {
	for _, cacheControl := range []string{"max-age=600", "private"} {
		synctest.Test(t, func(t *testing.T) {
			_, counted, limit := allowance(100)
			s := newWorld(t, slow(time.Second, answers(200, cacheControl, "late")), limit)
			var all sync.WaitGroup
			for range 10 {
				all.Go(func() {
					if a := s.get("/x"); a.body != "late" {
						t.Errorf("%d %s", a.status, a.body)
					}
				})
			}
			all.Wait()
			if n := counted.Load(); n != 10 {
				t.Errorf("%s: 10 requests count as %d", cacheControl, n)
			}
		})
	}
}

// TestAClientOverItsLimit gets 429 before anything is taken for it, or what is stored where that may stand in for an error. Others are
// served by the origin as before.
func TestAClientOverItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, _, limit := allowance(2)
		free, admit := places(10)
		s := newWorld(t, answers(200, "max-age=10, stale-if-error=600", "good"), limit, admit)
		s.get("/stale")
		s.get("/strict")
		time.Sleep(time.Minute)
		for _, method := range []string{"GET", "POST", "HEAD", "PURGE"} {
			a := s.ask(method, "/new", "")
			if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "2" {
				t.Errorf("%s: %d %v", method, a.status, a.header)
			}
		}
		for _, method := range []string{"GET", "HEAD"} {
			if a := s.ask(method, "/stale", ""); a.status != http.StatusOK || !strings.Contains(a.header.Get("Cache-Status"), "sundry; hit") {
				t.Errorf("%s: %d %v", method, a.status, a.header)
			}
		}
		s.wantCalls(2)
		left.Store(100)
		s.get("/stale")
		s.wantCalls(3) // because nothing says that the origin has failed
		if free.Load() != 10 {
			t.Errorf("%d places are free", free.Load())
		}
	})
}

// TestAnOriginInTroubleCostsNoLimit: what stands in for it at once is stored, and not asked for.
func TestAnOriginInTroubleCostsNoLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, counted, limit := allowance(100)
		now := answers(200, "max-age=10, stale-if-error=600", "good")
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) { now(w, r) }, limit)
		s.get("/x")
		time.Sleep(time.Minute)
		now = answers(500, "", "bad")
		for range 10 {
			if a := s.get("/x"); a.body != "good" {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		if n := counted.Load(); n != 2 {
			t.Errorf("a miss and a validation count as %d", n)
		}
		s.wantCalls(2)
	})
}

// TestBodiesOfRefusedRequestsAreNotRead: a client that waits for 100 (Continue) is told 429 in its place.
func TestBodiesOfRefusedRequestsAreNotRead(t *testing.T) {
	_, _, limit := allowance(0)
	s := newStand(t, func(http.ResponseWriter, *http.Request) {}, limit)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.front.URL+"/x", &unread{t})
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Expect", "100-continue")
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Hour}}
	defer client.CloseIdleConnections()
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusTooManyRequests {
		t.Error(resp.Status)
	}
	s.wantCalls(0)
}

// unread is a body that must not be read.
type unread struct{ t *testing.T }

// Read implements io.Reader.
func (u *unread) Read([]byte) (int, error) {
	u.t.Error("the body is read")
	return 0, fmt.Errorf("the body is read")
}
