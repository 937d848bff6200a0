package upstreams

import (
	"context"
	"maps"
	"net/http"
	"time"

	"sundry/upstreams/jq"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/lib/redact"
	"sundry/upstreams/lib/shape"
	"sundry/upstreams/loop"
)

// Attempt is one attempt of a source while it is made: what it works with, and what it has
// found out so far. It is for one goroutine.
type Attempt struct {
	Call     *Call
	Values   map[string]any // of placeholders: parameters, variables, step results and secrets
	shared   bool           // Values are the call's parameters
	Hidden   bool           // its source has secrets that may not be shown
	secrets  *redact.Set    // of the process
	Env      *jq.Env        // of its programs
	Rules    []Rule         // of its reply
	sessions []session      // of steps that log in
	renewed  bool           // one was refused, and the attempt is made once more
	since    time.Time      // when the oldest cached step result was created; zero: none was cached
	Memory   Reservation    // reserved for its replies
	stages   *[]Stage       // nil: they are not collected
	changes  []shape.Change // in the reply, where stages are collected
	loopID   loop.ID        // set in its requests; "": none
}

// Stage notes a part of the attempt, where somebody collects them.
func (a *Attempt) Stage(name string, detail any) {
	if a.stages != nil {
		*a.stages = append(*a.stages, Stage{name, detail})
	}
}

// StageOf notes a part of the attempt that takes work to describe: detail is called
// only where somebody collects them.
func (a *Attempt) StageOf(name string, detail func() string) {
	if a.stages != nil {
		*a.stages = append(*a.stages, Stage{name, detail()})
	}
}

// Compute runs the programs of variables, and sets their values.
func (a *Attempt) Compute(ctx context.Context, vars []jq.Variable) error {
	for _, v := range vars {
		value, err := v.Program.One(ctx, nil, a.Env)
		if err != nil {
			return Errorf(Malformed, "var %s: %w", v.Name, err)
		}
		a.Set(v.Name, value)
	}
	return nil
}

// Set makes a value known as $vars.<name> and as {name}.
func (a *Attempt) Set(name string, value any) {
	if a.Env.Vars == nil {
		a.Env.Vars = map[string]any{}
	}
	a.Env.Vars[name] = value
	a.SetPlaceholder(name, value)
}

// SetPlaceholder makes a value known as {name} alone.
func (a *Attempt) SetPlaceholder(name string, value any) {
	if a.shared {
		a.Values, a.shared = maps.Clone(a.Values), false
	}
	if a.Values == nil {
		a.Values = map[string]any{}
	}
	a.Values[name] = value
}

// SendLoopID sets the header that lets this service notice its own requests.
func (a *Attempt) SendLoopID(h http.Header) {
	if a.loopID == "" {
		return
	}
	line := string(a.loopID)
	if a.Call.Loop != "" {
		line = a.Call.Loop + ", " + line
	}
	h[loop.Header] = []string{line}
}

// CheckLoop refuses a reply that this service itself gave to a request of its own.
func (a *Attempt) CheckLoop(resp *http.Response) error {
	if !a.loopID.Refused(resp.Header) {
		return nil
	}
	return &guard.ForbiddenError{Target: resp.Request.URL.Host, Reason: "leads back to this service"}
}
