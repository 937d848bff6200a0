//go:build linux

// Command compare measures what a request costs Sundry, and what it costs others who
// do the same work: a bare net/http handler, nginx and Varnish, all in one run on one
// machine. Only ratios within a run mean something, so servers take turns in every
// round and medians of all rounds count. It measures nothing that it did not check:
// the answers are right, hits are hits, caches do not ask their origin, and no request
// failed. deploy/bench/run.sh runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"time"

	"sundry/deploy/bench/harness"
)

// options are what the caller may choose.
type options struct {
	harness.Options
	rounds int
	span   time.Duration // of each measurement
	only   []string      // names of rows; empty: all
}

func main() { os.Exit(harness.Main("compare", run)) }

func readOptions(args []string, messages io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("run.sh", flag.ContinueOnError)
	f.SetOutput(messages)
	f.IntVar(&o.rounds, "rounds", 5, "rounds, of which the median counts")
	seconds := f.Float64("seconds", 2, "seconds of each measurement; below 1 the load does not come from wrk")
	only := f.String("only", "", "rows to measure, separated by commas: "+strings.Join(rowNames(), ", "))
	o.Flags(f, "deploy/bench/README.md and deploy/sizing.md")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.span = time.Duration(*seconds * float64(time.Second))
	o.only = strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })
	if f.NArg() > 0 || o.rounds < 1 || o.span < 50*time.Millisecond || o.span >= time.Second && o.span%time.Second != 0 {
		return nil, errors.New("expected at least one round, 0.05 to 1 or a whole number of seconds, and no arguments; see -h")
	}
	if o.Write && len(o.only) > 0 {
		return nil, errors.New("--write is for all rows")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out, messages io.Writer) error {
	o, err := readOptions(args, messages)
	if err != nil {
		return err
	}
	rows, err := chooseRows(o.only)
	if err != nil {
		return err
	}
	h, err := harness.New(ctx, messages, &o.Options)
	if err != nil {
		return err
	}
	b := &bench{
		Bench: h, options: o, servers: map[string]*server{}, results: newResults(), answered: map[string]int{}, etags: map[string]string{},
		smallest: map[string]int64{},
	}
	defer b.Close()
	if err := b.measure(rows); err != nil {
		return b.WithLogs(err)
	}
	r := b.report(rows)
	if _, err := io.WriteString(out, r.whole()); err != nil || !o.Write {
		return err
	}
	return r.write(".")
}
