package upstreams

import (
	"context"
	"net/http"
	"slices"
	"time"

	"sundry/upstreams/guard"
	"sundry/upstreams/jq"
	"sundry/upstreams/loop"
	"sundry/upstreams/redact"
)

// Input is what one attempt works on.
type Input struct {
	Call   *Call
	Values map[string]any // of placeholders: parameters, vars and secrets
	Hidden []string       // the forms of its secrets
	// derived are texts computed from its secrets.
	derived  []string
	Env      *jq.Env     // of its programs
	Rules    []Rule      // of its reply
	Sessions []Session   // what is kept of steps that let us in
	since    time.Time   // the birth of the oldest outcome that was kept; zero: none was
	Memory   Reservation // memory that its replies take
	stages   *[]Stage    // nil: nobody watches
	mark     loop.Mark   // of its requests
}

func (in *Input) Stage(name string, detail any) {
	if in.stages != nil {
		*in.stages = append(*in.stages, Stage{name, detail})
	}
}

// Compute runs the programs of placeholders.
func (in *Input) Compute(ctx context.Context, vars []jq.Variable) error {
	for _, v := range vars {
		value, err := v.Program.One(ctx, nil, in.Env)
		if err != nil {
			return Errorf(Malformed, "var %s: %w", v.Name, err)
		}
		in.Set(v.Name, value)
		if v.Secret && len(in.Hidden) > 0 {
			in.Derive(value, redact.DerivedMin)
		}
	}
	return nil
}

// Set makes a value known as $vars.<name> and as {name}.
func (in *Input) Set(name string, value any) { in.Env.Vars[name], in.Values[name] = value, value }

// Derive notes texts that were computed from secrets, from so many bytes on.
func (in *Input) Derive(v any, least int) {
	switch v := v.(type) {
	case string:
		if len(v) >= least && !slices.Contains(in.derived, v) {
			in.derived = append(slices.Clip(in.derived), v)
		}
	case []any:
		for _, e := range v {
			in.Derive(e, least)
		}
	case map[string]any:
		for _, e := range v {
			in.Derive(e, least)
		}
	}
}

// Redactor of what this attempt shows.
func (in *Input) Redactor() *redact.Redactor { return redact.New(in.Hidden, in.derived) }

// MarkLoop marks a request of the attempt.
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

// CheckLoop refuses an answer of this service to a request of its own.
func (in *Input) CheckLoop(resp *http.Response) error {
	if !in.mark.Refused(resp.Header) {
		return nil
	}
	return &guard.ForbiddenError{Target: resp.Request.URL.Host, Reason: "leads back to this service"}
}
