package through

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/web"
	"sundry/cache/web/webtest"
)

// TestWhatWasPurgedIsSharedWithNobodyWhoComesLater though it is still under way.
func TestWhatWasPurgedIsSharedWithNobodyWhoComesLater(t *testing.T) {
	for name, purge := range map[string]func(s *world){
		"by a method": func(s *world) { s.ask(http.MethodPut, "/a", "new") },
		"by its key":  func(s *world) { s.store.Purge(web.Purge{At: time.Now(), Key: "test/a"}) },
		"softly":      func(s *world) { s.store.Purge(web.Purge{At: time.Now(), Key: "test/a", Soft: true}) },
		"by a tag":    func(s *world) { s.store.Purge(web.Purge{At: time.Now(), Tag: "t"}) },
		"by a group":  func(s *world) { s.ask(http.MethodPut, "/b", "new") },
		"with all":    func(s *world) { s.store.Purge(web.Purge{At: time.Now()}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var version atomic.Int64
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPut {
						w.Header().Set("Cache-Group-Invalidation", `"g"`)
						w.WriteHeader(http.StatusNoContent)
						return
					}
					w.Header().Set("Cache-Control", "max-age=60")
					w.Header().Set("Cache-Groups", `"f", "g"`)
					fmt.Fprint(w, version.Add(1))
					_ = http.NewResponseController(w).Flush()
					time.Sleep(time.Second)
				})
				var all sync.WaitGroup
				all.Go(func() { s.get("/a") })
				time.Sleep(500 * time.Millisecond)
				purge(s)
				time.Sleep(time.Millisecond)
				for range 10 {
					all.Go(func() {
						if a := s.get("/a"); a.body != "2" {
							t.Errorf("version %s", a.body)
						}
					})
				}
				all.Wait()
				if n := version.Load(); n != 2 {
					t.Errorf("%d versions were asked for", n)
				}
			})
		})
	}
}

// TestWhoComesToALongBodyLate gets it only while it is fresh.
func TestWhoComesToALongBodyLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var version atomic.Int64
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=2")
			fmt.Fprint(w, version.Add(1))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Second)
		})
		var all sync.WaitGroup
		ask := func(want string, lines ...string) {
			all.Go(func() {
				if a := s.get("/a", lines...); a.body != want {
					t.Errorf("version %s, not %s", a.body, want)
				}
			})
			synctest.Wait()
		}
		ask("1")
		time.Sleep(time.Second)
		ask("1")
		ask("2", "Cache-Control: no-cache")
		time.Sleep(2 * time.Second)
		ask("3")
		all.Wait()
	})
}

// TestFieldsOfOneCallerStayWithIt: those that are private are kept for nobody, those that are to be validated go to nobody
// without that.
func TestFieldsOfOneCallerStayWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, slow(time.Second, func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Cache-Control", `max-age=2, stale-if-error=60, private="x-user", no-cache="x-turn"`)
			h.Set("Etag", `"a"`)
			switch {
			case r.Header.Get("X-Fail") != "":
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			case r.Header.Get("If-None-Match") != "":
				w.WriteHeader(http.StatusNotModified)
				return
			}
			h.Set("X-User", r.Header.Get("X-Who"))
			h.Set("X-Turn", "1")
			fmt.Fprint(w, "answer")
		}))
		ask := func(when, user, turn string, lines ...string) {
			a := s.get("/a", lines...)
			if a.body != "answer" || a.header.Get("X-User") != user || a.header.Get("X-Turn") != turn {
				t.Errorf("%s: %q %v", when, a.body, a.header)
			}
		}
		var all sync.WaitGroup
		all.Go(func() { ask("first", "ann", "1", "X-Who: ann") })
		synctest.Wait()
		all.Go(func() { ask("with the first", "", "", "X-Who: bob") })
		all.Wait()
		ask("fresh", "", "", "X-Who: bob")
		time.Sleep(5 * time.Second)
		ask("stale", "", "", "X-Fail: 1")
		time.Sleep(5 * time.Second)
		all.Go(func() { ask("validated", "", "1", "X-Who: bob") })
		synctest.Wait()
		all.Go(func() { ask("with the validation", "", "", "X-Who: bob") })
		all.Wait()
		s.wantCalls(3)
	})
}

// TestA304AboutSomethingElse is no answer to a caller who has asked for all of it: the origin is asked again.
func TestA304AboutSomethingElse(t *testing.T) {
	for name, vary := range map[string]string{"than is stored": "", "than the variants": "X-A"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var plain atomic.Int64
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Cache-Control", "max-age=1")
					w.Header().Set("Vary", vary)
					if r.Header.Get("If-None-Match") != "" {
						w.Header().Set("Etag", `"other"`)
						w.WriteHeader(http.StatusNotModified)
						return
					}
					n := plain.Add(1)
					w.Header().Set("Etag", fmt.Sprintf(`"%d"`, n))
					fmt.Fprint(w, n)
				})
				s.get("/a", "X-A: 1")
				time.Sleep(2 * time.Second)
				if a := s.get("/a", "X-A: 2"); a.status != 200 || a.body != "2" {
					t.Errorf("%d %q", a.status, a.body)
				}
				s.wantCalls(3)
			})
		})
	}
}

// TestTheRestOfABodyMustBeAllOfIt, or what is put together is not whole.
func TestTheRestOfABodyMustBeAllOfIt(t *testing.T) {
	for name, rest := range map[string]struct{ says, body string }{
		"it is":              {"bytes 4-9/10", "456789"},
		"another part":       {"bytes 4-6/10", "456"},
		"of another whole":   {"bytes 4-11/12", "456789ab"},
		"fewer than it says": {"bytes 4-9/10", "456"},
		"more than it says":  {"bytes 4-9/10", "456789ab"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Cache-Control", "max-age=60")
					w.Header().Set("Etag", `"a"`)
					says, body := "bytes 0-3/10", "0123"
					switch r.Header.Get("Range") {
					case "bytes=0-3":
					case "bytes=4-":
						says, body = rest.says, rest.body
					default:
						fmt.Fprint(w, "0123456789")
						return
					}
					w.Header().Set("Content-Range", says)
					w.WriteHeader(http.StatusPartialContent)
					fmt.Fprint(w, body[:1])
					_ = http.NewResponseController(w).Flush() // no length
					fmt.Fprint(w, body[1:])
				})
				s.get("/a", "Range: bytes=0-3")
				for range 3 {
					if a := s.get("/a"); a.err == nil && (a.status != 200 || a.body != "0123456789") {
						t.Errorf("%d %q", a.status, a.body)
					}
				}
			})
		})
	}
}

// TestAPartStandsInForNoHead of the whole, where the origin is away.
func TestAPartStandsInForNoHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := false
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			if away {
				drops(w, r)
			}
			w.Header().Set("Cache-Control", "max-age=60")
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("0123456789"))
		})
		s.get("/part", "Range: bytes=0-3")
		s.get("/whole")
		before := s.calls.Load()
		if a := s.get("/part", "Cache-Control: only-if-cached"); a.status != 504 || s.calls.Load() != before {
			t.Errorf("%d, though the origin was not to be asked", a.status)
		}
		away = true
		for path, want := range map[string]int{"/part": 502, "/whole": 200} {
			if a := s.ask(http.MethodHead, path, ""); a.status != want {
				t.Errorf("%s: %d %v", path, a.status, a.header)
			}
		}
	})
}

// TestAHeadSaysNothingOfWhatItDoesNotName: without a validator nobody knows that it is about what is stored.
func TestAHeadSaysNothingOfWhatItDoesNotName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, answers(200, "max-age=10", "answer"))
		s.get("/a")
		time.Sleep(8 * time.Second)
		s.ask(http.MethodHead, "/a", "", "Cache-Control: no-cache")
		time.Sleep(4 * time.Second)
		s.get("/a")
		s.wantCalls(3)
	})
}

// TestAReloadWaitsForTheOrigin, however slow: what is fresh was not asked for. Who comes to a body that is under way is told its
// age.
func TestAReloadWaitsForTheOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var version atomic.Int64
		s := newWorld(t, slow(5*time.Second, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60, stale-if-error=60")
			fmt.Fprint(w, version.Add(1))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(2 * time.Second)
		}))
		var all sync.WaitGroup
		all.Go(func() { s.get("/a") })
		time.Sleep(6 * time.Second)
		if a := s.get("/a"); a.header.Get("Age") != "6" || a.body != "1" {
			t.Errorf("%q %v", a.body, a.header)
		}
		all.Wait()
		if a := s.get("/a", "Cache-Control: no-cache"); a.body != "2" {
			t.Errorf("version %s", a.body)
		}
	})
}

// TestAValidationThatIsStaleOnArrival is for its caller alone.
func TestAValidationThatIsStaleOnArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, slow(time.Second, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=2, must-revalidate")
			w.Header().Set("Etag", `"a"`)
			w.Header().Set("Age", "100")
			if r.Header.Get("If-None-Match") != "" {
				w.WriteHeader(http.StatusNotModified)
			}
		}))
		s.get("/a")
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { s.get("/a") })
		}
		all.Wait()
		s.wantCalls(4)
	})
}

// slowFar is a far tier of which the first look takes as long as it likes.
type slowFar struct {
	webtest.Far
	looks atomic.Int64
	hold  chan struct{}
}

// Look implements web.Far.
func (f *slowFar) Look(context.Context, string, time.Duration) entry.Found {
	if f.looks.Add(1) == 1 {
		<-f.hold
	}
	return entry.Found{Answered: true}
}

// TestWhatWasStoredMeanwhileIsNotAskedForAgain by a caller who looked before.
func TestWhatWasStoredMeanwhileIsNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, answers(200, "max-age=60", "answer"))
		far := &slowFar{Far: webtest.Far{}, hold: make(chan struct{})}
		s.store.Far = far
		var all sync.WaitGroup
		all.Go(func() {
			if a := s.get("/a"); a.body != "answer" || !strings.Contains(a.header.Get("Cache-Status"), "hit") {
				t.Errorf("%q %v", a.body, a.header)
			}
		})
		synctest.Wait()
		s.get("/a")
		synctest.Wait() // it is stored
		close(far.hold)
		all.Wait()
		s.wantCalls(1)
	})
}

// TestWhoNeedsNoBodyDoesNotEndIt: what is answered with 304, or with a range, is kept all the same.
func TestWhoNeedsNoBodyDoesNotEndIt(t *testing.T) {
	for _, line := range []string{`If-None-Match: "a"`, "Range: bytes=0-1", "Range: bytes=90-"} {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Cache-Control", "max-age=60")
					w.Header().Set("Etag", `"a"`)
					w.Header().Set("Content-Length", "10")
					fmt.Fprint(w, "01234")
					_ = http.NewResponseController(w).Flush()
					time.Sleep(time.Second)
					fmt.Fprint(w, "56789")
				})
				s.get("/a", line)
				time.Sleep(2 * time.Second)
				if a := s.get("/a"); a.body != "0123456789" {
					t.Errorf("%q", a.body)
				}
				s.wantCalls(1)
			})
		})
	}
}

// TestWhatIsOutdatedDoesNotComeBack from what instances share, once an answer says so, also where another variant is newer.
func TestWhatIsOutdatedDoesNotComeBack(t *testing.T) {
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var version atomic.Int64
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					h := w.Header()
					h.Set("Vary", "X-A")
					h.Set("Etag", fmt.Sprintf(`"%d"`, version.Load()))
					h.Set("Cache-Control", "max-age=60")
					if r.Header.Get("If-None-Match") != "" {
						h.Set("Cache-Control", "no-store")
						w.WriteHeader(http.StatusNotModified)
						return
					}
					fmt.Fprint(w, version.Load())
				})
				s.store.Far = webtest.Far{}
				s.get("/a", "X-A: 1")
				time.Sleep(time.Second)
				if method == http.MethodHead {
					version.Add(1)
					s.get("/a", "X-A: 2")
				}
				s.ask(method, "/a", "", "X-A: 1", "Cache-Control: no-cache")
				version.Store(1)
				time.Sleep(time.Second)
				if a := s.get("/a", "X-A: 1"); a.body != "1" {
					t.Errorf("%q %v", a.body, a.header)
				}
			})
		})
	}
}

// TestAPartThatGoesOnNowhere is no beginning to complete: who asks for all gets it.
func TestAPartThatGoesOnNowhere(t *testing.T) {
	for name, of := range map[string]string{"it is all": "0123456789", "all is shorter now": "01"} {
		for _, tag := range []string{"", `"1"`} {
			synctest.Test(t, func(t *testing.T) {
				body := "0123456789"
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Cache-Control", "max-age=60")
					w.Header().Set("Etag", tag)
					delete(r.Header, "If-Range") // not all know it
					http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
				})
				for _, wanted := range []string{"bytes=0-4", "bytes=0-"} {
					s.get("/"+wanted, "Range: "+wanted)
				}
				body = of
				for _, path := range []string{"/bytes=0-4", "/bytes=0-"} {
					if a := s.get(path); a.status != http.StatusOK || a.body != of {
						t.Errorf("%s, tag %s, %s: %d %q", name, tag, path, a.status, a.body)
					}
				}
			})
		}
	}
}

// TestNoSuchRange is an answer to who has asked for it alone, however long it says that it is fresh.
func TestNoSuchRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			if r.Header.Get("Range") != "" {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			}
			fmt.Fprint(w, r.Header.Get("Range"))
		})
		s.get("/a", "Range: bytes=100-")
		if a := s.get("/a"); a.status != http.StatusOK {
			t.Errorf("%d %v", a.status, a.header)
		}
	})
}

// TestAGroupIsPurgedBeforeAnybodyKnowsIt: a response with a header that arrives after the purge of its group is not shared with clients that
// came in between. They share the next response.
func TestAGroupIsPurgedBeforeAnybodyKnowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var version atomic.Int64
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				w.Header().Set("Cache-Group-Invalidation", `"g"`)
				return
			}
			n := version.Add(1)
			time.Sleep(time.Second)
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Cache-Groups", `"g"`)
			fmt.Fprint(w, n)
		})
		var all sync.WaitGroup
		ask := func(n int, want string) {
			for range n {
				all.Go(func() {
					if a := s.get("/a"); a.body != want {
						t.Errorf("version %s, not %s", a.body, want)
					}
				})
			}
			time.Sleep(400 * time.Millisecond)
		}
		ask(10, "1")
		s.ask(http.MethodPost, "/b", "new")
		time.Sleep(time.Millisecond)
		ask(10, "2")
		all.Wait()
		s.wantCalls(3)
		if a := s.get("/a"); a.body != "2" {
			t.Errorf("version %s is stored", a.body)
		}
	})
}

// TestGroupsOfResponses: which methods and statuses invalidate groups. Clients get both fields.
func TestGroupsOfResponses(t *testing.T) {
	for name, row := range map[string]struct {
		method, path, invalidation string
		status                     int
		gone                       bool
	}{
		"POST":                 {http.MethodPost, "/b", `"x"`, http.StatusOK, true},
		"DELETE":               {http.MethodDelete, "/b", `"none", "x";a`, http.StatusNoContent, true},
		"a redirection":        {http.MethodPost, "/b", `"x"`, http.StatusSeeOther, true},
		"an unknown method":    {"TURN", "/b", `"x"`, http.StatusOK, true},
		"an error":             {http.MethodPost, "/b", `"x"`, http.StatusConflict, false},
		"GET":                  {http.MethodGet, "/b", `"x"`, http.StatusOK, false},
		"HEAD":                 {http.MethodHead, "/b", `"x"`, http.StatusOK, false},
		"OPTIONS":              {http.MethodOptions, "/b", `"x"`, http.StatusOK, false},
		"another group":        {http.MethodPost, "/b", `"X"`, http.StatusOK, false},
		"no list of strings":   {http.MethodPost, "/b", `x`, http.StatusOK, false},
		"what shares a group":  {http.MethodPut, "/c", ``, http.StatusOK, false}, // RFC 9875, section 2.2.1: may, and is not
		"what names its group": {http.MethodPut, "/c", `"x"`, http.StatusOK, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/b" && r.Method == http.MethodGet {
						w.Header().Set("Cache-Control", "max-age=60")
						w.Header().Set("Cache-Groups", `"w", "x"`)
						return
					}
					w.Header().Set("Cache-Group-Invalidation", row.invalidation)
					w.WriteHeader(row.status)
				})
				for _, path := range []string{"/a", "/c"} {
					s.get(path)
				}
				time.Sleep(time.Second)
				if a := s.ask(row.method, row.path, ""); a.header.Get("Cache-Group-Invalidation") != row.invalidation {
					t.Errorf("the client gets %v", a.header)
				}
				time.Sleep(time.Second)
				a := s.get("/a")
				if hit := strings.Contains(a.header.Get("Cache-Status"), "hit"); hit == row.gone || a.header.Get("Cache-Groups") != `"w", "x"` {
					t.Errorf("hit: %v; %v", hit, a.header)
				}
			})
		})
	}
}

// TestAPurgeOfItsOwnGroup does not keep the response to a POST from being stored.
func TestAPurgeOfItsOwnGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Cache-Groups", `"x"`)
			w.Header().Set("Cache-Group-Invalidation", `"x"`)
			w.Header().Set("Content-Location", r.URL.Path)
			fmt.Fprint(w, r.Method)
		})
		s.get("/a")
		time.Sleep(time.Second)
		s.ask(http.MethodPost, "/a", "new")
		time.Sleep(time.Second)
		if a := s.get("/a"); a.body != http.MethodPost {
			t.Errorf("%q is stored", a.body)
		}
		s.wantCalls(2)
	})
}
