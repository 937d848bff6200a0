//go:build linux

// Command scaling measures what grows with instances, keys and requests: the round trips
// to Redis of each kind of request, the CPU of Sundry and of Redis for it with one, two
// and four instances, the memory of an entry in both tiers, and what an instance costs
// that nobody asks. It checks that requests were of the kind that is measured. From the
// figures it computes how many instances a load takes. deploy/bench/scaling.sh runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/deploy/bench/harness"
)

// options are what the caller may choose.
type options struct {
	harness.Options
	keys      []int // sizes of the near tier and of Redis, ascending
	instances []int
	span      time.Duration // of each measurement of hits
	rounds    int
}

func main() { os.Exit(harness.Main("scaling", run)) }

func readOptions(args []string, messages io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("scaling.sh", flag.ContinueOnError)
	f.SetOutput(messages)
	keys := f.String("keys", "1000,10000,100000,1000000", "numbers of keys, ascending, separated by commas")
	instances := f.String("instances", "1,2,4", "numbers of instances, separated by commas")
	seconds := f.Float64("seconds", 2, "seconds of each measurement of hits, and three times as many of instances that are not asked")
	f.IntVar(&o.rounds, "rounds", 3, "rounds of the measurements of instances, of which the median counts")
	o.Flags(f, "deploy/scaling.md and deploy/sizing.md")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	o.span = time.Duration(*seconds * float64(time.Second))
	var err1, err2 error
	o.keys, err1 = numbers(*keys, 100)
	o.instances, err2 = numbers(*instances, 1)
	if f.NArg() > 0 || o.rounds < 1 || o.span < 50*time.Millisecond || err1 != nil || err2 != nil {
		return nil, errors.Join(errors.New("expected at least one round, 0.05 seconds, 100 keys and one instance, and no arguments; see -h"), err1, err2)
	}
	return o, nil
}

// numbers reads ascending ones, the first at least that large.
func numbers(list string, least int) ([]int, error) {
	var out []int
	for word := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	if out[0] < least || !slices.IsSorted(out) {
		return nil, fmt.Errorf("%s: expected ascending numbers of at least %d", list, least)
	}
	return out, nil
}

func run(ctx context.Context, args []string, out, messages io.Writer) error {
	o, err := readOptions(args, messages)
	if err != nil {
		return err
	}
	h, err := harness.New(ctx, messages, &o.Options)
	if err != nil {
		return err
	}
	defer h.Close()
	b := &bench{Bench: h, options: o, prefix: map[string]string{}}
	others := harness.WatchOthers()
	figures, err := b.measure()
	if err != nil {
		return b.WithLogs(err)
	}
	h.Close() // or what runs would count as others
	r := b.report(figures, time.Now(), others.Warning())
	if _, err := io.WriteString(out, r.whole()); err != nil || !o.Write {
		return err
	}
	return r.write(".")
}
