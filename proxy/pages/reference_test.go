package pages

import (
	"strings"
	"testing"
)

// TestReferenceForPeople: every endpoint and parameter, escaped, without
// anything from elsewhere.
func TestReferenceForPeople(t *testing.T) {
	c := builtin(t)
	d := pageOf(t, c, ReferencePath)
	text := textOf(d)
	if !strings.Contains(text, "<title>Sundry: API</title>") || !strings.HasPrefix(d.CSP, "default-src 'none'") {
		t.Errorf("title or policy %q", d.CSP)
	}
	for _, e := range c.Endpoints {
		if !strings.Contains(text, `id="`+e.Name+`"`) || !strings.Contains(text, e.ZH) {
			t.Errorf("%s: not described", e.Name)
		}
		for _, p := range e.Params {
			if !p.Derived() && !strings.Contains(text, "<td>"+p.Name) {
				t.Errorf("%s: parameter %s is not there", e.Name, p.Name)
			}
		}
	}
	for _, row := range []string{"<td>latitude</td><td>number, null</td><td>Degrees north", "<td>birthday</td><td>date, null</td>", "<td>reasons</td><td>array of string</td>"} {
		if !strings.Contains(text, row) {
			t.Errorf("%s is not there", row)
		}
	}
	for _, foreign := range []string{"<script", "src=", "@import", "url("} {
		if strings.Contains(text, foreign) {
			t.Errorf("the page holds %s", foreign)
		}
	}
}
