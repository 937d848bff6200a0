package autopilot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/jitter"
	"sundry/metrics"
	"sundry/proxy/live"
)

// lookEvery is how often the pilot looks at each endpoint: what the advisor knows does not
// change faster.
const lookEvery = 5 * time.Minute

// Config of a Pilot.
type Config struct {
	// Rules returns what is known of the endpoints that the autopilot is on for, but for
	// what the settings hold.
	Rules func() []Rule
	// Replicator of the settings: changes are made through it, for the whole fleet.
	Replicator *live.Replicator
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	Log        *slog.Logger
}

// Pilot steps on one instance. Of the instances of a fleet, each decides; which one steps is
// decided by the store of the settings: who finds that the rule was changed since it decided
// does nothing.
type Pilot struct {
	cfg   Config
	steps *prometheus.CounterVec
}

// What becomes of a step.
const (
	stepRaised    = "raised"
	stepLowered   = "lowered"
	stepReverted  = "reverted"
	stepOvertaken = "overtaken" // another instance, or an operator, was first
	stepFailed    = "failed"    // it could not be stored
)

// New makes a pilot that does nothing yet.
func New(cfg Config) (*Pilot, error) {
	p := &Pilot{cfg: cfg, steps: prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: metrics.Namespace, Subsystem: "autopilot", Name: "steps_total",
		Help: "Steps of the autopilot on this instance, by result; overtaken: somebody else changed the rule first; failed: it could not be stored.",
	}, []string{"result"})}
	for _, result := range []string{stepRaised, stepLowered, stepReverted, stepOvertaken, stepFailed} {
		p.steps.WithLabelValues(result)
	}
	if cfg.Registerer == nil {
		return p, nil
	}
	if err := cfg.Registerer.Register(p.steps); err != nil {
		return nil, fmt.Errorf("autopilot: metrics: %w", err)
	}
	return p, nil
}

// Run looks at the endpoints every few minutes, until ctx ends. While this instance is not in
// sync with the stored settings, it does nothing.
func (p *Pilot) Run(ctx context.Context) {
	for jitter.Pause(ctx, lookEvery, 0.1) == nil {
		if !p.cfg.Replicator.InSync() {
			continue
		}
		for _, r := range p.cfg.Rules() {
			p.look(ctx, &r)
		}
	}
}

// look decides about an endpoint, and does so.
func (p *Pilot) look(ctx context.Context, r *Rule) {
	now := time.Now()
	settings := p.cfg.Replicator.Settings()
	r.complete(settings, now)
	d := Decide(r, now)
	if d.State != Stepping && d.State != Reverting {
		return
	}
	last, _ := settings.LastChanged(r.Endpoint)
	c := live.Change{
		By: live.ByAutopilot, Do: live.DoCache, Target: r.Endpoint, Note: d.Why.EN, Expected: &last,
		Cache: maps.Clone(settings.ActiveCache(now)[r.Endpoint]),
	}
	if c.Cache == nil {
		c.Cache = map[string]string{}
	}
	before := c.Cache["ttl"]
	result := r.change(&c, &d, before, now)
	if _, err := p.cfg.Replicator.Change(ctx, c); err != nil {
		result = stepFailed
		if errors.Is(err, live.ErrOvertaken) {
			result = stepOvertaken
		}
		p.cfg.Log.Info("the autopilot did not step", "endpoint", r.Endpoint, "ttl", d.TTL, "error", err)
	} else {
		p.cfg.Log.Info("the autopilot stepped", "endpoint", r.Endpoint, "ttl", d.TTL, "why", d.Why.EN)
	}
	p.steps.WithLabelValues(result).Inc()
}

// change fills in what a decision changes, and returns what the step counts as.
func (r *Rule) change(c *live.Change, d *Decision, before string, now time.Time) (result string) {
	if d.State == Reverting {
		trial := *r.Trial
		trial.Reverted, trial.Until = now, d.Next
		trial.Reverts++
		c.Trial = &trial
		if c.Cache["ttl"] = trial.Before; trial.Before == "" {
			delete(c.Cache, "ttl")
		}
		return stepReverted
	}
	c.Cache["ttl"] = d.TTL.String()
	c.Trial = &live.Trial{
		At: now, From: r.Policy.TTL, To: d.TTL, Before: before,
		Calls: d.Predicted.CallsPerHour, Old: d.Predicted.OldShare, OldAtMost: d.OldAtMost, Requests: r.Advice.RequestsPerSecond,
	}
	if r.Trial != nil && !r.Trial.Reverted.IsZero() {
		c.Trial.Reverts = r.Trial.Reverts
	}
	if d.TTL < r.Policy.TTL {
		return stepLowered
	}
	return stepRaised
}

// complete adds what the settings hold of the endpoint.
func (r *Rule) complete(s *live.Settings, now time.Time) {
	if t, ok := s.Trials[r.Endpoint]; ok {
		r.Trial = &t
	}
	_, r.ByHand = s.LastChanged(r.Endpoint)
	if until := s.Cache[r.Endpoint].Until; until.After(now) {
		r.Until = until
	}
}

// Status is what the autopilot would do about an endpoint now, and its last step; nil: it
// has taken none, or an operator changed the rule since.
func (p *Pilot) Status(r Rule) (Decision, *live.Trial) {
	now := time.Now()
	r.complete(p.cfg.Replicator.Settings(), now)
	return Decide(&r, now), r.Trial
}
