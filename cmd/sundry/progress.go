package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"sundry/upstreams/fixtures"
)

// progress shows how far the doctor has come. It is safe for concurrent use.
type progress struct {
	out     io.Writer
	total   int
	redrawn bool // one line, drawn again for each source; else a line for each
	palette palette

	mu            sync.Mutex
	done, unsound int
}

// newProgress is nil if nobody watches.
func (d *doctorCmd) newProgress(w *process, total int) *progress {
	seen := w.isTerminal(w.stderr)
	if d.Progress != nil && !*d.Progress || d.Progress == nil && !seen {
		return nil
	}
	return &progress{out: w.stderr, total: total, redrawn: seen, palette: w.paletteOf(w.stderr)}
}

// finished tells of a source. On nil it does nothing.
func (p *progress) finished(f *fixtures.Finding) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if f.Health != fixtures.Works {
		p.unsound++
	}
	count := fmt.Sprintf("[%*d/%d]", len(fmt.Sprint(p.total)), p.done, p.total)
	line := fmt.Sprintf("%s/%s: %s in %s", f.Endpoint, sourceOf(f), f.Health, f.Took.Round(time.Millisecond))
	if !p.redrawn {
		_, _ = fmt.Fprintln(p.out, count, line)
		return
	}
	p.redraw(count, line)
}

// redraw is called with the lock held.
func (p *progress) redraw(count, line string) {
	const width = 20
	filled := width * p.done / max(p.total, 1)
	bar := strings.Repeat("#", filled) + strings.Repeat("-", width-filled)
	tally := fmt.Sprintf("%d not well", p.unsound)
	text := []rune(fmt.Sprintf("%s %s  %s", count, tally, line))
	room := max(columns(p.out)-width-2, 0)
	_, _ = fmt.Fprintf(p.out, "\r\x1b[K%s %s", p.palette.paint(cyan, bar), string(text[:min(len(text), room)]))
}

// end clears the line.
func (p *progress) end() {
	if p != nil && p.redrawn {
		_, _ = fmt.Fprint(p.out, "\r\x1b[K")
	}
}
