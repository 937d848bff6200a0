package through

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/upstreams/host"
)

// validatable has one version, which it tells by its tag, whatever is asked of it.
func validatable(control string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", control)
		w.Header().Set("Etag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "whole")
	}
}

// TestWhoKeepsNothingTakesNothingAway: what a caller may not share with others is no reason to forget what they have.
func TestWhoKeepsNothingTakesNothingAway(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for _, line := range []string{"Cache-Control: no-cache, no-store", "Authorization: x"} {
			t.Run(method+" "+line, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newWorld(t, validatable("max-age=10"))
					s.get("/a")
					time.Sleep(20 * time.Second)
					s.ask(method, "/a", "", line)
					if a := s.get("/a"); a.body != "whole" || !strings.Contains(a.header.Get("Cache-Status"), "fwd=stale; fwd-status=304") {
						t.Errorf("%q %v", a.body, a.header)
					}
				})
			})
		}
	}
}

// TestWhoKeepsNothingPartsNobody: others wait together for one call, although its own answer was not for them.
func TestWhoKeepsNothingPartsNobody(t *testing.T) {
	for _, line := range []string{"Cache-Control: no-store", "Authorization: x", "Range: bytes=0-0"} {
		t.Run(line, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, slow(time.Second, func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Range") != "" {
						w.WriteHeader(http.StatusPartialContent) // of nothing, so it is not stored
						return
					}
					answers(http.StatusOK, "max-age=60", "whole")(w, r)
				}))
				s.get("/a", line)
				var all sync.WaitGroup
				for range 5 {
					all.Go(func() { s.get("/a") })
				}
				all.Wait()
				s.wantCalls(2)
			})
		})
	}
}

// TestAPersonalHEADTakesNothingAway: what is for one caller alone says nothing of what is for all.
func TestAPersonalHEADTakesNothingAway(t *testing.T) {
	s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Etag", strconv.Quote(r.Header.Get("Authorization")))
		fmt.Fprint(w, "for all")
	})
	s.get("/a")
	s.ask(http.MethodHead, "/a", "", "Authorization: x", "Cache-Control: no-cache")
	s.get("/a")
	s.wantCalls(2)
}

// TestWhoLeavesMakesNoFailure: a validation that is given up for that says nothing of the origin.
func TestWhoLeavesMakesNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var version atomic.Int64
		s := newWorld(t, slow(time.Second, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "max-age=10, stale-if-error=3600")
			fmt.Fprint(w, version.Add(1))
		}))
		s.get("/a")
		time.Sleep(20 * time.Second)
		c, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "GET /a HTTP/1.1\r\nHost: api.test\r\n\r\n")
		time.Sleep(100 * time.Millisecond)
		_ = c.Close()
		synctest.Wait()
		if a := s.get("/a"); a.body != "2" {
			t.Errorf("version %s: %v", a.body, a.header)
		}
	})
}

// TestAPartOfAnotherVersion is not sent to who would put it to the one that it has.
func TestAPartOfAnotherVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Etag", `"2"`)
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("0123456789"))
		})
		if a := s.get("/a", "Range: bytes=2-5"); a.status != http.StatusPartialContent {
			t.Fatal(a.status)
		}
		for tag, want := range map[string]string{`"1"`: "0123456789", `W/"2"`: "0123456789", `"2"`: "23"} {
			if a := s.get("/a", "Range: bytes=2-3", "If-Range: "+tag); a.body != want {
				t.Errorf("%s: %d %q", tag, a.status, a.body)
			}
		}
	})
}

// TestABodyForTheNextAddress: the first one had none of it.
func TestABodyForTheNextAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
		alive := s.h.origin.targets[0]
		away := *alive.URL
		away.Host = "away.test"
		transport := s.h.origin.brief
		dial := transport.DialContext
		transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.HasPrefix(address, "away.test") {
				return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
			}
			return dial(ctx, network, address)
		}
		s.h.origin.targets = []Target{{URL: &away, Sent: "away.test"}, alive}
		if a := s.ask(http.MethodPost, "/", "a body"); a.body != "a body" {
			t.Errorf("%d %q %v", a.status, a.body, a.err)
		}
	})
}

// TestHintsForWhoKnowsThem: in HTTP/1.0 there are none, and the first answer is taken for the only one.
func TestHintsForWhoKnowsThem(t *testing.T) {
	for _, method := range []string{"GET", "POST"} {
		s := newStand(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			fmt.Fprint(w, "answer")
		})
		conn, err := net.Dial("tcp", s.front.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "%s / HTTP/1.0\r\nHost: x\r\n\r\n", method)
		if line, err := bufio.NewReader(conn).ReadString('\n'); line != "HTTP/1.0 200 OK\r\n" {
			t.Errorf("%s: %q %v", method, line, err)
		}
	}
}

// TestFieldsThatAreSpelledOtherwise: origins that know fields by the names of CGI take _ for -.
func TestFieldsThatAreSpelledOtherwise(t *testing.T) {
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		for name, lines := range r.Header {
			if strings.Contains(name, "_") {
				fmt.Fprint(w, name, lines)
			}
		}
	})
	for i, name := range []string{"X_Forwarded_Host", "x-forwarded_for", "X_REAL_IP", "X_HTTP_Method_Override"} {
		path := fmt.Sprint("/", i)
		if _, got := s.get(path, name+": evil"); got != "" {
			t.Errorf("the origin has got %s", got)
		}
	}
}

// TestTheOriginDoesNotChangeTheProtocol: its answer is one like others, and the request counts.
func TestTheOriginDoesNotChangeTheProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free, admit := places(10)
		s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Inner", "secret")
			fmt.Fprint(w, "answer")
		}, admit, func(s *Settings) { s.Response = func(h http.Header) { h.Del("X-Inner") } })
		s.limitedTo(2, time.Hour)
		upgrade := []string{"Connection: Upgrade", "Upgrade: x"}
		for range 2 {
			if a := s.get("/", upgrade...); a.body != "answer" || a.header["X-Inner"] != nil {
				t.Errorf("%q %v", a.body, a.header)
			}
		}
		if a := s.get("/", upgrade...); a.status != http.StatusServiceUnavailable {
			t.Errorf("%d beyond the quota", a.status)
		}
		if n := free.Load(); n != 10 {
			t.Errorf("%d places are free", n)
		}
	})
}

// TestARefreshThatIsNotKeptEnds: nobody reads its body. What it was to refresh is outdated, so later callers wait for the origin.
func TestARefreshThatIsNotKeptEnds(t *testing.T) {
	const size = 20 << 20
	for name, row := range map[string]struct {
		control string
		length  bool
	}{
		"not storable":                        {"no-store", true},
		"not storable, of no length":          {"no-store", false},
		"larger than what is kept":            {"max-age=60", true},
		"larger than what is kept, no length": {"max-age=60", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var under atomic.Int64
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("X-First") != "" {
						w.Header().Set("Cache-Control", "max-age=1, stale-while-revalidate=3600, stale-if-error=3600")
						fmt.Fprint(w, "small")
						return
					}
					under.Add(1)
					defer under.Add(-1)
					w.Header().Set("Cache-Control", row.control)
					if row.length {
						w.Header().Set("Content-Length", fmt.Sprint(size))
					}
					_, _ = io.Copy(w, io.LimitReader(zeros{}, size))
				})
				s.get("/a", "X-First: 1")
				time.Sleep(10 * time.Second)
				if a := s.get("/a"); a.body != "small" {
					t.Fatalf("%d bytes before the refresh", len(a.body))
				}
				synctest.Wait()
				if n := under.Load(); n != 0 {
					t.Errorf("%d answers that nobody reads are under way", n)
				}
				if a := s.get("/a"); len(a.body) != size {
					t.Errorf("%d bytes once it is outdated", len(a.body))
				}
			})
		})
	}
}

// TestTheLargestBodyIsKept, also where its length is not known and nobody reads it.
func TestTheLargestBodyIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=10, stale-while-revalidate=3600")
			_, _ = io.Copy(w, io.LimitReader(zeros{}, 1<<20))
		}, func(s *Settings) { s.Most = 1 << 20 })
		s.get("/a")
		time.Sleep(15 * time.Second)
		s.get("/a")
		synctest.Wait()
		if a := s.get("/a"); !strings.Contains(a.header.Get("Cache-Status"), "hit; ttl=10") {
			t.Error(a.header)
		}
		s.wantCalls(2)
	})
}

type zeros struct{}

// Read implements io.Reader.
func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestMarkersTakeNoKeys: those may be as long as callers like.
func TestMarkersTakeNoKeys(t *testing.T) {
	m, long := newMarkers(), strings.Repeat("x", 10_000)
	before := runtime.MemStats{}
	after := before
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 2 * maxMarkers {
		m.set(markerKey{key: fmt.Sprint(long, i)}, true, time.Now())
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if after.HeapAlloc > before.HeapAlloc+1<<20 {
		t.Errorf("%d bytes", after.HeapAlloc-before.HeapAlloc)
	}
	if !m.has(markerKey{key: fmt.Sprint(long, 2*maxMarkers-1)}, time.Now()) {
		t.Error("the last one is not marked")
	}
}

// TestAnErrorToAPOSTIsNoContent, nor is a part, whatever they say where their content is: GET is not answered by them.
func TestAnErrorToAPOSTIsNoContent(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusPartialContent} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "max-age=60")
				if r.Method == http.MethodPost {
					w.Header().Set("Content-Location", r.URL.Path)
					w.Header().Set("Content-Range", "bytes 0-2/10")
					w.WriteHeader(status)
				}
				fmt.Fprint(w, r.Method)
			})
			s.ask(http.MethodPost, "/a", "x")
			if a := s.get("/a"); a.body != "GET" {
				t.Errorf("%d %q", a.status, a.body)
			}
		})
	}
}

// TestSeveralRangesAreNotOne: who asks for the first of them does not get what another caller has for the last.
func TestSeveralRangesAreNotOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, slow(time.Second, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			lines := r.Header["Range"]
			r.Header["Range"] = lines[len(lines)-1:]
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader("0123456789"))
		}))
		go s.get("/a", "Range: bytes=0-1", "Range: bytes=8-9")
		synctest.Wait()
		if a := s.get("/a", "Range: bytes=0-1"); a.body != "01" {
			t.Errorf("%d %q", a.status, a.body)
		}
	})
}

// TestAPartKeepsOutNoWhole: who asks for parts while all of a slow body arrives does not have it asked for again and again.
func TestAPartKeepsOutNoWhole(t *testing.T) {
	for _, tag := range []string{"", `"1"`} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "max-age=60")
				w.Header().Set("Etag", tag)
				if r.Header.Get("Range") != "" {
					http.ServeContent(w, r, "", time.Time{}, strings.NewReader("0123456789"))
					return
				}
				fmt.Fprint(w, "01234")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(2 * time.Second)
				fmt.Fprint(w, "56789")
			})
			go s.get("/a")
			time.Sleep(time.Second)
			if a := s.get("/a", "Range: bytes=3-4"); a.body != "34" {
				t.Fatal(a.status, a.body)
			}
			time.Sleep(2 * time.Second)
			if a := s.get("/a"); a.body != "0123456789" {
				t.Errorf("%d %q", a.status, a.body)
			}
			s.wantCalls(2)
		})
	}
}

// TestReferencesOfAnOriginBelowAPath: it names its resources by the paths that it knows, below that of its address.
func TestReferencesOfAnOriginBelowAPath(t *testing.T) {
	for _, reference := range []string{"/v1/items/5", "http://origin.test/v1/items/5", "/items/5", "items/5"} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "max-age=60")
				w.Header().Set("Location", reference)
				fmt.Fprint(w, r.URL.Path, time.Now())
			})
			s.h.origin.targets[0].URL = &url.URL{Scheme: "http", Host: "origin.test", Path: "/v1"}
			before := s.get("/items/5")
			time.Sleep(time.Second)
			s.ask(http.MethodPost, "/items", "x")
			if after := s.get("/items/5"); after.body == before.body || !strings.HasPrefix(after.body, "/v1/items/5") {
				t.Errorf("%s: %s is still there", reference, after.body)
			}
		})
	}
}

// TestALateAnswer reaches its caller, however long it takes: the server's own time for requests and answers is that of short ones,
// and a body that has been sent is none that stands still.
func TestALateAnswer(t *testing.T) {
	for name, late := range map[string]http.HandlerFunc{
		"no body": slow(20*time.Second, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
		"whole":   slow(20*time.Second, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }),
		"piece by piece": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			for range 10 {
				fmt.Fprint(w, "ok")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(3 * time.Second)
			}
		},
	} {
		for _, body := range []string{"", "body"} {
			t.Run(name+" to "+body, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newWorld(t, late, func(s *Settings) { s.Idle = 10 * time.Second })
					if a := s.ask(http.MethodPost, "/a", body); a.err != nil || a.status/100 != 2 {
						t.Errorf("%d %q after %v: %v", a.status, a.body, a.took, a.err)
					}
					synctest.Wait()
				})
			})
		}
	}
}

// TestAnEarlyAnswer, to a request whose body has not been read: nothing of that body is a request.
func TestAnEarlyAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			fmt.Fprint(w, r.URL.Path)
		})
		c, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		go func() {
			const inner = "GET /inner HTTP/1.1\r\nHost: x\r\n\r\n"
			fmt.Fprintf(c, "POST /outer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", 100_000*len(inner), strings.Repeat(inner, 100_000))
		}()
		all, _ := io.ReadAll(c) // or it is reset
		if answers := strings.Count(string(all), "HTTP/1.1"); answers != 1 || !strings.HasSuffix(string(all), "/outer") {
			t.Errorf("%d answers: %.500s", answers, all)
		}
		s.wantCalls(1)
	})
}

// TestAnOfferOfHTTP2, as curl --http2 and Java make with each request, changes nothing, and the origin does not hear of it: it would take
// any request that follows in it.
func TestAnOfferOfHTTP2(t *testing.T) {
	for _, connection := range []string{"Upgrade, HTTP2-Settings", "upgrade"} {
		for _, offer := range []string{"h2c", "H2C", "websocket, h2c"} {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Cache-Control", "max-age=60")
					fmt.Fprint(w, r.Header["Upgrade"])
				})
				for range 2 {
					if a := s.get("/a", "Connection: "+connection, "Upgrade: "+offer, "Http2-Settings: AAMAAABk"); a.body != "[]" {
						t.Errorf("%s: %d %s", offer, a.status, a.body)
					}
				}
				s.wantCalls(1)
			})
		}
	}
}

// TestHintsAreChangedLikeAnswers: what the file removes is for nobody.
func TestHintsAreChangedLikeAnswers(t *testing.T) {
	s := newStand(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Inner", "secret")
		w.Header().Set("Link", "</a>")
		w.WriteHeader(http.StatusEarlyHints)
	}, func(s *Settings) { s.Response = func(h http.Header) { h.Del("X-Inner") } })
	hints := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(_ int, h textproto.MIMEHeader) error {
		hints++
		if h.Get("Link") == "" || h.Get("X-Inner") != "" {
			t.Error(h)
		}
		return nil
	}})
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.front.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if hints != 1 {
		t.Errorf("%d hints", hints)
	}
}

// TestALongUploadIsNoProbe: while it lasts, others get through to an origin that was away.
func TestALongUploadIsNoProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
		var away atomic.Bool
		for _, transport := range []*http.Transport{s.h.origin.transport, s.h.origin.brief} {
			dial := transport.DialContext
			transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				if away.Load() {
					return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
				}
				return dial(ctx, network, address)
			}
		}
		var hosts host.Hosts
		s.h.origin.targets[0].Host = hosts.Get("origin.test")
		away.Store(true)
		for i := range 30 {
			time.Sleep(2 * time.Second)
			s.get(fmt.Sprint("/", i))
		}
		away.Store(false)
		time.Sleep(time.Minute)
		for range 2 {
			c, err := s.front.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprint(c, "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nbegin")
		}
		time.Sleep(5 * time.Second)
		if a := s.get("/a"); a.status != http.StatusOK {
			t.Errorf("%d while others send", a.status)
		}
	})
}

// TestAnOriginThatDoesNotAnswerIsLeftAlone, also where all that it is asked has a body, which it takes.
func TestAnOriginThatDoesNotAnswerIsLeftAlone(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t, func(_ http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			})
			var hosts host.Hosts
			s.h.origin.targets[0].Host = hosts.Get("origin.test")
			body := map[string]string{http.MethodPost: "body"}[method]
			for i := range 1200 {
				if i == 600 {
					s.calls.Store(0)
				}
				go s.ask(method, fmt.Sprint("/", i), body)
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
			if n := s.calls.Load(); n > 20 {
				t.Errorf("%s: %d requests in 10 minutes", method, n)
			}
		})
	}
}

// TestTroubleOutdatesNothing: an origin that has enough for now, or is not reached by what is in front of it, says nothing of its content.
func TestTroubleOutdatesNothing(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, 522} {
		synctest.Test(t, func(t *testing.T) {
			var away atomic.Bool
			s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
				if away.Load() {
					w.WriteHeader(status)
					return
				}
				w.Header().Set("Cache-Control", "max-age=1, stale-while-revalidate=3600")
				fmt.Fprint(w, "answer")
			})
			s.get("/a")
			away.Store(true)
			for range 5 {
				time.Sleep(5 * time.Second)
				if a := s.get("/a"); a.body != "answer" {
					t.Errorf("%d, where the origin says %d", a.status, status)
				}
			}
			synctest.Wait()
			s.wantCalls(6)
		})
	}
}
