package through

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// newWorldOfHTTP2 serves an origin, with HTTP/2 without TLS on both sides.
func newWorldOfHTTP2(t *testing.T, origin http.HandlerFunc, change ...func(*Settings)) *world {
	t.Helper()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	back := newMemory()
	s := serveWorld(t, back.dial, change...)
	s.h.origin.targets[0].HTTP2 = true
	serveOrigin(t, back, &http.Server{Handler: origin, Protocols: protocols})
	front := newMemory()
	serveOrigin(t, front, &http.Server{Handler: s.h, Protocols: protocols, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second})
	s.client = &http.Transport{DialContext: front.dial, Protocols: protocols}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// TestHTTP2WithoutTLS reaches an origin that speaks nothing else. gRPC calls have TE (gRPC over HTTP/2, "Requests"), gRPC-Web calls do not.
func TestHTTP2WithoutTLS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorldOfHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(20 * time.Second) // longer than the server's WriteTimeout
			_, _ = io.WriteString(w, r.Proto+" te="+r.Header.Get("Te"))
		})
		for kind, want := range map[string]string{
			"application/grpc": "HTTP/2.0 te=trailers", "application/grpc+proto": "HTTP/2.0 te=trailers", "application/grpc; a=b": "HTTP/2.0 te=trailers", "application/grpc-web": "HTTP/2.0 te=", "text/plain": "HTTP/2.0 te=",
		} {
			if a := s.ask(http.MethodPost, "/a", "body", "Content-Type: "+kind); a.body != want {
				t.Errorf("%s: %d %s %v", kind, a.status, a.body, a.err)
			}
		}
	})
}

// TestAQuietConversation goes on for as long as neither side is silent for longer than Idle at a time. What the client sends counts as soon as it
// is sent.
func TestAQuietConversation(t *testing.T) {
	for silence, want := range map[time.Duration]bool{50 * time.Second: true, 70 * time.Second: false} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorldOfHTTP2(t, func(w http.ResponseWriter, r *http.Request) {
				flush := func() { _ = http.NewResponseController(w).Flush() }
				flush()
				one := make([]byte, 1)
				for _, err := r.Body.Read(one); err == nil; _, err = r.Body.Read(one) {
					_, _ = w.Write(one)
					flush()
				}
			})
			in, out := io.Pipe()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://api.test/a", in)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := s.client.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			defer out.Close()
			for range 3 {
				time.Sleep(silence)
				_, _ = out.Write([]byte("x")) // fails once the response is at its end
				if _, err = io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
					break
				}
			}
			if (err == nil) != want {
				t.Errorf("silent for %v: %v", silence, err)
			}
		})
	}
}

// TestASlowUploadOfUnknownLength over HTTP/2 is given up before the response, as others are.
func TestASlowUploadOfUnknownLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorldOfHTTP2(t, func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
		in, out := io.Pipe()
		ended := make(chan struct{})
		defer func() {
			_ = out.Close()
			<-ended
		}()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://api.test/a", in)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		go func() {
			defer close(ended)
			for {
				if _, err := out.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(10 * time.Second)
			}
		}()
		resp, err := s.client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if took := time.Since(began); resp.StatusCode != http.StatusRequestTimeout || took > 2*time.Minute {
			t.Errorf("%d after %v", resp.StatusCode, took)
		}
	})
}

// TestABodyIsReadPastTheResponse: the connection to the origin may still read the body of a request that is answered, when net/http no longer
// has its stream. The test repeats this, because it depends on timing.
func TestABodyIsReadPastTheResponse(t *testing.T) {
	s := newWorldOfHTTP2(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	for range 300 {
		in, out := io.Pipe()
		go func() {
			for {
				if _, err := out.Write(make([]byte, 100)); err != nil {
					return
				}
			}
		}()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://api.test/a", in)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := s.client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		_ = in.Close()
		if resp.StatusCode != http.StatusUnauthorized {
			t.Fatal(resp.StatusCode)
		}
	}
}

// TestAnOriginThatPausesGetsTheWholeBody: for how long it takes nothing, and how long it takes to connect to it, says nothing of the client.
func TestAnOriginThatPausesGetsTheWholeBody(t *testing.T) {
	const size = 8 << 20
	for name, serve := range map[string]func(*testing.T, http.HandlerFunc, ...func(*Settings)) *world{"HTTP/1.1": newWorld, "HTTP/2": newWorldOfHTTP2} {
		for kind, body := range map[string]func() io.Reader{
			"known length":   func() io.Reader { return bytes.NewReader(make([]byte, size)) },
			"unknown length": func() io.Reader { return io.LimitReader(rand.Reader, size) },
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := serve(t, func(w http.ResponseWriter, r *http.Request) {
						_, _ = io.CopyN(io.Discard, r.Body, 100<<10)
						time.Sleep(2 * time.Minute)
						n, err := io.Copy(io.Discard, r.Body)
						_, _ = fmt.Fprint(w, n+100<<10, err)
					})
					r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://api.test/a", body())
					if err != nil {
						t.Fatal(err)
					}
					resp, err := s.client.RoundTrip(r)
					if err != nil {
						t.Fatal(err)
					}
					defer resp.Body.Close()
					if got, err := io.ReadAll(resp.Body); string(got) != fmt.Sprint(size, nil) {
						t.Errorf("%d %s %v", resp.StatusCode, got, err)
					}
				})
			})
		}
	}
}

// TestAnInterimResponseIsNoDeadline for the final one: an origin that says 102 or 103 may take as long as others.
func TestAnInterimResponseIsNoDeadline(t *testing.T) {
	for name, serve := range map[string]func(*testing.T, http.HandlerFunc, ...func(*Settings)) *world{"HTTP/1.1": newWorld, "HTTP/2": newWorldOfHTTP2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(http.StatusEarlyHints)
					time.Sleep(20 * time.Second)
				}, func(s *Settings) { s.Idle = 10 * time.Second })
				if a := s.ask(http.MethodPost, "/a", "body"); a.status != http.StatusOK {
					t.Errorf("%d %v", a.status, a.err)
				}
				if a := s.get("/a"); a.status != http.StatusOK {
					t.Errorf("GET: %d %v", a.status, a.err)
				}
			})
		})
	}
}
