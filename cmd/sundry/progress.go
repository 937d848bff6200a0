package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/fixtures"
)

// progress shows how far the doctor has come. It is safe for concurrent use.
type progress struct {
	out     io.Writer
	in      i18n.Language
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
	return &progress{out: w.stderr, in: w.language(), total: total, redrawn: seen}
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
	line := p.in.Of(words.Sayf("%s/%s: %s in %s", "%s/%s：%s，用时 %s", f.Endpoint, sourceOf(f), f.Health.Words(), f.Took.Round(time.Millisecond)))
	if !p.redrawn {
		_, _ = fmt.Fprintln(p.out, count, line)
		return
	}
	text := []rune(p.in.Of(words.Sayf("%s %d not well  %s", "%s %d 个不正常  %s", count, p.unsound, line)))
	for columnsOf(string(text)) >= columns(p.out) {
		text = text[:len(text)-1]
	}
	_, _ = fmt.Fprint(p.out, clearLine, string(text))
}

// end clears the line.
func (p *progress) end() {
	if p != nil && p.redrawn {
		_, _ = fmt.Fprint(p.out, clearLine)
	}
}
