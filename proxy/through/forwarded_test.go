package through

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"sundry/cache/clients"
)

// TestWhereARequestComesFrom: only trusted proxies may say it, and the response is for requests that say the same. What other clients say is
// replaced.
func TestWhereARequestComesFrom(t *testing.T) {
	fields := []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix", "Forwarded", "X-Real-Ip", "True-Client-Ip", "X-Scheme"}
	for trusted, want := range map[bool]string{
		false: `|api.test|http|/api/x|for=unknown;host="api.test";proto=http|||`,
		true:  `192.0.2.7|a.example|https|/outer/api/x|for=192.0.2.7;host="a.example";proto=https|192.0.2.8|192.0.2.10|http`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "max-age=60")
				var told []string
				for _, name := range fields {
					told = append(told, strings.Join(r.Header[name], ","))
				}
				fmt.Fprint(w, strings.Join(told, "|"))
			}, func(s *Settings) {
				s.Prefix = "/api/x"
				s.Client = func(*http.Request) (clients.ID, bool) { return clients.Nobody, trusted }
			})
			s.h.Name = "x"
			a := s.get("/api/x/", "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Host: a.example", "X-Forwarded-Proto: https", "X-Forwarded-Prefix: /outer/", "Forwarded: for=192.0.2.9;host=b.example",
				"X-Real-IP: 192.0.2.8", "True-Client-IP: 192.0.2.10", "X-Scheme: http")
			if a.body != want {
				t.Errorf("trusted %v:\n%s, want\n%s", trusted, a.body, want)
			}
			if got, plain := s.get("/api/x/").body, `|api.test|http|/api/x|for=unknown;host="api.test";proto=http|||`; got != plain {
				t.Errorf("trusted %v:\n%s to who says nothing, want\n%s", trusted, got, plain)
			}
			calls := int64(1)
			if trusted {
				calls = 2
			}
			s.wantCalls(calls)
		})
	}
}

// TestAnswersForWhereACallerIs are for that caller: who is not heard about where he is has no field that tells him from others.
func TestAnswersForWhereACallerIs(t *testing.T) {
	s := newStand(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Vary", "X-Forwarded-For")
	})
	s.get("/")
	s.get("/")
	s.wantCalls(2)
}

// TestViaCanBeOmitted from requests, responses and those that change the protocol; what others have said there stays.
func TestViaCanBeOmitted(t *testing.T) {
	for _, omitted := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var sent []string
			s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				sent = r.Header["Via"]
				w.Header().Set("Via", "1.1 inner")
				w.Header().Set("Cache-Control", "max-age=60")
			}, func(s *Settings) { s.NoVia = omitted })
			wantSent, wantBack := []string{"1.0 outer", "1.1 sundry"}, []string{"1.1 inner", "1.1 sundry"}
			if omitted {
				wantSent, wantBack = wantSent[:1], wantBack[:1]
			}
			for range 2 { // a miss, and a hit
				if a := s.get("/a", "Via: 1.0 outer"); !slices.Equal(a.header["Via"], wantBack) {
					t.Errorf("omitted %t: a response has %q", omitted, a.header["Via"])
				}
			}
			if !slices.Equal(sent, wantSent) {
				t.Errorf("omitted %t: the origin gets %q", omitted, sent)
			}
		})
	}
}

// TestRetry: a GET or HEAD is sent once more after a status that is named, and nothing else is.
func TestRetry(t *testing.T) {
	for name, row := range map[string]struct {
		method   string
		statuses []int // of the origin's responses, in their order
		status   int
		calls    int64
	}{
		"it recovers":       {http.MethodGet, []int{503, 200}, 200, 2},
		"a HEAD":            {http.MethodHead, []int{502, 200}, 200, 2},
		"it does not":       {http.MethodGet, []int{503, 503, 200}, 503, 2},
		"another status":    {http.MethodGet, []int{500, 200}, 500, 1},
		"a success":         {http.MethodGet, []int{200}, 200, 1},
		"a POST":            {http.MethodPost, []int{503, 200}, 503, 1},
		"no second answer":  {http.MethodGet, []int{503, 0}, 503, 2},
		"another the first": {http.MethodGet, []int{404, 200}, 404, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s *world
				s = newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					status := row.statuses[s.calls.Load()-1]
					if status == 0 {
						panic(http.ErrAbortHandler)
					}
					w.WriteHeader(status)
					_, _ = io.WriteString(w, "body")
				}, func(s *Settings) { s.Retry = []int{502, 503, 504} })
				body := ""
				if row.method == http.MethodPost {
					body = "x"
				}
				if a := s.ask(row.method, "/a", body); a.status != row.status || a.err != nil || row.method == http.MethodGet && a.body != "body" {
					t.Errorf("%+v, want %d", a, row.status)
				}
				s.wantCalls(row.calls)
			})
		})
	}
}
