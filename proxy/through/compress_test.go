package through

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func unzip(t *testing.T, body string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// compressing is an API with compress: true.
func compressing(s *Settings) { s.Compress, s.Rules.ReduceCodings = true, true }

// TestCompress compresses what gains by it, once for all clients that accept it, and no client gets what it does not accept.
func TestCompress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := strings.Repeat(`{"name":"value"},`, 1000)
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.Header().Set("Etag", `"1"`)
			w.Header().Set("X-Accepted", strings.Join(r.Header["Accept-Encoding"], "|"))
			fmt.Fprint(w, body)
		}, compressing)
		for i, row := range []struct {
			accept, told, coding, tag string
			calls                     int64
		}{
			{"gzip, deflate, br, zstd", "br, gzip, zstd", "gzip", `W/"1"`, 1},
			{"zstd;q=0.5, br, gzip;q=0.1", "br, gzip, zstd", "gzip", `W/"1"`, 1},
			{"gzip", "gzip", "gzip", `W/"1"`, 2},
			{"gzip;q=1.0, identity;q=0.5", "gzip", "gzip", `W/"1"`, 2},
			{"deflate", "", "", `"1"`, 3},
			{"gzip;q=0", "", "", `"1"`, 3},
			{"gzip, gzip;q=0.5;q=1", "", "", `"1"`, 3}, // malformed
			{"", "", "", `"1"`, 3},
		} {
			var lines []string
			if row.accept != "" {
				lines = []string{"Accept-Encoding: " + row.accept}
			}
			a := s.get("/a", lines...)
			got := a.body
			if row.coding == "gzip" && a.header.Get("Content-Encoding") == "gzip" {
				if len(a.body) > len(body)/10 {
					t.Errorf("%d bytes of %d", len(a.body), len(body))
				}
				got = unzip(t, a.body)
			}
			h := a.header
			if got != body || h.Get("Content-Encoding") != row.coding || h.Get("Etag") != row.tag || h.Get("X-Accepted") != row.told || h.Get("Vary") != "Accept-Encoding" || s.calls.Load() != row.calls {
				t.Errorf("%d %q: %d calls, %v", i, row.accept, s.calls.Load(), h)
			}
		}
		if a := s.ask(http.MethodHead, "/b", "", "Accept-Encoding: gzip"); a.header.Get("Content-Encoding") != "gzip" || a.header.Get("Content-Length") != "" {
			t.Errorf("HEAD: %v", a.header)
		}
	})
}

// TestWhatIsNotCompressed: responses that are compressed already, would not shrink, are parts, or must not be changed.
func TestWhatIsNotCompressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fields := map[string][]string{
			"/coded":     {"Content-Type: text/plain", "Content-Encoding: br"},
			"/picture":   {"Content-Type: image/png"},
			"/unknown":   {"Content-Type: "},
			"/malformed": {"Content-Type: ;"},
			"/as-it-is":  {"Content-Type: text/plain", "Cache-Control: no-transform"},
			"/events":    {"Content-Type: text/event-stream"},
			"/part":      {"Content-Type: text/plain", "Content-Range: bytes 0-999/2000"},
			"/short":     {"Content-Type: text/plain"},
		}
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			for _, line := range fields[r.URL.Path] {
				name, value, _ := strings.Cut(line, ": ")
				w.Header()[name] = []string{value}
			}
			length := 1000
			switch r.URL.Path {
			case "/part":
				w.WriteHeader(http.StatusPartialContent)
			case "/short":
				length = leastCompressed - 1
			}
			fmt.Fprint(w, strings.Repeat("a", length))
		}, compressing)
		for path := range fields {
			a := s.get(path, "Accept-Encoding: gzip, br", "Range: bytes=0-999")
			if strings.Trim(a.body, "a") != "" || a.err != nil || a.header.Get("Content-Encoding") == "gzip" || a.header.Get("Vary") != "" {
				t.Errorf("%s: %.20q %v %v", path, a.body, a.header, a.err)
			}
		}
	})
}

// TestACompressedStream reaches its readers as it comes, and whole.
func TestACompressedStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		raw := make([]byte, 300<<10)
		for i := range raw {
			raw[i] = byte(rand.Uint32())
		}
		noise := base64.StdEncoding.EncodeToString(raw)
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, "first")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Second)
			fmt.Fprint(w, noise)
			if r.URL.Path == "/cut" {
				panic(http.ErrAbortHandler)
			}
		}, compressing)
		a := s.get("/a", "Accept-Encoding: gzip")
		if a.err != nil || unzip(t, a.body) != "first"+noise || a.first != 0 || a.took != time.Second {
			t.Errorf("%d bytes, the first after %s, all after %s: %v", len(a.body), a.first, a.took, a.err)
		}
		if a := s.get("/cut", "Accept-Encoding: gzip"); a.err == nil {
			r, err := gzip.NewReader(bytes.NewReader([]byte(a.body)))
			if err == nil {
				_, err = io.ReadAll(r)
			}
			if err == nil {
				t.Error("a body that was cut off arrives as a whole one")
			}
		}
	})
}

// TestACompressedResponseIsRenewed by a 304, and outlives the HEAD of its URL.
func TestACompressedResponseIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := strings.Repeat("text ", 1000)
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=10")
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Etag", `"1"`)
			if strings.Contains(r.Header.Get("If-None-Match"), `"1"`) {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			fmt.Fprint(w, body)
		}, compressing)
		for i := range 3 {
			a := s.get("/a", "Accept-Encoding: gzip")
			if a.status != http.StatusOK || unzip(t, a.body) != body || a.header.Get("Etag") != `W/"1"` {
				t.Errorf("%d: %d %v", i, a.status, a.header)
			}
			if i > 0 && !strings.Contains(a.header.Get("Cache-Status"), "fwd-status=304") {
				t.Errorf("%d: %s", i, a.header.Get("Cache-Status"))
			}
			time.Sleep(15 * time.Second)
		}
		s.ask(http.MethodHead, "/a", "", "Accept-Encoding: gzip")
		calls := s.calls.Load()
		if a := s.get("/a", "Accept-Encoding: gzip"); a.status != http.StatusOK || unzip(t, a.body) != body || s.calls.Load() != calls {
			t.Errorf("after a HEAD: %d %v, %d calls more", a.status, a.header, s.calls.Load()-calls)
		}
	})
}

// TestTheClientDecidesWhetherItIsCompressed, whatever the origin is told that it accepts.
func TestTheClientDecidesWhetherItIsCompressed(t *testing.T) {
	body := strings.Repeat("text ", 1000)
	for told, change := range map[string]func(http.Header){
		"nothing": func(h http.Header) { delete(h, "Accept-Encoding") },
		"gzip":    func(h http.Header) { h["Accept-Encoding"] = []string{"gzip"} },
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Cache-Control", "max-age=60")
				w.Header().Set("Content-Type", "text/plain")
				fmt.Fprint(w, body)
			}, compressing, func(s *Settings) { s.Request = change })
			for range 2 {
				if a := s.get("/a", "Accept-Encoding: gzip"); a.header.Get("Content-Encoding") != "gzip" || unzip(t, a.body) != body {
					t.Errorf("the origin is told %s: a client that accepts gzip gets %v", told, a.header)
				}
				if a := s.get("/a"); a.body != body {
					t.Errorf("the origin is told %s: a client that accepts nothing gets %v", told, a.header)
				}
			}
			s.wantCalls(2)
		})
	}
}

// TestADateIsNoTagOfACompressedBody: another compression of the same file has other bytes, so a range of it does not continue what a client has.
func TestADateIsNoTagOfACompressedBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const date = "Fri, 31 Dec 1999 00:00:00 GMT"
		body := strings.Repeat("text ", 1000)
		s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Content-Type", "text/plain")
			w.Header().Set("Last-Modified", date)
			fmt.Fprint(w, body)
		}, compressing)
		for coding, want := range map[string]int{"gzip": http.StatusOK, "identity": http.StatusPartialContent} {
			s.get("/a", "Accept-Encoding: "+coding)
			if a := s.get("/a", "Accept-Encoding: "+coding, "Range: bytes=10-", "If-Range: "+date); a.status != want {
				t.Errorf("%s: %d, want %d", coding, a.status, want)
			}
		}
	})
}
