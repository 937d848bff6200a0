package through

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// echoes answers with the value of a field by which its responses vary.
func echoes(field string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "max-age=60")
		h.Set("Vary", field)
		h.Set("Content-Language", "de")
		fmt.Fprintf(w, "%q", r.Header[field])
	}
}

// TestAnEchoReachesItsClientAlone, unless the values are well-formed and mean the same: what one client writes into a field is not
// shown to others whose field is another one.
func TestAnEchoReachesItsClientAlone(t *testing.T) {
	for _, row := range []struct{ field, one, other string }{
		{"Accept-Language", "de, <script>", "de"},
		{"Accept-Language", "de, en;q=0.5, x;y=\"<script>\"", "de"},
		{"Accept-Language", "de;q=1, <script>;q=0.1", "<script>;q=0.1, de"},
		{"Accept-Language", "de" + strings.Repeat(",en", 1000), "en" + strings.Repeat(",en", 999) + ",de"},
		{"Accept-Language", "de,,en", "en,de"},
		{"Accept-Encoding", "gzip, <x>", "<x>, gzip"},
		{"Accept-Charset", "utf-8, <X>", "<x>, utf-8"},
		{"Accept", "text/html;a=\"<x>\", */*", "*/*, text/html;a=\"<x>\""},
		{"Accept-Version", "B", "b"},
		{"Cookie", "a=1, b", "a=1,b"},
	} {
		t.Run(row.field+" "+row.one[:min(len(row.one), 20)], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, echoes(row.field), func(s *Settings) { s.Rules.Languages = true })
				s.get("/a", row.field+": "+row.one)
				for _, value := range []string{row.other, row.one} {
					if a := s.get("/a", row.field+": "+value); a.body != fmt.Sprintf("%q", []string{value}) {
						t.Errorf("%.100q gets %.100s", value, a.body)
					}
				}
				s.wantCalls(2)
			})
		})
	}
}

// TestVaryThatNamesNoField: nobody knows which other requests such a response is for.
func TestVaryThatNamesNoField(t *testing.T) {
	for _, vary := range []string{"X A", "X-A;q=1", `"X-A"`, "X-A, (b)", "X-A: 1", strings.Repeat("X-A, ", 9) + "é", manyFields(100)} {
		synctest.Test(t, func(t *testing.T) {
			s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Cache-Control", "max-age=60")
				w.Header().Set("Vary", vary)
				fmt.Fprint(w, r.Header.Get("X-A"))
			})
			for _, value := range []string{"1", "2"} {
				if a := s.get("/a", "X-A: "+value); a.body != value {
					t.Errorf("Vary: %s: %q instead of %s", vary, a.body, value)
				}
			}
			s.wantCalls(2)
		})
	}
}

// manyFields names n fields.
func manyFields(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("X-", i)
	}
	return strings.Join(names, ",")
}
