package kinds

import (
	"fmt"
	"net/http"
	"testing"

	"sundry/upstreams"
)

// Parts are judged one by one, and those that succeed are kept.
func TestParts(t *testing.T) {
	asked := 0
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/gone":
			http.NotFound(w, r)
		case "/html":
			fmt.Fprint(w, "<html>")
		case "/often":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/error":
			fmt.Fprint(w, `{"code":500}`)
		default:
			fmt.Fprintf(w, `{"code":200,"at":%q}`, r.URL.Path)
		}
	})
	rows := []struct {
		parts, want string
		asked       int
	}{
		{`[a, b]`, "[/a /b]", 2},
		{`[gone, b, html, error]`, "[<nil> /b <nil> <nil>]", 4},
		{`[often, a, b]`, "[<nil> /a /b]", 3},                       // one refused part says nothing about the others
		{`[a, often, b, often, c]`, "[/a <nil> /b <nil> <nil>]", 4}, // asked too often: the rest would not come either
		{`[gone, html]`, "unavailable", 2},
		{`[html, gone]`, "malformed", 2},
		{`[often, often, a]`, "limited", 2},
		{`[error]`, "malformed", 1},
	}
	for _, r := range rows {
		env := environment(t)
		asked = 0
		s := compile(t, env, `
name: one
http: {url: "`+url+`/{part}", parts: `+r.parts+`}
judge: [{if: .code != 200, is: malformed}]
map: map(.at)
`)
		a, err := s.Probe(t.Context(), &upstreams.Call{}, nil)
		got := fmt.Sprint(a.Data)
		if err != nil {
			got = upstreams.KindOf(err).String()
		}
		if got != r.want || asked != r.asked {
			t.Errorf("%s: %s (%v) after %d calls, want %s after %d", r.parts, got, err, asked, r.want, r.asked)
		}
	}
}

// A part that does not come in time leaves time to map those that came.
func TestPartsInTime(t *testing.T) {
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hangs" {
			<-r.Context().Done()
			return
		}
		fmt.Fprint(w, `{"at":1}`)
	})
	s := compile(t, environment(t), `
name: one
timeout: 500ms
http: {url: "`+url+`/{part}", parts: [a, hangs, b]}
map: map(.at)
`)
	a, err := s.Probe(t.Context(), &upstreams.Call{}, nil)
	if got := fmt.Sprint(a.Data); err != nil || got != "[1 <nil> <nil>]" {
		t.Errorf("%s %v", got, err)
	}
}
