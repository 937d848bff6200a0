package through

import (
	"net/http"
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
