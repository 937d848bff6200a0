//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"sundry/deploy/bench/harness"
)

// report is what was measured, as Markdown.
type report struct {
	results *results
	rows    []*row
	machine string
	rounds  string
}

// setting is how the figures came about, behind the machine.
const setting = "; loopback, no TLS; the server on one core, the load on another, 64 connections."

func (b *bench) report(rows []*row) *report {
	return &report{results: b.results, rows: rows, machine: b.Machine("nginx", "Varnish", "Redis", "wrk") + setting,
		rounds: fmt.Sprintf("Medians of %d rounds of %v for each figure; in every round the servers take turns.", b.rounds, b.span)}
}

// whole is everything.
func (r *report) whole() string {
	parts := []string{r.machine + "\n\n" + r.rounds + "\n", r.goals(), r.costs(), r.latencies()}
	var out []string
	for _, part := range parts {
		if part != "" {
			out = append(out, part)
		}
	}
	return strings.Join(out, "\n")
}

// goals is the table of ratios.
func (r *report) goals() string {
	var out strings.Builder
	for _, g := range goals() {
		ratios := r.results.ratios(g)
		if len(ratios) == 0 {
			continue
		}
		result := "met"
		if harness.Median(ratios) > g.most {
			result = "**missed**"
		}
		fmt.Fprintf(&out, "| %s | %s | ≤ %.2f | %s |\n", g.what, spread(ratios), g.most, result)
	}
	return table("| ratio | median (least–greatest round) | goal | |\n|---|---|---|---|\n", out.String())
}

// costs is the table of CPU.
func (r *report) costs() string {
	var out strings.Builder
	for _, row := range r.rows {
		cells := r.cells(row.name, "%.1f")
		if row.measure == nil && len(cells) > 0 {
			fmt.Fprintf(&out, "| %s | %s | `%s` |\n", row.title, strings.Join(cells, " | "), row.name)
		}
	}
	return table("| µs of CPU for a request | "+strings.Join(headings(), " | ")+" | row |\n|---|"+strings.Repeat("---|", len(columns())+1)+"\n", out.String())
}

// latencies is the table of latencies.
func (r *report) latencies() string {
	var out strings.Builder
	for _, name := range []string{"p50", "p99", "p99.9"} {
		if cells := r.cells("latency "+name, "%.0f"); len(cells) > 0 {
			fmt.Fprintf(&out, "| %s | %s |\n", name, strings.Join(cells, " | "))
		}
	}
	return table("| µs, at 5,000 requests a second | "+strings.Join(headings(), " | ")+" |\n|---|"+strings.Repeat("---|", len(columns()))+"\n", out.String())
}

func headings() []string {
	out := columns()
	for i, column := range out {
		if strings.Contains(column, ":") {
			out[i] = "`" + column + "`"
		}
	}
	return out
}

// cells are the medians of a row in all columns; none if nothing was measured.
func (r *report) cells(name, format string) []string {
	var out []string
	any := false
	for _, column := range columns() {
		v, ok := r.results.median(name, column)
		any = any || ok
		cell := "–"
		if ok {
			cell = fmt.Sprintf(format, v)
		}
		out = append(out, cell)
	}
	if !any {
		return nil
	}
	return out
}

// sizes is the table of sizing.md: how much one core does.
func (r *report) sizes() string {
	var out strings.Builder
	for _, row := range r.rows {
		if v, ok := r.results.median(row.name, withExpress); ok && row.measure == nil {
			title, _, _ := strings.Cut(row.title, "; net/http")
			fmt.Fprintf(&out, "| %s | %.0f | %.1f µs |\n", title, 1e6/v, v)
		}
	}
	return table("| request | per second on one core | CPU of each |\n|---|---|---|\n", out.String())
}

func table(head, rows string) string {
	if rows == "" {
		return ""
	}
	return head + rows
}

// Marks around the figures in documents.
const (
	beginMark = "<!-- speed: made by `deploy/bench/run.sh --write` -->\n"
	endMark   = "<!-- end of speed -->\n"
)

// write puts the figures into the documents below the root of the repository.
func (r *report) write(root string) error {
	for file, text := range map[string]string{
		"deploy/bench/README.md": r.whole(),
		"deploy/sizing.md":       r.machine + "\n\n" + r.sizes(),
	} {
		if err := harness.ReplaceFigures(filepath.Join(root, file), beginMark, text, endMark); err != nil {
			return err
		}
	}
	return nil
}
