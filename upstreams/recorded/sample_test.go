package recorded

import "testing"

// TestEveryJSONFormHasASample: what is documented comes from what was recorded.
func TestEveryJSONFormHasASample(t *testing.T) {
	c, cases := mustLoad(t, nil), mustCases(t)
	if _, err := Exchanges(c, cases); err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Endpoints {
		s := SampleOf(t.Context(), e, cases)
		if jsonForm(e) != nil && (s.Data == nil || len(s.Shape.values().Types()) == 0) {
			t.Errorf("%s: no sample", e.Name)
		}
	}
}
