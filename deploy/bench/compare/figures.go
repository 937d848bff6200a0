//go:build linux

package main

import (
	"fmt"
	"slices"

	"sundry/deploy/bench/harness"
)

// results are the figures of all rounds, by row and column.
type results struct{ rounds map[[2]string][]float64 }

func newResults() *results { return &results{map[[2]string][]float64{}} }

func (r *results) add(row, column string, v float64) {
	key := [2]string{row, column}
	r.rounds[key] = append(r.rounds[key], v)
}

// median is that of all rounds; false if there was none.
func (r *results) median(row, column string) (float64, bool) {
	all := r.rounds[[2]string{row, column}]
	return harness.Median(all), len(all) > 0
}

// figure is one cell: what was measured of a row in a column.
type figure struct{ row, column string }

// goal is a bound of the ratio of two figures, or of one figure.
type goal struct {
	what   string
	of, to figure // to is empty where the figure is a ratio by itself
	most   float64
}

func goals() []goal {
	return []goal{
		{"hit, 1 kB, to nginx", figure{"hit-1k", withExpress}, figure{"hit-1k", nginx}, 0.80},
		{"hit, 8 kB, to nginx", figure{"hit-8k", withExpress}, figure{"hit-8k", nginx}, 1},
		{"pool of 10, to nginx", figure{"pool-10", withExpress}, figure{"pool-10", nginx}, 1},
		{"304, to nginx", figure{"304", withExpress}, figure{"304", nginx}, 1},
		{"HEAD, to nginx", figure{"head", withExpress}, figure{"head", nginx}, 1},
		{"hit, 1 kB, with `express: false`, to net/http", figure{"hit-1k", withoutExpress}, figure{"hit-1k", bareHandler}, 1.12},
		{"10,000 keys, to one key", figure{"zipf", withExpress}, figure{"one-key", withExpress}, 1.15},
		{"pool of 10,000, to pool of 10", figure{"pool-10000", withExpress}, figure{"pool-10", withExpress}, 1.05},
		{"miss, 1 kB, to `httputil.ReverseProxy`", figure{"miss", withExpress}, figure{"miss", bareHandler}, 2},
		{"hit of Redis, to one GET by go-redis", figure{"redis", withExpress}, figure{"redis", bareHandler}, 1.2},
		{"p99 at 5,000 requests a second, to nginx", figure{"latency p99", withExpress}, figure{"latency p99", nginx}, 1.3},
		{"memory of 100,000 entries of 1 kB, to their bytes", figure{"memory", withExpress}, figure{}, 1.5},
	}
}

// ratios are those of a goal, one of each round.
func (r *results) ratios(g goal) []float64 {
	of, to := r.rounds[[2]string{g.of.row, g.of.column}], r.rounds[[2]string{g.to.row, g.to.column}]
	if g.to == (figure{}) {
		return of
	}
	var out []float64
	for i := range min(len(of), len(to)) {
		out = append(out, of[i]/to[i])
	}
	return out
}

// spread is the median of ratios with the least and the greatest.
func spread(ratios []float64) string {
	if len(ratios) == 1 {
		return fmt.Sprintf("%.2f", ratios[0])
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", harness.Median(ratios), slices.Min(ratios), slices.Max(ratios))
}
