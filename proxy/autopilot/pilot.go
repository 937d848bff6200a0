// Package autopilot sets the TTL of endpoints so that their targets are kept to, within
// bounds that the operator gives. It promises that each step is small, that it rests on
// what was seen since the last change, whoever made that, and on no forecast of its own,
// and that each stands in the audit log with its reason.
package autopilot

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/cache/jitter"
	"sundry/metrics"
	"sundry/metrics/words"
	"sundry/proxy/live"
)

// lookEvery is how often the pilot looks at each endpoint.
const lookEvery = 5 * time.Minute

// Endpoint is one that the autopilot is on for.
type Endpoint struct {
	Name string
	// TTL in force, and its bounds, both included.
	TTL, Min, Max time.Duration
}

// Config of a Pilot.
type Config struct {
	// Endpoints that the autopilot is on for.
	Endpoints func() []Endpoint
	// Step is advise.Observer.Step.
	Step func(endpoint string, since, now time.Time) (ttl time.Duration, why words.Text, ok bool)
	// Replicator of the settings: changes are made through it, for the whole fleet.
	Replicator *live.Replicator
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	Log        *slog.Logger
}

// Pilot steps on one instance. Of the instances of a fleet, each decides from what it has
// seen; which one steps is decided by the store of the settings: who finds that the rule was
// changed since it decided does nothing.
type Pilot struct {
	cfg   Config
	steps *prometheus.CounterVec
}

// What becomes of a step.
const (
	stepRaised    = "raised"
	stepLowered   = "lowered"
	stepOvertaken = "overtaken" // another instance, or an operator, was first
	stepFailed    = "failed"    // it could not be stored
)

// New makes a pilot that does nothing yet.
func New(cfg Config) *Pilot {
	p := &Pilot{cfg: cfg, steps: promauto.With(cfg.Registerer).NewCounterVec(prometheus.CounterOpts{
		Namespace: metrics.Namespace, Subsystem: "autopilot", Name: "steps_total",
		Help: "Steps of the autopilot on this instance, by result; overtaken: somebody else changed the rule first; failed: it could not be stored.",
	}, []string{"result"})}
	for _, result := range []string{stepRaised, stepLowered, stepOvertaken, stepFailed} {
		p.steps.WithLabelValues(result)
	}
	return p
}

// Run looks at the endpoints every few minutes, until ctx ends. While this instance is not in
// sync with the stored settings, it does nothing.
func (p *Pilot) Run(ctx context.Context) {
	for jitter.Pause(ctx, lookEvery, 0.1) == nil {
		if !p.cfg.Replicator.InSync() {
			continue
		}
		for _, e := range p.cfg.Endpoints() {
			p.look(ctx, &e, time.Now())
		}
	}
}

// Status is what the autopilot does about an endpoint.
type Status struct {
	On       bool
	Min, Max time.Duration
	// TTL that it would set now; that in force for no step.
	TTL time.Duration
	Why words.Text
}

// Status of an endpoint; zero where the autopilot is off.
func (p *Pilot) Status(endpoint string) Status {
	for _, e := range p.cfg.Endpoints() {
		if e.Name == endpoint {
			ttl, why := p.decide(&e, p.cfg.Replicator.Settings(), time.Now())
			return Status{On: true, Min: e.Min, Max: e.Max, TTL: ttl, Why: why}
		}
	}
	return Status{}
}

// decide returns the TTL in force for no step.
func (p *Pilot) decide(e *Endpoint, s *live.Settings, now time.Time) (time.Duration, words.Text) {
	if until := s.Cache[e.Name].Until; until.After(now) {
		return e.TTL, words.Sayf("what an operator has set is left alone until it expires at %s",
			"运维人员的临时设置在 %s 到期之前保持不变", until.UTC().Format("2006-01-02 15:04 UTC"))
	}
	ttl, why, ok := p.cfg.Step(e.Name, s.LastChanged(e.Name), now)
	if !ok {
		return e.TTL, words.Say("nothing was seen yet", "还没有见过任何请求")
	}
	within := min(max(ttl, e.Min), e.Max)
	if within != ttl && within != e.TTL {
		why = words.Sayf("the TTL is to be from %s to %s", "TTL 应在 %s 与 %s 之间", e.Min, e.Max)
	}
	return within, why
}

// look decides about an endpoint, and does so.
func (p *Pilot) look(ctx context.Context, e *Endpoint, now time.Time) {
	settings := p.cfg.Replicator.Settings()
	ttl, why := p.decide(e, settings, now)
	if ttl == e.TTL {
		return
	}
	last := settings.LastChanged(e.Name)
	c := live.Change{
		By: live.ByAutopilot, Do: live.DoCache, Target: e.Name, Note: why.EN(), Expected: &last,
		Cache: maps.Clone(settings.ActiveCache(now)[e.Name]),
	}
	if c.Cache == nil {
		c.Cache = map[string]string{}
	}
	c.Cache["ttl"] = ttl.String()
	p.steps.WithLabelValues(p.change(ctx, e, c, ttl)).Inc()
}

// change returns what the step counts as.
func (p *Pilot) change(ctx context.Context, e *Endpoint, c live.Change, ttl time.Duration) string {
	switch _, err := p.cfg.Replicator.Change(ctx, c); {
	case errors.Is(err, live.ErrOvertaken):
		return stepOvertaken
	case err != nil:
		p.cfg.Log.Warn("the autopilot did not step", "endpoint", e.Name, "ttl", ttl, "error", err)
		return stepFailed
	}
	p.cfg.Log.Info("the autopilot stepped", "endpoint", e.Name, "from", e.TTL, "to", ttl, "why", c.Note)
	if ttl < e.TTL {
		return stepLowered
	}
	return stepRaised
}
