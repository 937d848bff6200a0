package through

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestNobodyGetsACodingThatHeDoesNotTake from origins that answer a condition before they choose one: their tags of both are the
// same, or so by weak comparison.
func TestNobodyGetsACodingThatHeDoesNotTake(t *testing.T) {
	for name, tag := range map[string]func(compressed bool) string{
		"like nginx": func(compressed bool) string {
			return map[bool]string{false: `"1"`, true: `W/"1"`}[compressed]
		},
		"like Express":                 func(bool) string { return `W/"1"` },
		"with one strong tag for both": func(bool) string { return `"1"` },
	} {
		for _, order := range [][]string{{"gzip", ""}, {"", "gzip"}} {
			t.Run(fmt.Sprintf("%s, %q first", name, order[0]), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
						h := w.Header()
						h.Set("Vary", "Accept-Encoding")
						h.Set("Cache-Control", "max-age=10")
						if strings.Contains(r.Header.Get("If-None-Match"), `"1"`) {
							h.Set("Etag", tag(false))
							w.WriteHeader(http.StatusNotModified)
							return
						}
						compressed := strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
						h.Set("Etag", tag(compressed))
						if compressed {
							h.Set("Content-Encoding", "gzip")
						}
						fmt.Fprintf(w, "compressed: %v", compressed)
					})
					var tags [2]string
					for round := range 3 { // the last two times what is stored is validated
						for i, coding := range order {
							a := s.get("/a", "Accept-Encoding: "+coding)
							if got := a.header.Get("Content-Encoding"); got != coding || a.body != fmt.Sprintf("compressed: %v", coding != "") {
								t.Errorf("who accepts %q gets %q %q: %v", coding, got, a.body, a.header["Cache-Status"])
							}
							if tags[i] == "" {
								tags[i] = a.header.Get("Etag")
							}
							if a.header.Get("Etag") != tags[i] {
								t.Errorf("the tag of the same bytes was %s, and is %s", tags[i], a.header.Get("Etag"))
							}
							if round > 0 && !strings.Contains(a.header.Get("Cache-Status"), "fwd-status=304") {
								t.Errorf("it is not validated: %v", a.header["Cache-Status"])
							}
						}
						time.Sleep(20 * time.Second)
					}
				})
			})
		}
	}
}
