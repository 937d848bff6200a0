package web

import (
	"net/http"
	"testing"
)

// TestRoutingFieldsSelect whatever Vary says: neither has what others have sent an effect on who sends none, nor the other way
// round.
func TestRoutingFieldsSelect(t *testing.T) {
	for _, name := range Routing() {
		if http.CanonicalHeaderKey(name) != name {
			t.Errorf("%s is found in no header", name)
		}
		for _, row := range []struct {
			stored, asked string
			want          bool
		}{
			{"X-A: 1", "X-A: 1", true},
			{"X-A: 1", "X-A: 2", true},
			{"X-A: 1", name + ": a", false},
			{name + ": a", "X-A: 1", false},
			{name + ": a", name + ": b", false},
			{name + ": a", name + ": a", true},
		} {
			r := received(http.StatusOK, "Cache-Control: max-age=600")
			terms := TermsOf(r, &usualRules)
			o := NewObject(r, &terms, selector(row.stored), &usualRules)
			if got := (Variants{o}).Select(selector(row.asked), true) != nil; got != row.want {
				t.Errorf("%+v: %v", row, got)
			}
		}
	}
}
