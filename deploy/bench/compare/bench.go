//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// bench is one run.
type bench struct {
	ctx context.Context //nolint:containedctx // it is that of the program
	*options
	dir                  string
	messages             io.Writer
	transport            *http.Transport // of the bench's own questions
	serverCore, loadCore int
	express              bool // the setting exists
	processes            []*process
	servers              map[string]*server // by name
	results              *results
	// answered counts answers by row and column, for rows that go on where they were.
	answered map[string]int
	items    int               // that were asked for
	etags    map[string]string // by URL
	smallest map[string]int64  // body that was seen, by row
}

// server is one of those that are compared.
type server struct {
	name    string
	process *process
	address string
	admin   string // of Sundry
	peek    string // address of nginx that says whether its answer was a hit
	origin  *server
}

func (s *server) url(path string) string { return "http://" + s.address + path }

// measure starts what the rows need, and goes through the rounds.
func (b *bench) measure(rows []*row) error {
	var err error
	if b.serverCore, b.loadCore, err = cores(); err != nil {
		return err
	}
	if err := b.build(); err != nil {
		return err
	}
	if err := b.startServers(rows); err != nil {
		return err
	}
	if err := pin(b.loadCore); err != nil {
		return err
	}
	for _, r := range rows {
		if err := b.prepare(r); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	for round := range b.rounds {
		for _, r := range rows {
			if err := b.round(r, round); err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
		}
	}
	return nil
}

// round measures each server of a row, every time beginning with another.
func (b *bench) round(r *row, round int) error {
	if r.measure != nil {
		return r.measure(b, r, round)
	}
	present := b.present(r)
	for i := range present {
		column := present[(i+round)%len(present)]
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if err := b.tryCost(r, column, round); err != nil {
			return fmt.Errorf("%s: %w", column, err)
		}
	}
	return nil
}

// present are the columns of a row that can be measured.
func (b *bench) present(r *row) []string {
	return slices.DeleteFunc(slices.Clone(columns()), func(column string) bool { return b.servers[r.servers[column]] == nil })
}

// attempts are how often a measurement may fail before the run does. A busy machine
// makes requests time out; whatever the reason, only one that passes its checks counts.
const attempts = 3

func (b *bench) tryCost(r *row, column string, round int) error {
	var err error
	for range attempts {
		if err = b.cost(r, column, round); err == nil || b.ctx.Err() != nil {
			return err
		}
		b.say("round %d  %-12s %-14s does not count: %v", round+1, r.name, column, err)
	}
	return err
}

// cost measures the CPU of one request.
func (b *bench) cost(r *row, column string, round int) error {
	s := b.servers[r.servers[column]]
	paths := r.paths(b, s, round)
	watch, err := b.watch(r, s)
	if err != nil {
		return err
	}
	before, err := s.process.cpu()
	if err != nil {
		return err
	}
	done, err := b.load(r, s, paths)
	if err != nil {
		return err
	}
	after, err := s.process.cpu()
	if err != nil {
		return err
	}
	if err := watch.check(r, done, len(paths)); err != nil {
		return err
	}
	each := (after - before).Seconds() * 1e6 / float64(done.answers)
	b.results.add(r.name, column, each)
	b.say("round %d  %-12s %-14s %8.2f µs  %8.0f/s", round+1, r.name, column, each, float64(done.answers)/done.span.Seconds())
	return nil
}

// say tells whoever waits how far it is.
func (b *bench) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.messages, format+"\n", args...) // nobody reads it if it fails
}

// build makes the programs of this repository, unless one was given.
func (b *bench) build() error {
	programs := map[string]string{"bare": "./deploy/bench/bare"}
	if b.sundry == "" {
		b.sundry = filepath.Join(b.dir, "sundry")
		programs["sundry"] = "./cmd/sundry"
	}
	for name, from := range programs {
		out, err := exec.CommandContext(b.ctx, "go", "build", "-o", filepath.Join(b.dir, name), from).CombinedOutput() //nolint:gosec // from the lines above
		if err != nil {
			return fmt.Errorf("building %s: %w: %s", name, err, out)
		}
	}
	return nil
}

// stop ends all servers.
func (b *bench) stop() {
	for _, p := range b.processes {
		p.terminate()
	}
	for _, p := range b.processes {
		p.stop()
	}
}

// freePort is a port that nobody listened on a moment ago.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	defer func() { _ = l.Close() }() // nothing was accepted
	return l.Addr().String(), nil
}

// until waits for something that takes no longer than a few seconds.
func (b *bench) until(what string, ready func() bool, p *process) error {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if ready() {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s: the server ended", what)
		case <-b.ctx.Done():
			return b.ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s: not within 20 seconds", what)
}
