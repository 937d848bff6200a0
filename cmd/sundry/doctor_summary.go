package main

import (
	"fmt"
	"strings"

	"sundry/metrics/words"
	"sundry/upstreams/fixtures"
)

// summarize says for each endpoint whether it works, and what it depends on.
func summarize(w *process, prospects []fixtures.Prospect) error {
	l, p := w.language(), w.paletteOf(w.stdout)
	rows := [][]string{{l.Say("ENDPOINT", "接口"), l.Say("WORKING", "可用"), l.Say("IF A SOURCE FAILS", "某个数据源失败时")}}
	colors := map[string]int{}
	for i := range prospects {
		e := &prospects[i]
		color := colorOf(e)
		colors[color]++
		working := words.Sayf("%d of %d", "%d/%d", e.Working, e.Sources)
		rows = append(rows, []string{e.Endpoint, l.Of(working), p.paint(color, l.Of(e.Outlook()))})
	}
	total := l.Of(totalOf(p, len(prospects), colors[red], colors[yellow]))
	_, err := fmt.Fprintf(w.stdout, "\n%s\n%s\n", aligned(rows), total)
	return err
}

// colorOf is red for an endpoint without a working source, yellow for one with answers that only one source has.
func colorOf(e *fixtures.Prospect) string {
	switch {
	case !e.Served():
		return red
	case len(e.DependsOn) > 0:
		return yellow
	}
	return uncolored
}

// totalOf counts endpoints, those without a working source, and those with answers that only one source has.
func totalOf(p palette, all, without, alone int) words.Text {
	color := green
	if without > 0 {
		color = red
	}
	bad := words.Say(p.paint(color, fmt.Sprintf("%d without a working source", without)),
		p.paint(color, fmt.Sprintf("%d 个没有可用的数据源", without)))
	endpoints := words.Say(plural(all, "endpoint"), fmt.Sprintf("%d 个接口", all))
	return words.Sayf("%s: %s, %d with answers that only one source has", "%s：%s，%d 个有只靠一个数据源的结果", endpoints, bad, alone)
}

// aligned are the lines of a table, of which all rows have as many cells. Its last column may be of any width.
func aligned(rows [][]string) string {
	var widths []int
	for _, row := range rows {
		for at, cell := range row[:len(row)-1] {
			if at == len(widths) {
				widths = append(widths, 0)
			}
			widths[at] = max(widths[at], columnsOf(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for at, width := range widths {
			b.WriteString(padded(row[at], width) + "  ")
		}
		b.WriteString(row[len(widths)] + "\n")
	}
	return b.String()
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
