// Command bench measures what requests cost Sundry, and what they cost others who do the
// same work: a bare net/http handler, httputil.ReverseProxy, nginx and Varnish, all in one
// run on one machine. Only ratios within a run mean something, so servers take turns in
// every round and medians of all rounds count, of what has passed its checks.
//
//	taskset -c 1 go run ./deploy/bench
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) > 0 && args[0] == bareCommand {
		return serveBare(context.Background(), args[1:])
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	b, err := readOptions(args, os.Stderr)
	if err != nil {
		return err
	}
	if runtime.NumCPU() > 1 {
		return errors.New("expected a core of its own for the load, other than the first: run it by taskset -c 1")
	}
	defer b.stop()
	if err := b.measure(ctx); err != nil {
		return fmt.Errorf("%w; logs and settings are in %s", err, b.dir)
	}
	fmt.Print(b.report())
	return os.RemoveAll(b.dir)
}

func readOptions(args []string, messages io.Writer) (*bench, error) {
	b := &bench{transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, servers: map[string]*server{}, results: results{}} //nolint:gosec // servers of the bench's own
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(messages)
	f.IntVar(&b.rounds, "rounds", 5, "rounds, of which the median counts")
	f.IntVar(&b.seconds, "seconds", 2, "seconds of each measurement")
	only := f.String("only", "", "rows to measure, separated by commas: "+strings.Join(rowNames(), ", "))
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if f.NArg() > 0 || b.rounds < 1 || b.seconds < 1 {
		return nil, errors.New("expected at least one round, one second, and no arguments; see -h")
	}
	var err error
	b.rows, err = chooseRows(strings.FieldsFunc(*only, func(r rune) bool { return r == ',' }))
	return b, err
}
