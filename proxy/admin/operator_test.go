package admin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestOperatorsHaveNames: of their own, in any script, and nobody else's.
func TestOperatorsHaveNames(t *testing.T) {
	for _, row := range []struct{ header, user, want, refused string }{
		{header: "alice", want: "alice"},
		{header: "  alice%20b ", want: "alice b"},
		{header: "%E7%8E%8B%E4%BA%94", want: "王五"},
		{user: "bob", want: "bob"},
		{header: "alice", user: "bob", want: "alice"},
		{want: "unnamed, from 192.0.2.1"},
		{header: "%", refused: "percent-encoded"},
		{header: "a%0Ab", refused: "printable"},
		{header: "a%E2%80%AEb", refused: "printable"}, // turns what follows around
		{header: "%FF", refused: "printable"},
		{header: strings.Repeat("%E7%8E%8B", 40), want: strings.Repeat("王", 40)},
		{header: strings.Repeat("a", 41), refused: "at most 40"},
		{header: "Autopilot", refused: "no operator"},
		{user: "sundry", refused: "no operator"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		if row.header != "" {
			r.Header.Set(operatorHeader, row.header)
		}
		if row.user != "" {
			r.SetBasicAuth(row.user, "x")
		}
		name, err := operator(r)
		switch {
		case row.refused == "" && (err != nil || name != row.want):
			t.Errorf("%q %q: %q, %v; want %q", row.header, row.user, name, err, row.want)
		case row.refused != "" && (err == nil || !strings.Contains(err.Error(), row.refused) || statusOf(err) != http.StatusBadRequest):
			t.Errorf("%q %q: %q, %v; want an error with %q", row.header, row.user, name, err, row.refused)
		}
	}
}
