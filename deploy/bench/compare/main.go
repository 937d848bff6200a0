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
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// options are what the caller may choose.
type options struct {
	rounds int
	span   time.Duration // of each measurement
	only   []string      // names of rows; empty: all
	keep   bool          // the directory with logs and settings
	write  bool          // into the documents
	sundry string        // a program to measure instead of a new build
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "compare:", err)
		}
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func readOptions(args []string, messages io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("run.sh", flag.ContinueOnError)
	f.SetOutput(messages)
	f.IntVar(&o.rounds, "rounds", 5, "rounds, of which the median counts")
	seconds := f.Float64("seconds", 2, "seconds of each measurement; below 1 the load does not come from wrk")
	only := f.String("only", "", "rows to measure, separated by commas: "+strings.Join(rowNames(), ", "))
	f.BoolVar(&o.keep, "keep", false, "keep the directory with logs and settings")
	f.BoolVar(&o.write, "write", false, "write the figures into README.md, deploy/bench/README.md and deploy/sizing.md")
	f.StringVar(&o.sundry, "sundry", "", "program to measure instead of one that is built now")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.span = time.Duration(*seconds * float64(time.Second))
	o.only = strings.FieldsFunc(*only, func(r rune) bool { return r == ',' })
	if f.NArg() > 0 || o.rounds < 1 || o.span < 50*time.Millisecond || o.span >= time.Second && o.span%time.Second != 0 {
		return nil, errors.New("expected at least one round, 0.05 to 1 or a whole number of seconds, and no arguments; see -h")
	}
	if o.write && len(o.only) > 0 {
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
	dir, err := os.MkdirTemp("", "sundry-bench-")
	if err != nil {
		return err
	}
	b := &bench{
		ctx: ctx, options: o, dir: dir, messages: messages, transport: &http.Transport{DisableCompression: true},
		servers: map[string]*server{}, results: newResults(), answered: map[string]int{}, etags: map[string]string{}, smallest: map[string]int64{},
	}
	if o.keep {
		b.say("logs and settings are kept in %s", dir)
	} else {
		defer func() { _ = os.RemoveAll(dir) }() // the system clears it else
	}
	defer b.stop()
	if err := b.measure(rows); err != nil {
		return errors.Join(err, b.logs(o.keep))
	}
	r := b.report(rows)
	if _, err := io.WriteString(out, r.whole()); err != nil || !o.write {
		return err
	}
	return r.write(".")
}

// logs tells what servers said, where the caller cannot look it up.
func (b *bench) logs(kept bool) error {
	if kept {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(b.dir, "*.log"))
	var errs []error
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && len(text) > 0 { //nolint:gosec // found above
			errs = append(errs, fmt.Errorf("%s: %s", filepath.Base(file), lastLines(string(text), 3)))
		}
	}
	return errors.Join(errs...)
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n\t")
}
