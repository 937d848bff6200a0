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

// Input is the state of one attempt. It is for one goroutine.
type Input struct {
	Call   *Call
	Values map[string]any // of placeholders: parameters, variables, step results and secrets
	shared bool           // Values are the call's parameters
	Hidden []string       // the forms of its secrets
	// derived are texts, and numbers as texts, computed from secrets.
	derived  []string
	Env      *jq.Env        // of its programs
	Rules    []Rule         // of its reply
	sessions []session      // of steps that log in
	renewed  bool           // one was refused, and the attempt is made once more
	since    time.Time      // when the oldest cached step result was created; zero: none was cached
	Memory   Reservation    // reserved for its replies
	stages   *[]Stage       // nil: they are not collected
	changes  []shape.Change // in the reply, where stages are collected
	mark     loop.Mark      // set in its requests; "": none
}

// Stage notes a part of the attempt, where somebody collects them.
func (in *Input) Stage(name string, detail any) {
	if in.stages != nil {
		*in.stages = append(*in.stages, Stage{name, detail})
	}
}

// StageOf notes a part of the attempt that takes work to describe: detail is called
// only where somebody collects them.
func (in *Input) StageOf(name string, detail func() string) {
	if in.stages != nil {
		*in.stages = append(*in.stages, Stage{name, detail()})
	}
}

// Compute runs the programs of variables, and sets their values.
func (in *Input) Compute(ctx context.Context, vars []jq.Variable) error {
	for _, v := range vars {
		value, err := v.Program.One(ctx, nil, in.Env)
		if err != nil {
			return Errorf(Malformed, "var %s: %w", v.Name, err)
		}
		if v.Secret && len(in.Hidden) > 0 {
			in.Derive(value, redact.DerivedMin)
		}
		in.Set(v.Name, value)
	}
	return nil
}

// Set makes a value known as $vars.<name> and as {name}.
func (in *Input) Set(name string, value any) {
	if in.Env.Vars == nil {
		in.Env.Vars = map[string]any{}
	}
	in.Env.Vars[name] = value
	in.SetPlaceholder(name, value)
}

// SetPlaceholder makes a value known as {name} alone.
func (in *Input) SetPlaceholder(name string, value any) {
	if in.shared {
		in.Values, in.shared = maps.Clone(in.Values), false
	}
	if in.Values == nil {
		in.Values = map[string]any{}
	}
	in.Values[name] = value
}

// Redactor redacts the secrets of the attempt, and what was computed from them.
func (in *Input) Redactor() *redact.Redactor { return redact.New(in.Hidden, in.derived) }

// MarkLoop sets the header that lets this service notice its own requests.
func (in *Input) MarkLoop(h http.Header) {
	if in.mark == "" {
		return
	}
	line := string(in.mark)
	if in.Call.Loop != "" {
		line = in.Call.Loop + ", " + line
	}
	h[loop.Header] = []string{line}
}

// CheckLoop refuses a reply that this service itself gave to a request of its own.
func (in *Input) CheckLoop(resp *http.Response) error {
	if !in.mark.Refused(resp.Header) {
		return nil
	}
	return &guard.ForbiddenError{Target: resp.Request.URL.Host, Reason: "leads back to this service"}
}
