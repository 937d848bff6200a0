//go:build linux

package main

import (
	"fmt"
	"slices"

	"sundry/deploy/bench/harness"
)

// bench is one run.
type bench struct {
	*harness.Bench
	*options
	serverCore, loadCore int
	express              bool               // the setting exists
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
	process *harness.Process
	address string
	admin   string // of Sundry
	peek    string // address of nginx that says whether its answer was a hit
	origin  *server
}

func (s *server) url(path string) string { return "http://" + s.address + path }

// measure starts what the rows need, and goes through the rounds.
func (b *bench) measure(rows []*row) error {
	var err error
	if b.serverCore, b.loadCore, err = harness.Cores(); err != nil {
		return err
	}
	if err := b.build(); err != nil {
		return err
	}
	if err := b.startServers(rows); err != nil {
		return err
	}
	if err := harness.Pin(b.loadCore); err != nil {
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
		if err := b.Context.Err(); err != nil {
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
		if err = b.cost(r, column, round); err == nil || b.Context.Err() != nil {
			return err
		}
		b.Say("round %d  %-12s %-14s does not count: %v", round+1, r.name, column, err)
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
	before, err := s.process.CPU()
	if err != nil {
		return err
	}
	done, err := b.load(r, s, paths)
	if err != nil {
		return err
	}
	after, err := s.process.CPU()
	if err != nil {
		return err
	}
	if err := watch.check(r, done, len(paths)); err != nil {
		return err
	}
	each := (after - before).Seconds() * 1e6 / float64(done.answers)
	b.results.add(r.name, column, each)
	b.Say("round %d  %-12s %-14s %8.2f µs  %8.0f/s", round+1, r.name, column, each, float64(done.answers)/done.span.Seconds())
	return nil
}

// build makes the programs of this repository.
func (b *bench) build() (err error) {
	if _, err = b.Build("bare", "./deploy/bench/bare"); err == nil {
		err = b.BuildSundry()
	}
	return err
}
