package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"sundry/upstreams/fixtures"
)

// summarize says for each endpoint whether it works, and what it depends on.
func summarize(out io.Writer, p palette, prospects []fixtures.Prospect) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, err := fmt.Fprintln(table, "\nENDPOINT\tWORKING\tIF A SOURCE FAILS")
	without, alone := 0, 0
	for i := range prospects {
		e := &prospects[i]
		color := uncolored
		switch {
		case !e.Served():
			without++
			color = red
		case len(e.DependsOn) > 0:
			alone++
			color = yellow
		}
		if _, err = fmt.Fprintf(table, "%s\t%d of %d\t%s\n", e.Endpoint, e.Working, e.Sources, p.paint(color, e.Outlook())); err != nil {
			return err
		}
	}
	if err := errors.Join(err, table.Flush()); err != nil {
		return err
	}
	color := green
	if without > 0 {
		color = red
	}
	_, err = fmt.Fprintf(out, "\n%s: %s, %d with answers that only one source has\n",
		plural(len(prospects), "endpoint"), p.paint(color, fmt.Sprintf("%d without a working source", without)), alone)
	return err
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
