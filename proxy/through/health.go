package through

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"slices"
	"time"

	"sundry/cache/jitter"
	"sundry/metrics/panics"
	"sundry/upstreams/lib/redact"
)

// Health says how the addresses of an origin are checked.
type Health struct {
	Path   string // below the path of the address
	Every  time.Duration
	Expect []int // statuses; nil means 200 to 399
}

// probeTime limits a check if Every is longer.
const probeTime = 5 * time.Second

// Watcher receives the results of health checks.
type Watcher struct {
	Panics *panics.Catcher
	Log    *slog.Logger
	// Observe returns the function that is called after each check of a host, as Target.Observe is after each request.
	Observe func(host string) func(err error, took time.Duration)
}

// Watch checks the addresses that have a Check until Close.
func (o *Origin) Watch(w Watcher) {
	for _, t := range o.targets {
		if t.Check == nil {
			continue
		}
		log, observe := w.Log.With("api", t.Check.API, "address", t.Check.Host), w.Observe(t.Check.Host)
		w.Panics.Go(panics.Dial, w.Panics.Loop(o.checking, panics.Dial, func(ctx context.Context) { o.watch(ctx, &t, log, observe) }))
	}
}

// watch checks an address repeatedly, at times that differ between instances.
func (o *Origin) watch(ctx context.Context, t *Target, log *slog.Logger, observe func(error, time.Duration)) {
	defer t.Check.Begin()()
	for err := jitter.Pause(ctx, o.health.Every/2, 1); err == nil; err = jitter.Pause(ctx, o.health.Every, 0.2) {
		began := time.Now()
		failure := o.probe(ctx, t)
		if ctx.Err() != nil {
			return // the check was canceled
		}
		observe(failure, time.Since(began))
		switch changed := t.Check.Note(failure); {
		case changed && failure != nil:
			log.Warn("health checks fail; the address is asked last", "error", failure)
		case changed:
			log.Info("health check succeeded; the address is no longer asked last")
		}
	}
}

// probe checks an address once. The error may be a StatusError.
func (o *Origin) probe(ctx context.Context, t *Target) error {
	ctx, cancel := context.WithTimeout(ctx, min(o.health.Every, probeTime))
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: awaitHead})
	r, err := o.request(ctx, http.MethodGet, o.health.Path, http.Header{"User-Agent": {via + " health"}}, *t)
	if err != nil {
		return err
	}
	resp, err := o.transportOf(t).RoundTrip(r)
	if err != nil {
		return redact.WithoutQuotes(err)
	}
	defer func() { _ = resp.Body.Close() }() // its status is known
	_, _ = io.CopyN(io.Discard, resp.Body, maxRest)
	if !o.health.expects(resp.StatusCode) {
		return StatusError(resp.StatusCode)
	}
	return nil
}

func (h *Health) expects(status int) bool {
	if h.Expect == nil {
		return status >= http.StatusOK && status < http.StatusBadRequest
	}
	return slices.Contains(h.Expect, status)
}
