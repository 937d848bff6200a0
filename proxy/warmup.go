package proxy

import (
	"context"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sundry/cache/policy"
	"sundry/metrics/panics"
	"sundry/upstreams/catalog"
)

const (
	// maxWarming is how many endpoints are filled at a time.
	maxWarming = 8
	// warmLook is how often it is looked for endpoints that are due.
	warmLook = time.Second
	// warmPause is the longest pause between two looks at an endpoint, whose copy may
	// have been evicted or purged, and the shortest TTL with which its copy is refreshed
	// whether or not anybody asks for it.
	warmPause = 10 * time.Minute
	// warmLead is how long before a publication it is made sure that the old edition is
	// there. The sources have nothing new by then, and are not asked unless it is missing:
	// it is what callers get while they are asked for the new one.
	warmLead = time.Minute
	// warmSpread keeps the instances of a fleet from asking at the same moment: the first
	// one that does takes the lease, and the others find what it has stored.
	warmSpread = 2 * time.Second
)

// Warm keeps the endpoints filled whose files say warm: true, until ctx ends: now, before
// each publication, and whenever their copies are due for a refresh, as they are at the
// publication and at every poll after it. A slow source delays no other endpoint, unless
// maxWarming of them are slow.
func (s *Server) Warm(ctx context.Context) {
	w := warming{
		routes: func() map[string]*route { return s.current.Load().routes }, warm: s.warm,
		running: map[string]bool{}, next: map[string]time.Time{}, panics: s.cfg.Panics,
	}
	w.run(ctx)
}

// warm fills an endpoint that is not fresh, and returns when its copy is due for a
// refresh; zero: it has none.
func (s *Server) warm(ctx context.Context, rt *route) (due time.Time) {
	in, bad := rt.endpoint.Parse("", catalog.Caller{})
	if bad != nil {
		return time.Time{} // a caller is needed, which compiling does not allow
	}
	due, err := rt.space.Warm(ctx, in.Key(), &catalog.Loader{Input: in})
	if err != nil && ctx.Err() == nil {
		s.cfg.Log.Warn("warm-up failed", "endpoint", rt.endpoint.Name, "error", err)
	}
	return due
}

// warming is the state of Warm.
type warming struct {
	routes func() map[string]*route // those in force: a reload may add some
	warm   func(ctx context.Context, rt *route) (due time.Time)
	panics *panics.Catcher

	mu      sync.Mutex
	running map[string]bool
	next    map[string]time.Time // look at an endpoint; none: now
}

// run returns when ctx has ended, and with it all fills.
func (w *warming) run(ctx context.Context) {
	var fills errgroup.Group
	defer fills.Wait() //nolint:errcheck // there is none
	fills.SetLimit(maxWarming)
	tick := time.NewTicker(warmLook)
	defer tick.Stop()
	for {
		w.begin(ctx, &fills)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// begin looks at the endpoints that are due, as many as there is room for.
func (w *warming) begin(ctx context.Context, fills *errgroup.Group) {
	for name, rt := range maps.All(w.routes()) {
		if rt.endpoint.Warm && w.claim(name, time.Now()) && !fills.TryGo(w.panics.FuncErr(panics.WarmUp, func() error {
			w.look(ctx, name, rt)
			return nil
		})) {
			w.done(name, time.Time{})
		}
	}
}

// look fills an endpoint that was claimed. One that panics has its next turn as late as
// one that fails.
func (w *warming) look(ctx context.Context, name string, rt *route) {
	var due time.Time
	defer func() { w.done(name, nextLook(&rt.endpoint.Policy, due, time.Now()).Add(rand.N(warmSpread))) }()
	due = w.warm(ctx, rt)
}

// claim reports whether an endpoint is due that nobody looks at yet.
func (w *warming) claim(name string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.running[name] || now.Before(w.next[name]) {
		return false
	}
	w.running[name] = true
	return true
}

func (w *warming) done(name string, next time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, name)
	w.next[name] = next
}

// nextLook is when to look at an endpoint again whose copy is due for a refresh at due;
// one that is due already could not be refreshed.
func nextLook(p *policy.Policy, due, now time.Time) time.Time {
	next := now.Add(warmPause)
	sooner := func(t time.Time) {
		if t.After(now) && t.Before(next) {
			next = t
		}
	}
	if p.TTL == 0 || p.TTL >= warmPause {
		sooner(due)
	}
	if p.Until != nil {
		sooner(p.Until.Next(now.Add(warmLead)).Add(-warmLead))
		if !due.After(now) {
			sooner(now.Add(p.Poll))
		}
	}
	return next
}
