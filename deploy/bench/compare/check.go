//go:build linux

package main

import (
	"fmt"
	"net/http"
	"strings"

	"sundry/deploy/bench/harness"
)

// prepare fills every server's cache and checks that its answers are those that the
// row is about.
func (b *bench) prepare(r *row) error {
	fill := r.fill
	if fill == nil {
		fill = fillSamples
	}
	if err := fill(b, r); err != nil {
		return err
	}
	for _, column := range b.present(r) {
		s := b.servers[r.servers[column]]
		for _, path := range b.samples(r, s) {
			if err := b.sample(r, s, path); err != nil {
				return fmt.Errorf("%s: %s: %w", column, path, err)
			}
		}
	}
	return nil
}

// samples are paths whose answers are looked at.
func (b *bench) samples(r *row, s *server) []string {
	switch {
	case r.once && s.name == bareProxy:
		return numbered(upstreamPath, 1, 2)
	case r.once:
		return numbered(itemPath, 1, 2)
	}
	paths := r.paths(b, s, 0)
	return []string{paths[0], paths[len(paths)-1]}
}

// fillSamples asks every server for what it shall have.
func fillSamples(b *bench, r *row) error {
	for _, column := range b.present(r) {
		s := b.servers[r.servers[column]]
		if r.once {
			continue
		}
		for _, path := range b.samples(r, s) {
			if _, err := b.Get(s.url(path), r.change("")); err != nil {
				return fmt.Errorf("%s: %w", column, err)
			}
		}
	}
	return nil
}

// change makes a request one of the row.
func (r *row) change(etag string) func(*http.Request) {
	return func(req *http.Request) {
		req.Method = r.method
		for name, value := range r.headers(etag) {
			req.Header.Set(name, value)
		}
	}
}

func (r *row) headers(etag string) map[string]string {
	out := map[string]string{}
	if r.accept != "" {
		out["Accept-Encoding"] = r.accept
	}
	if r.conditional && etag != "" {
		out["If-None-Match"] = etag
	}
	return out
}

// etag is that of a path's answer, where the row needs it.
func (b *bench) etag(r *row, s *server, path string) (string, error) {
	if !r.conditional {
		return "", nil
	}
	if tag := b.etags[s.url(path)]; tag != "" {
		return tag, nil
	}
	answer, err := b.Get(s.url(path), nil)
	if err != nil {
		return "", err
	}
	if tag := answer.Header.Get("ETag"); tag != "" {
		b.etags[s.url(path)] = tag
		return tag, nil
	}
	return "", fmt.Errorf("%s has no ETag", path)
}

// sample asks for one path and checks the answer: its status, its bytes, and that it
// came from where the row says.
func (b *bench) sample(r *row, s *server, path string) error {
	etag, err := b.etag(r, s, path)
	if err != nil {
		return err
	}
	got, err := b.Get(s.url(path), r.change(etag))
	if err != nil {
		return err
	}
	if got.Status != r.status {
		return fmt.Errorf("expected status %d, got %d: %.100s", r.status, got.Status, got.Body)
	}
	if err := b.sameBytes(r, path, got); err != nil {
		return err
	}
	const digits = 10 // by which answers to other numbers may be shorter
	if size, known := b.smallest[r.name]; !known || int64(len(got.Body)) < size {
		b.smallest[r.name] = max(int64(len(got.Body))-digits, 0)
	}
	return b.cameFrom(r, s, path, etag, got)
}

// sameBytes compares an answer with Sundry's.
func (b *bench) sameBytes(r *row, path string, got *harness.Reply) error {
	if r.status != http.StatusOK || r.method == http.MethodHead {
		if got.Body != "" {
			return fmt.Errorf("expected no body, got %d bytes", len(got.Body))
		}
		return nil
	}
	if r.once { // Sundry maps what the others pass on
		if _, id, _ := strings.Cut(path, "id="); len(got.Body) < 900 || !strings.Contains(got.Body, id) {
			return fmt.Errorf("expected 1 kB about %s, got %.200s", id, got.Body)
		}
		return nil
	}
	reference := b.servers[sundryReplay]
	if r.servers[withExpress] == sundryRedis {
		reference = b.servers[sundryRedis]
	}
	want, err := b.Get(reference.url(path), r.change(""))
	if err != nil {
		return err
	}
	if r.varies {
		// Picks differ in their number alone.
		if d := len(got.Body) - len(want.Body); d < -4 || d > 4 || !strings.HasPrefix(got.Body, `{"code":200,`) {
			return fmt.Errorf("expected a pick such as %.100s, got %.100s", want.Body, got.Body)
		}
		return nil
	}
	if got.Body != want.Body || got.Header.Get("Content-Encoding") != want.Header.Get("Content-Encoding") {
		return fmt.Errorf("expected the %d bytes of %s (%q), got %d (%q)", len(want.Body), reference.name, want.Header.Get("Content-Encoding"),
			len(got.Body), got.Header.Get("Content-Encoding"))
	}
	if r.accept != "" && got.Header.Get("Content-Encoding") != r.accept {
		return fmt.Errorf("expected the coding %s", r.accept)
	}
	return nil
}

// cameFrom checks that a cache answered a hit from its cache, and a miss not.
func (b *bench) cameFrom(r *row, s *server, path, etag string, got *harness.Reply) error {
	switch s.name {
	case sundryReplay, sundryPlain, sundryRedis, sundryFetches:
		status := got.Header.Get("Cache-Status")
		if hit := strings.HasPrefix(status, "sundry; hit"); hit == r.once {
			return fmt.Errorf("unexpected Cache-Status %q", status)
		}
	case nginx:
		peeked, err := b.Get("http://"+s.peek+path, r.change(etag))
		if err != nil {
			return err
		}
		if state := peeked.Header.Get("X-Cache"); state != "HIT" || peeked.Body != got.Body {
			return fmt.Errorf("nginx says that its answer is a %s", state)
		}
	case varnish:
		if ids := strings.Fields(got.Header.Get("X-Varnish")); len(ids) != 2 {
			return fmt.Errorf("varnish says that its answer is no hit: X-Varnish %q", ids)
		}
	}
	return nil
}

// watch is what Sundry counted before a measurement.
type watch struct {
	bench  *bench
	server *server
	sundry *server // that is measured, or behind the cache that is measured
	before map[string]float64
}

// watch reads the counters of the Sundry that a measurement is about.
func (b *bench) watch(_ *row, s *server) (*watch, error) {
	w := &watch{bench: b, server: s, sundry: s.origin}
	if s.admin != "" {
		w.sundry = s
	}
	var err error
	if w.sundry != nil {
		w.before, err = b.counters(w.sundry)
	}
	return w, err
}

// check fails if requests failed, if answers had too few bytes, if Sundry's answers
// are not what the row is about, or if a cache asked the Sundry behind it.
func (w *watch) check(r *row, done *outcome, paths int) error {
	switch {
	case done.failed > 0:
		return fmt.Errorf("%d of %d requests failed", done.failed, done.answers)
	case done.answers < 10:
		return fmt.Errorf("only %d answers", done.answers)
	case r.once && done.answers > paths:
		return fmt.Errorf("%d answers to %d paths: some were repeated", done.answers, paths)
	case done.bytes/int64(done.answers) < w.bench.smallest[r.name]:
		return fmt.Errorf("%d bytes for each answer, expected at least %d", done.bytes/int64(done.answers), w.bench.smallest[r.name])
	}
	if w.sundry == nil {
		return nil
	}
	after, err := w.bench.counters(w.sundry)
	if err != nil {
		return err
	}
	counted := map[string]float64{}
	for name, n := range after {
		if d := n - w.before[name]; d > 0 {
			counted[name] = d
		}
	}
	if w.sundry == w.server.origin {
		if len(counted) > 0 {
			return fmt.Errorf("it asked Sundry: %v", counted)
		}
		return nil
	}
	return w.outcomes(r, done, counted)
}

// outcomes checks that Sundry counted every answer, and as what it should be.
func (w *watch) outcomes(r *row, done *outcome, counted map[string]float64) error {
	stored := counted[farHits]
	delete(counted, farHits)
	good := 0.0
	for _, name := range r.outcomes {
		good += counted[name]
		delete(counted, name)
	}
	if len(counted) > 0 || good < float64(done.answers) {
		return fmt.Errorf("of %d answers Sundry counted %.0f as %v, and others as %v", done.answers, good, r.outcomes, counted)
	}
	if w.server.name == sundryRedis && stored < 0.99*good {
		return fmt.Errorf("of %.0f hits only %.0f came from Redis", good, stored)
	}
	return nil
}

const farHits = "hits of Redis"

// counters are the requests that a Sundry has answered, by outcome.
func (b *bench) counters(s *server) (map[string]float64, error) {
	families, err := b.Metrics(s.admin)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	out := families.Counts("sundry_requests_total", "outcome")
	if n := families.Counts("sundry_far_reads_total", "result")["hit"]; n > 0 {
		out[farHits] = n
	}
	return out, nil
}
