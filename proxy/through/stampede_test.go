package through

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// trouble is what an origin does from some time on.
type trouble = http.HandlerFunc

// slow answers after a while.
func slow(after time.Duration, next trouble) trouble {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(after):
			next(w, r)
		case <-r.Context().Done():
		}
	}
}

// answers is a whole answer.
func answers(status int, control, body string) trouble {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", control)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// drops ends the connection without an answer.
func drops(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// stampede is one case of what goes wrong with caching proxies when many ask at once, or the origin fails.
type stampede struct {
	stored  string        // Cache-Control of an answer that was given before; "": there was none
	rest    time.Duration // since then
	origin  trouble
	callers int           // at once
	inRow   bool          // one after the other instead
	most    time.Duration // that anybody waits
	calls   int64         // of the origin, from then on, at most
	status  int
	body    string
}

// TestStampedes are the cases that go wrong with other proxies. Nobody waits for a slow refresh that need not, a failure never
// takes the place of a good answer, and the origin is asked once.
func TestStampedes(t *testing.T) {
	const half = 500 * time.Millisecond
	better := answers(200, "max-age=1", "new")
	for name, row := range map[string]stampede{
		"nothing stored":                    {origin: slow(half, better), callers: 100, most: half, calls: 1, status: 200, body: "new"},
		"at once":                           {origin: better, callers: 100, calls: 1, status: 200, body: "new"},
		"expired":                           {stored: "max-age=1", rest: 2 * time.Second, origin: slow(half, better), callers: 100, most: half, calls: 1, status: 200, body: "new"},
		"stale while it is refreshed":       {stored: "max-age=1, stale-while-revalidate=60", rest: 2 * time.Second, origin: slow(half, better), callers: 100, calls: 1, status: 200, body: "good"},
		"the refresh fails":                 {stored: "max-age=1, stale-while-revalidate=60", rest: 2 * time.Second, origin: answers(503, "max-age=60", "bad"), callers: 100, calls: 1, status: 200, body: "good"},
		"stale, and the connection drops":   {stored: "max-age=1, stale-if-error=60", rest: 2 * time.Second, origin: drops, callers: 20, calls: 2, status: 200, body: "good"},
		"stale, and it answers 503":         {stored: "max-age=1, stale-if-error=60", rest: 2 * time.Second, origin: answers(503, "", "bad"), callers: 20, calls: 1, status: 200, body: "good"},
		"stale, and it is slow":             {stored: "max-age=1, stale-if-error=60", rest: 2 * time.Second, origin: slow(8*time.Second, better), callers: 20, most: 3 * time.Second, calls: 1, status: 200, body: "good"},
		"stale, 503 in a row":               {stored: "max-age=1, stale-if-error=60", rest: 2 * time.Second, origin: answers(503, "max-age=60", "bad"), callers: 20, inRow: true, calls: 20, status: 200, body: "good"},
		"nothing stored, and 503 at once":   {origin: slow(half, answers(503, "max-age=1", "bad")), callers: 20, most: half, calls: 1, status: 503, body: "bad"},
		"nothing stored, and drops at once": {origin: slow(half, drops), callers: 20, most: half, calls: 1, status: 502, body: "test: the origin gave no answer\n"},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, row.run) })
	}
}

func (row stampede) run(t *testing.T) {
	now := answers(200, row.stored, "good")
	s := newWorld(t, func(w http.ResponseWriter, r *http.Request) { now(w, r) })
	if row.stored != "" {
		s.get("/a")
		time.Sleep(row.rest)
	}
	before := s.calls.Load()
	now = row.origin
	var all sync.WaitGroup
	for range row.callers {
		one := func() {
			if a := s.get("/a"); a.err != nil || a.status != row.status || a.body != row.body || a.took > row.most {
				t.Errorf("%d %q after %s: %v", a.status, a.body, a.took, a.err)
			}
		}
		if row.inRow {
			one()
		} else {
			all.Go(one)
		}
	}
	all.Wait()
	synctest.Wait()
	if n := s.calls.Load() - before; n > row.calls || n == 0 {
		t.Errorf("%d calls, not %d", n, row.calls)
	}
	if row.stored == "" {
		return
	}
	if a := s.get("/a", "Cache-Control: only-if-cached, max-stale"); a.status != 200 || a.body != "good" && a.body != "new" {
		t.Errorf("%d %q has taken its place", a.status, a.body)
	}
}

// TestTheFirstCallerLeaves while twenty wait for the same: nobody notices.
func TestTheFirstCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, slow(500*time.Millisecond, answers(200, "max-age=60", "answer")))
		first, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(first, "GET /a HTTP/1.1\r\nHost: api.test\r\n\r\n")
		synctest.Wait()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if a := s.get("/a"); a.body != "answer" || a.err != nil || a.took != 500*time.Millisecond {
					t.Errorf("%q after %s: %v", a.body, a.took, a.err)
				}
			})
		}
		time.Sleep(250 * time.Millisecond)
		_ = first.Close()
		all.Wait()
		s.wantCalls(1)
	})
}

// TestASlowFirstCaller reads nothing, though the answer is larger than what is in between.
func TestASlowFirstCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := strings.Repeat("0123456789abcdef", 1<<16)
		s := newWorld(t, answers(200, "max-age=60", body))
		first, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer first.Close()
		fmt.Fprint(first, "GET /a HTTP/1.1\r\nHost: api.test\r\n\r\n")
		synctest.Wait()
		for range 20 {
			if a := s.get("/a"); a.body != body || a.err != nil || a.took > 0 {
				t.Errorf("%d bytes after %s: %v", len(a.body), a.took, a.err)
			}
		}
		s.wantCalls(1)
		resp, err := http.ReadResponse(bufio.NewReader(first), nil)
		if err != nil || resp.ContentLength > 0 && resp.ContentLength != int64(len(body)) {
			t.Error(resp, err)
		}
	})
}

// TestTheFirstByteReachesAll as soon as it comes, of whoever is there and whoever comes later. Where the body is short by its
// head, the first caller waits for a moment whether all of it comes.
func TestTheFirstByteReachesAll(t *testing.T) {
	for _, length := range []string{"", "50"} {
		t.Run("length "+length, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Cache-Control", "max-age=60")
					if length != "" {
						w.Header().Set("Content-Length", length)
					}
					for i := range 10 {
						if i > 0 {
							time.Sleep(100 * time.Millisecond)
						}
						fmt.Fprint(w, "part ")
						_ = http.NewResponseController(w).Flush()
					}
				})
				var all sync.WaitGroup
				var later atomic.Int64
				for i := range 100 {
					all.Go(func() {
						late := time.Duration(i) * 10 * time.Millisecond
						time.Sleep(late)
						a := s.get("/a")
						if a.err != nil || a.first > 5*time.Millisecond || len(a.body) != 50 || a.took > max(900*time.Millisecond-late, 0) {
							t.Errorf("%q, the first byte after %s, the last after %s: %v", a.body, a.first, a.took, a.err)
						}
						if a.first > 0 {
							later.Add(1)
						}
					})
				}
				all.Wait()
				s.wantCalls(1)
				if n := later.Load(); n > 0 && length == "" || n > 1 {
					t.Errorf("%d callers waited for the first byte", n)
				}
			})
		})
	}
}

// TestAHintThatComesTooLate goes to nobody: the first caller has been answered with what is stored.
func TestAHintThatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := answers(200, "max-age=1, stale-if-error=60", "good")
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) { now(w, r) })
		s.get("/a")
		time.Sleep(2 * time.Second)
		now = slow(patience+time.Second, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			answers(200, "max-age=60", "new")(w, r)
		})
		for _, want := range []string{"good", "new"} {
			if a := s.get("/a"); a.status != 200 || a.body != want || a.err != nil {
				t.Errorf("%d %q: %v", a.status, a.body, a.err)
			}
			time.Sleep(2 * time.Second)
		}
	})
}

// TestTheOriginDiesInTheMiddle: all learn it, and nothing is kept, nor does it take the place of what is stored.
func TestTheOriginDiesInTheMiddle(t *testing.T) {
	for _, length := range []string{"", "100"} {
		t.Run("length "+length, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dies := false
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Cache-Control", "max-age=1, stale-if-error=60")
					if !dies {
						fmt.Fprint(w, "whole")
						return
					}
					if length != "" {
						w.Header().Set("Content-Length", length)
					}
					fmt.Fprint(w, "a part")
					_ = http.NewResponseController(w).Flush()
					time.Sleep(100 * time.Millisecond)
					panic(http.ErrAbortHandler)
				})
				s.get("/stored")
				time.Sleep(2 * time.Second)
				dies = true
				for _, path := range []string{"/stored", "/new"} {
					var all sync.WaitGroup
					for range 20 {
						all.Go(func() {
							if a := s.get(path); a.err == nil {
								t.Errorf("%s: %d %q counts as whole", path, a.status, a.body)
							}
						})
					}
					all.Wait()
				}
				s.wantCalls(3)
				if a := s.get("/stored", "Cache-Control: only-if-cached, max-stale"); a.body != "whole" {
					t.Errorf("%d %q has taken its place", a.status, a.body)
				}
				if a := s.get("/new", "Cache-Control: only-if-cached, max-stale"); a.status != 504 {
					t.Errorf("%d %q is kept", a.status, a.body)
				}
			})
		})
	}
}

// TestWhoWaitedForWhatIsNotShared goes on at once, all at the same time.
func TestWhoWaitedForWhatIsNotShared(t *testing.T) {
	for _, control := range []string{"private", "no-store", "max-age=0", "max-age=60, no-cache", ""} {
		t.Run(control, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, slow(100*time.Millisecond, func(w http.ResponseWriter, r *http.Request) {
					if control != "" {
						w.Header().Set("Cache-Control", control)
					}
					fmt.Fprint(w, r.Header.Get("X-Who"))
				}))
				ask := func(most time.Duration) {
					var all sync.WaitGroup
					for i := range 50 {
						all.Go(func() {
							if a := s.get("/a", fmt.Sprint("X-Who: ", i)); a.body != fmt.Sprint(i) || a.took > most {
								t.Errorf("caller %d got %q after %s", i, a.body, a.took)
							}
						})
					}
					all.Wait()
				}
				ask(200 * time.Millisecond)
				ask(100 * time.Millisecond) // it is known by now
				s.wantCalls(100)
			})
		})
	}
}
