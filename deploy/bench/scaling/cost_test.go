//go:build linux

package main

import (
	"strings"
	"testing"
)

// TestRequestsOfAnotherKindAreNoFigure: neither those that instances count as something
// else, nor hits that did not come from where they should.
func TestRequestsOfAnotherKindAreNoFigure(t *testing.T) {
	of := func(hits, misses, found float64) counts {
		return counts{map[string]float64{"hit": hits, "miss": misses}, found}
	}
	for name, c := range map[string]struct {
		kind          kind
		before, after counts
		want          string // "" is no error
	}{
		"near hits":                {nearHit, of(5, 3, 2), of(105, 3, 2), ""},
		"near hits from Redis":     {nearHit, of(5, 3, 2), of(105, 3, 3), "1 came from redis: expected 0"},
		"a miss among hits":        {nearHit, of(5, 3, 2), of(104, 4, 2), "99 were counted as hit"},
		"one that was not counted": {nearHit, of(5, 3, 2), of(104, 3, 2), "99 were counted as hit"},
		"far hits":                 {farHit, of(0, 0, 0), of(100, 0, 100), ""},
		"far hits from memory":     {farHit, of(0, 0, 0), of(100, 0, 99), "99 came from redis: expected 100"},
		"misses":                   {miss, of(0, 0, 0), of(0, 100, 0), ""},
		"misses that were found":   {miss, of(0, 0, 0), of(100, 0, 100), "0 were counted as miss"},
	} {
		err := c.kind.check(c.before, c.after, 100)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, expected %q", name, err, c.want)
		}
	}
}
