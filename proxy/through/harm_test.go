package through

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// digits is what the origins of these tests have.
const digits = "0123456789"

// ranging answers with digits, or with a range of them, whatever a condition says.
func ranging(header http.Header) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		maps.Copy(w.Header(), header)
		delete(r.Header, "If-Range")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(digits))
	}
}

// TestAPartCostsOthersNothing: whatever range one client requests, the next one that requests all causes one request, and gets all of it,
// which is then stored.
func TestAPartCostsOthersNothing(t *testing.T) {
	modified := time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat)
	for name, header := range map[string]http.Header{
		"nothing":         nil,
		"a weak tag":      {"Etag": {`W/"a"`}},
		"a date":          {"Last-Modified": {modified}},
		"a strong tag":    {"Etag": {`"a"`}},
		"an empty tag":    {"Etag": {""}},
		"a tag unquoted":  {"Etag": {"a"}},
		"both, but weak":  {"Etag": {`W/"a"`}, "Last-Modified": {modified}},
		"ranges are told": {"Accept-Ranges": {"bytes"}},
	} {
		for _, wanted := range []string{"bytes=0-0", "bytes=0-8", "bytes=0-", "bytes=9-", "bytes=-1", "bytes=-100", "bytes=3-4", "bytes=0-0,1-1", "bytes=100-", "bytes=1-0", "lines=0-0"} {
			t.Run(name+" "+wanted, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newWorld(t, ranging(header))
					s.get("/a", "Range: "+wanted)
					before := s.calls.Load()
					for range 2 {
						if a := s.get("/a"); a.status != http.StatusOK || a.body != digits || a.err != nil {
							t.Errorf("%d %q: %v", a.status, a.body, a.err)
						}
					}
					if n := s.calls.Load() - before; n > 1 {
						t.Errorf("%d requests to the origin for the next GET", n)
					}
				})
			})
		}
	}
}

// TestAPartIsNotDoubtedTwice: where the origin does not go on from the beginning that is stored, nobody asks it for that again, be it
// that what it gives instead is not stored.
func TestAPartIsNotDoubtedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tag, control := `"1"`, "max-age=60"
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			ranging(http.Header{"Etag": {tag}, "Cache-Control": {control}})(w, r)
		})
		s.get("/a", "Range: bytes=0-4")
		tag, control = `"2"`, "no-store"
		s.get("/a")
		before := s.calls.Load()
		s.get("/a")
		if n := s.calls.Load() - before; n != 1 {
			t.Errorf("%d requests to the origin", n)
		}
	})
}

// TestAPartTakesNothingAway from others: neither another part, nor a complete response that was requested before it, or arrives after it.
func TestAPartTakesNothingAway(t *testing.T) {
	t.Run("another part", func(t *testing.T) { synctest.Test(t, partsStay) })
	for name, header := range map[string]http.Header{"with tags": {"Etag": {`"a"`}}, "without": nil} {
		for _, slowly := range []string{"the part", "the whole"} {
			t.Run(slowly+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
						if (r.Header.Get("Range") != "") == (slowly == "the part") {
							time.Sleep(5 * time.Second)
						}
						time.Sleep(time.Second)
						ranging(header)(w, r)
					})
					var all sync.WaitGroup
					all.Go(func() { s.get("/a") })
					time.Sleep(time.Millisecond)
					all.Go(func() { s.get("/a", "Range: bytes=0-0") })
					all.Wait()
					s.get("/a")
					s.wantCalls(2)
				})
			})
		}
	}
}

func partsStay(t *testing.T) {
	s := newWorld(t, ranging(nil))
	for _, wanted := range []string{"bytes=0-4", "bytes=7-7", "bytes=9-9"} {
		s.get("/parts", "Range: "+wanted)
	}
	if a := s.get("/parts", "Range: bytes=1-2"); a.body != "12" {
		t.Errorf("%q", a.body)
	}
	s.wantCalls(3)
}

// TestAHeadTakesNothingAway if it is about what its client alone gets, or has a body by which the origin may answer otherwise.
func TestAHeadTakesNothingAway(t *testing.T) {
	for _, line := range append(identifying(), "X-None: %s") {
		t.Run(line[:6], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Cache-Control", "max-age=60")
					w.Header().Set("Etag", `"all"`)
					for _, field := range identifying() {
						name, _, _ := strings.Cut(field, ":")
						if r.Header.Get(name) != "" || r.ContentLength > 0 {
							w.Header().Set("Cache-Control", "private")
							w.Header().Set("Etag", `"one"`)
						}
					}
					fmt.Fprint(w, "answer")
				})
				s.get("/a")
				body := ""
				if strings.HasPrefix(line, "X-None") {
					body = "x"
				}
				s.ask(http.MethodHead, "/a", body, fmt.Sprintf(line, "ann"), "Cache-Control: no-cache")
				s.get("/a")
				s.wantCalls(2)
			})
		})
	}
}

// TestWhatOneClientGetsSaysNothingOfOthers: a stale response is still served to them while it is revalidated.
func TestWhatOneClientGetsSaysNothingOfOthers(t *testing.T) {
	for _, line := range identifying() {
		t.Run(line[:6], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var version atomic.Int64
				s := newWorld(t, slow(time.Second, func(w http.ResponseWriter, r *http.Request) {
					name, _, _ := strings.Cut(line, ":")
					if w.Header().Set("Cache-Control", "max-age=1, stale-while-revalidate=60"); r.Header.Get(name) != "" {
						w.Header().Set("Cache-Control", "private")
					}
					fmt.Fprint(w, version.Add(1))
				}))
				s.get("/a")
				time.Sleep(3 * time.Second)
				if a := s.get("/a", fmt.Sprintf(line, "ann"), "Cache-Control: no-cache"); a.body != "2" {
					t.Errorf("%q", a.body)
				}
				if a := s.get("/a"); a.body != "1" || a.took > 0 {
					t.Errorf("%q after %s", a.body, a.took)
				}
			})
		})
	}
}

// TestARefreshForOneClient keeps others waiting for no newer response: it may take as long as it likes, and bring what is stored for nobody.
func TestARefreshForOneClient(t *testing.T) {
	for _, line := range identifying() {
		t.Run(line[:6], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var version atomic.Int64
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					name, _, _ := strings.Cut(line, ":")
					if w.Header().Set("Cache-Control", "max-age=1, stale-while-revalidate=60"); r.Header.Get(name) != "" {
						w.Header().Set("Cache-Control", "private")
						time.Sleep(20 * time.Second)
					}
					fmt.Fprint(w, version.Add(1))
				})
				s.get("/a")
				time.Sleep(3 * time.Second)
				s.get("/a", fmt.Sprintf(line, "ann"))
				s.get("/a")
				synctest.Wait()
				if a := s.get("/a"); a.body != "2" {
					t.Errorf("%q", a.body)
				}
				time.Sleep(time.Minute) // until the other refresh has ended
			})
		})
	}
}

// TestStatusesOfOneRequest say that this request alone is refused, however long they say that they are fresh (RFC 6585; RFC 9110,
// sections 15.5.13 and 15.5.14).
func TestStatusesOfOneRequest(t *testing.T) {
	for _, status := range []int{412, 413, 417, 425, 428, 429, 431, 511} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "max-age=60")
				if r.Header.Get("X-Large") != "" {
					w.WriteHeader(status)
				}
			})
			s.get("/a", "X-Large: x")
			if a := s.get("/a"); a.status != http.StatusOK {
				t.Errorf("%d is given to another client", a.status)
			}
			s.get("/a", "X-Large: x", "Cache-Control: no-cache")
			if a := s.get("/a"); a.status != http.StatusOK {
				t.Errorf("%d has taken the place of what was stored", a.status)
			}
			s.wantCalls(3)
		})
	}
}

// TestAValidationForOneClientTakesNothingAway: neither a 304 that is private, nor one with another tag, nor a rest of another version.
func TestAValidationForOneClientTakesNothingAway(t *testing.T) {
	answers := map[string]func(http.ResponseWriter){
		"private": func(w http.ResponseWriter) {
			w.Header().Set("Cache-Control", "private")
			w.WriteHeader(http.StatusNotModified)
		},
		"another tag": func(w http.ResponseWriter) { w.Header().Set("Etag", `"one"`); w.WriteHeader(http.StatusNotModified) },
		"a rest": func(w http.ResponseWriter) {
			w.Header()["Etag"], w.Header()["Content-Range"] = []string{`"one"`}, []string{"bytes 5-9/10"}
			w.WriteHeader(http.StatusPartialContent)
			fmt.Fprint(w, "56789")
		},
	}
	for what, say := range answers {
		for _, line := range append(identifying(), "Accept_Language: %s") {
			t.Run(what+" "+line[:6], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
						name, _, _ := strings.Cut(line, ":")
						w.Header().Set("Vary", "Accept-Language")
						w.Header().Set("Cache-Control", "max-age=60")
						w.Header().Set("Etag", `"all"`)
						conditional := r.Header.Get("If-None-Match") != "" || r.Header.Get("If-Range") != ""
						if conditional && r.Header[http.CanonicalHeaderKey(name)] != nil {
							say(w)
							return
						}
						http.ServeContent(w, r, "", time.Time{}, strings.NewReader("0123456789"))
					})
					first, personal := []string{}, []string{fmt.Sprintf(line, "ann"), "Cache-Control: no-cache"}
					if what == "a rest" {
						first, personal = []string{"Range: bytes=0-4"}, personal[:1]
					}
					s.get("/a", first...)
					if a := s.get("/a", personal...); a.body != "0123456789" {
						t.Errorf("the client gets %d %q", a.status, a.body)
					}
					before := s.calls.Load()
					s.get("/a", first...)
					s.wantCalls(before)
				})
			})
		}
	}
}

// TestAFieldThatMayBeAnotherPartsNobody: requests for the same go together after one whose response is stored for nobody, because it
// has a field that an origin may take for one of Vary.
func TestAFieldThatMayBeAnotherPartsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, slow(time.Second, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Vary", "Accept-Language")
			w.Header().Set("Cache-Control", "max-age=60")
			fmt.Fprint(w, "answer")
		}))
		s.get("/a", "Accept_Language: de")
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { s.get("/a") })
		}
		all.Wait()
		s.wantCalls(2)
	})
}
