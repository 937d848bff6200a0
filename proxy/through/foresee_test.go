package through

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestForesee: what is foretold is what Cache-Status then says, and no origin is asked for it.
func TestForesee(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", map[string]string{"/private": "private", "/window": "max-age=5, stale-while-revalidate=60"}[r.URL.Path])
			if r.URL.Path == "/vary" {
				w.Header().Set("Vary", "Accept-Language")
				w.Header().Set("Cache-Control", "max-age=60")
			}
			if r.URL.Path == "/a" {
				w.Header().Set("Cache-Control", "max-age=5")
				w.Header().Set("Etag", `"a"`)
			}
			fmt.Fprint(w, "x")
		})
		for _, row := range []struct {
			after        time.Duration
			path, fields string
			want         string
		}{
			{0, "/a", "", "fwd=uri-miss"}, {time.Second, "/a", "", "hit; ttl=4"}, {0, "/a", "Cache-Control: no-cache", "fwd=request"},
			{10 * time.Second, "/a", "", "fwd=stale"}, {0, "/a", "If-Match: x", "fwd=request"},
			{0, "/vary", "Accept-Language: de", "fwd=uri-miss"}, {0, "/vary", "Accept-Language: fr", "fwd=vary-miss"}, {0, "/vary", "Accept-Language: de", "hit; ttl=60"},
			{0, "/window", "", "fwd=uri-miss"}, {9 * time.Second, "/window", "", "hit; ttl=-4"},
			{0, "/private", "", "fwd=uri-miss"}, {0, "/private", "", "fwd=uri-miss; detail=unshared"},
		} {
			time.Sleep(row.after)
			synctest.Wait()
			r, _ := http.NewRequest(http.MethodGet, "http://x.test"+row.path, nil)
			if name, value, ok := strings.Cut(row.fields, ": "); ok {
				r.Header.Set(name, value)
			}
			before := s.calls.Load()
			got := s.h.Foresee(r)
			if !strings.HasPrefix(got.Status.String(), "sundry; "+row.want) || s.calls.Load() != before {
				t.Errorf("%s %s: foretold %s, want %s", row.path, row.fields, got.Status, row.want)
			}
			resp, err := (&http.Client{Transport: s.client}).Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if status := resp.Header.Get("Cache-Status"); !strings.HasPrefix(status, "sundry; "+row.want) {
				t.Errorf("%s %s: %s, foretold %s", row.path, row.fields, status, got.Status)
			}
			synctest.Wait()
		}
		for path, want := range map[string]int{"/b": http.StatusGatewayTimeout, "/b/%2e%2e/c": http.StatusBadRequest} {
			r, _ := http.NewRequest(http.MethodGet, "http://x.test"+path, nil)
			r.Header.Set("Cache-Control", "only-if-cached")
			if got := s.h.Foresee(r); got.Refused != want {
				t.Errorf("%s: %+v", path, got)
			}
		}
	})
}

// TestForeseeWhereTheOriginFails: in the second after a validation that failed, what is stored stands in, and none is asked for.
func TestForeseeWhereTheOriginFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		status := http.StatusOK
		s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "max-age=1, stale-if-error=60")
			w.WriteHeader(status)
		})
		s.get("/a")
		status = http.StatusServiceUnavailable
		time.Sleep(5 * time.Second)
		for _, want := range []string{"sundry; fwd=stale", "sundry; hit; ttl=-4; detail=memory"} {
			r, _ := http.NewRequest(http.MethodGet, "http://api.test/a", nil)
			if got := s.h.Foresee(r).Status.String(); got != want {
				t.Errorf("foretold %s, want %s", got, want)
			}
			if a := s.get("/a"); strings.Contains(want, "memory") && a.header.Get("Cache-Status") != want {
				t.Errorf("%s, foretold %s", a.header.Get("Cache-Status"), want)
			}
		}
	})
}
