package main

import (
	"errors"
	"fmt"
)

// prepare starts the servers of a row, fills their caches, and checks that their answers
// are those that the row is about.
func (b *bench) prepare(r *row) error {
	for _, name := range r.servers {
		if _, err := b.started(name); err != nil {
			return err
		}
	}
	if r.ready != nil {
		if err := r.ready(b, r); err != nil {
			return err
		}
	}
	for _, name := range r.servers {
		s := b.servers[name]
		paths := r.paths(b, s)
		for _, path := range []string{paths[0], paths[0], paths[len(paths)-1]} { // the second time it is a hit
			answer, err := b.ask(r, s, path)
			if err = errors.Join(err, r.right(path, answer)); err != nil {
				return fmt.Errorf("%s: %s: %w", name, path, err)
			}
		}
	}
	return nil
}

// differ is by how many bytes answers to a row may: they have different numbers in them,
// and where Sundry maps what it fetches, other names.
const differ = 60

// right compares an answer with what the row is about, and with the first to that path,
// which was Sundry's.
func (r *row) right(path string, got reply) error {
	if len(r.bodies) == 0 {
		r.bodies, r.size = map[string]string{}, len(got.body)
	}
	want, known := r.bodies[path]
	if !known {
		r.bodies[path] = got.body
	}
	d := len(got.body) - r.size
	switch {
	case got.status != r.good():
		return fmt.Errorf("expected status %d, got %d: %.100s", r.good(), got.status, got.body)
	case d < -differ || d > differ || known && !r.varies && got.body != want:
		return fmt.Errorf("expected the %d bytes of Sundry, got %d: %.100s", r.size, len(got.body), got.body)
	}
	return nil
}

// check fails if requests failed, if answers had too few bytes, if Sundry has not counted
// all as what the row is about, or if a cache asked the Sundry behind it.
func (r *row) check(s *server, done outcome, used usage) error {
	answers := float64(done.answers)
	switch {
	case done.failed > 0 || done.answers < 10:
		return fmt.Errorf("%d of %d requests failed", done.failed, done.answers)
	case done.bytes/done.answers < r.size-differ:
		return fmt.Errorf("%d bytes for each answer, expected %d", done.bytes/done.answers, r.size)
	case s.isCache() && used.requests > 0:
		return fmt.Errorf("it asked Sundry %.0f times", used.requests)
	case s.isSundry() && (used.good < answers || used.good < used.requests-s.leaving()):
		return fmt.Errorf("of %.0f answers Sundry counted %.0f, %.0f as %s", answers, used.requests, used.good, r.counted)
	case s.name == sundryRedis && used.stored < 0.99*answers:
		return fmt.Errorf("of %.0f hits only %.0f came from Redis", answers, used.stored)
	}
	return nil
}

// leaving is how many requests may be counted as something else: wrk ends in the middle of one on each connection, and
// who leaves an API is counted as gone.
func (s *server) leaving() float64 {
	if s.name == sundryAPI {
		return connections
	}
	return 0
}

// takeETag makes the requests of a row conditional.
func takeETag(b *bench, r *row) error {
	answer, err := b.ask(&row{}, b.servers[sundryReplay], digestPath)
	r.header = map[string]string{"If-None-Match": answer.header.Get("ETag")}
	return err
}
