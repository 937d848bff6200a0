package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"sundry/upstreams/fixtures"
)

// clearLine goes back to the beginning of the line of a terminal, and clears it.
const clearLine = "\r\x1b[K"

// progress shows how far the doctor has come. It is safe for concurrent use.
type progress struct {
	out     io.Writer
	total   int
	redrawn bool // one line, drawn again for each source; else a line for each

	mu            sync.Mutex
	done, unsound int
}

// newProgress is nil if nobody watches.
func (d *doctorCmd) newProgress(w *process, total int) *progress {
	seen := w.isTerminal(w.stderr)
	if d.Progress != nil && !*d.Progress || d.Progress == nil && !seen {
		return nil
	}
	return &progress{out: w.stderr, total: total, redrawn: seen}
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
	text := []rune(fmt.Sprintf("%s %d not well  %s", count, p.unsound, line))
	_, _ = fmt.Fprint(p.out, clearLine, string(text[:min(len(text), columns(p.out)-1)]))
}

// end clears the line.
func (p *progress) end() {
	if p != nil && p.redrawn {
		_, _ = fmt.Fprint(p.out, clearLine)
	}
}
