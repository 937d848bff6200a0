package main

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
)

// figure is one cell: what was measured of a row in a column.
type figure struct{ row, column string }

// results are the figures of all rounds.
type results map[figure][]float64

// ratios are those of a goal, one of each round.
func (r results) ratios(g goal) []float64 {
	of, to := r[g.of], r[g.to]
	if g.to == (figure{}) {
		return of
	}
	var out []float64
	for i := range min(len(of), len(to)) {
		out = append(out, of[i]/to[i])
	}
	return out
}

// median of figures, of which there must be some.
func median(all []float64) float64 {
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

// report is what was measured, as Markdown.
func (b *bench) report() string {
	var costs, fleets []string
	titles := map[string]string{}
	for _, r := range b.rows {
		if titles[r.name] = r.title; r.title != "" {
			costs = append(costs, r.name)
		}
	}
	for _, k := range kinds() {
		for _, n := range fleetSizes() {
			fleets = append(fleets, k.rowName(n))
		}
	}
	r := b.results
	out := fmt.Sprintf("%s, %s; medians of %d rounds of %d s for each figure.\n",
		time.Now().UTC().Format(time.DateOnly), runtime.Version(), b.rounds, b.seconds)
	out += table("ratio", []string{"median (least–greatest round)", "goal", ""}, r.judged())
	out += table("µs of CPU for a request", columns(), r.lines(columns(), costs, titles))
	out += table("µs, at 5,000 requests a second", columns(), r.lines(columns(), []string{"p50", "p99"}, titles))
	return out + table("request", fleetColumns(), r.lines(fleetColumns(), fleets, titles))
}

// judged are the rows of goals that something was measured of.
func (r results) judged() []string {
	var out []string
	for _, g := range goals() {
		ratios := r.ratios(g)
		if len(ratios) == 0 {
			continue
		}
		result := "met"
		if median(ratios) > g.most {
			result = "**missed**"
		}
		out = append(out, fmt.Sprintf("| %s | %.2f (%.2f–%.2f) | ≤ %.2f | %s |\n", g.what,
			median(ratios), slices.Min(ratios), slices.Max(ratios), g.most, result))
	}
	return out
}

// lines are the rows, by name or title, that something was measured of in the first column.
func (r results) lines(columns, rows []string, titles map[string]string) []string {
	var out []string
	for _, row := range rows {
		cells := []string{cmp.Or(titles[row], row)}
		for _, column := range columns {
			cell := "–"
			if all := r[figure{row, column}]; len(all) > 0 {
				cell = fmt.Sprintf("%.1f", median(all))
			}
			cells = append(cells, cell)
		}
		if len(r[figure{row, columns[0]}]) > 0 {
			out = append(out, "| "+strings.Join(cells, " | ")+" |\n")
		}
	}
	return out
}

// table is empty without rows.
func table(head string, columns, rows []string) string {
	if len(rows) == 0 {
		return ""
	}
	return "\n| " + head + " | " + strings.Join(columns, " | ") + " |\n|---|" +
		strings.Repeat("---|", len(columns)) + "\n" + strings.Join(rows, "")
}
