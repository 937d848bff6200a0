package advise

import (
	"math"
	"testing"
)

// spansOf makes spans of a minute each, of which some changed.
func spansOf(found string) []span {
	const minute = 60_000
	var out []span
	for i, f := range found {
		out = append(out, span{from: int64(i) * minute, to: int64(i+1) * minute, found: map[rune]Outcome{'c': Changed, '.': Unchanged, '?': First}[f]})
	}
	return out
}

// TestRates of equal spans are known in closed form: log((n+1/2)/(n-x+1/2)) for each.
func TestRates(t *testing.T) {
	for found, want := range map[string]float64{
		"":         0,
		"....":     0,
		"????":     0,
		"..c.":     math.Log(4.5 / 3.5),
		"?c..?":    math.Log(3.5 / 2.5),
		"cccccc":   math.Log(6.5 / 0.5),
		"c.c.c.c.": math.Log(8.5 / 4.5),
	} {
		// The equation has half the mean in place of the half changes: nearly the same.
		if got := rateOf(spansOf(found)) * 60_000; math.Abs(got-want) > want/20 {
			t.Errorf("%q: %.4f changes a span, want %.4f", found, got, want)
		}
	}
}

// TestPartsOfSpans: what lies wholly inside, a part, and what touches nothing that changed.
func TestPartsOfSpans(t *testing.T) {
	c := &course{spans: spansOf("..c..")}
	c.complete()
	c.power = 1
	for _, row := range []struct {
		from, to int64
		want     float64
	}{
		{0, 60_000, 0}, {120_000, 180_000, 1}, {60_000, 240_000, 1}, {120_000, 150_000, 0.5}, {150_000, 299_000, 0.5}, {180_000, 240_000, 0},
	} {
		b := &blame{masses: make([]float64, 1), changes: []float64{1}}
		if got := c.old(int(row.from/60_000), row.from, row.to, 1, b); math.Abs(got-row.want) > 0.05 || math.Abs(b.masses[0]-got) > 1e-9 {
			t.Errorf("%d to %d ms: %.3f, blamed %.3f, want %.3f", row.from, row.to, got, b.masses[0], row.want)
		}
	}
}
