package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"sundry/upstreams/recorded"
)

// progress returns what is told of each source as it is finished: a line with its
// number, or nothing if nobody watches. It is safe for concurrent use.
func (d *doctorCmd) progress(w *process, total int) func(*recorded.Finding) {
	watched := isTerminal(w.stderr)
	if d.Progress != nil {
		watched = *d.Progress
	}
	if !watched {
		return func(*recorded.Finding) {}
	}
	var mu sync.Mutex
	done := 0
	return func(f *recorded.Finding) {
		mu.Lock()
		defer mu.Unlock()
		done++
		_, _ = fmt.Fprintf(w.stderr, "[%*d/%d] %s/%s: %s in %s\n", len(fmt.Sprint(total)), done, total, f.Endpoint, sourceOf(f), f.Health, f.Took.Round(time.Millisecond))
	}
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// summarize says for each endpoint whether it works, and what it depends on.
func summarize(out io.Writer, prospects []recorded.Prospect) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(table, "\nENDPOINT\tWORKING\tIF A SOURCE FAILS")
	without, alone := 0, 0
	for i := range prospects {
		p := &prospects[i]
		switch {
		case p.Working == 0:
			without++
		case len(p.DependsOn) > 0:
			alone++
		}
		if _, err = fmt.Fprintf(table, "%s\t%d of %d\t%s\n", p.Endpoint, p.Working, p.Sources, outlook(p)); err != nil {
			return err
		}
	}
	if err := errors.Join(err, table.Flush()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\n%s: %d without a working source, %d with answers that only one source has\n", plural(len(prospects), "endpoint"), without, alone)
	return err
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// outlook says what becomes of an endpoint when one of its sources fails.
func outlook(p *recorded.Prospect) string {
	switch {
	case p.Working == 0:
		return "no source works now"
	case len(p.DependsOn) > 0:
		return "nobody else answers what is answered by " + strings.Join(p.DependsOn, ", ")
	case !p.Remote:
		return "computes its answers"
	}
	return "another source answers"
}
