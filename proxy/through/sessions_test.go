package through

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestNobodyGetsTheSessionOfAnother from an origin that says nothing of its cookies but that what it sends is to be validated, as Express
// does with files and JSON.
func TestNobodyGetsTheSessionOfAnother(t *testing.T) {
	for _, control := range []string{"public, max-age=0", "no-cache", ""} {
		synctest.Test(t, func(t *testing.T) {
			down := false
			s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				if down {
					panic(http.ErrAbortHandler)
				}
				if w.Header().Set("Etag", `W/"1"`); control != "" {
					w.Header().Set("Cache-Control", control)
				}
				if r.Header["Cookie"] == nil {
					w.Header().Set("Set-Cookie", "session=new")
				}
				if r.Header.Get("If-None-Match") == `W/"1"` {
					w.WriteHeader(http.StatusNotModified)
				}
			})
			s.get("/a")
			s.get("/a", "Cookie: session=1")
			s.get("/a")
			time.Sleep(time.Second)
			if a := s.get("/a", "Cookie: session=2"); a.status != http.StatusOK || a.header["Set-Cookie"] != nil {
				t.Errorf("%q: %d, %v", control, a.status, a.header)
			}
			down = true
			if a := s.get("/a", "Cookie: session=3"); a.status != http.StatusBadGateway {
				t.Errorf("%q, while the origin is down: %d, %v", control, a.status, a.header)
			}
		})
	}
}

// TestNobodyGetsTheFileOfAnother from an origin that sends files behind a login with a date alone, as Go, Starlette, Sinatra and Django do.
func TestNobodyGetsTheFileOfAnother(t *testing.T) {
	for _, control := range []string{"", "no-cache", "max-age=0"} {
		for i, tag := range []string{"", `"%s"`, `"%s"`} {
			field := [...]string{"Cookie", "X-Api-Key", "X-Auth-Token"}[i]
			synctest.Test(t, func(t *testing.T) {
				modified := time.Now().Add(-100 * time.Hour)
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					user := r.Header.Get(field)
					if user == "" {
						w.WriteHeader(http.StatusUnauthorized)
						return
					}
					if control != "" {
						w.Header().Set("Cache-Control", control)
					}
					if tag != "" {
						w.Header().Set("Etag", fmt.Sprintf(tag, user))
					}
					http.ServeContent(w, r, "a.txt", modified, strings.NewReader(user))
				})
				for range 2 {
					for _, user := range []string{"session=1", "session=2"} {
						if a := s.get("/a", field+": "+user); a.status != http.StatusOK || a.body != user {
							t.Errorf("%q, %q: %d, %s", control, tag, a.status, a.body)
						}
					}
					if a := s.get("/a"); a.status != http.StatusUnauthorized {
						t.Errorf("%q, %q, to who has none: %d, %s", control, tag, a.status, a.body)
					}
				}
			})
		}
	}
}

// TestNobodyGetsTheNewSessionOfAnother from an origin that says how long its form is fresh, and by Vary that it is of a session: Django and
// Flask make one for who has none, with a token against forged requests.
func TestNobodyGetsTheNewSessionOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "public, max-age=60")
			w.Header().Set("Vary", "Cookie")
			w.Header().Set("Set-Cookie", fmt.Sprintf("session=%d", made.Add(1)))
		})
		first, second := s.get("/form"), s.get("/form")
		if a, b := first.header.Get("Set-Cookie"), second.header.Get("Set-Cookie"); a == b {
			t.Errorf("both got %s", a)
		}
	})
}
