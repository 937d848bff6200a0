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

// input is what one attempt works on.
type input struct {
	call   *Call
	values map[string]any // of placeholders: parameters, vars and secrets
	hidden []string       // the forms of its secrets
	// derived are texts computed from its secrets.
	derived []string
	env     *jq.Env   // of its programs
	rules   []Rule    // of its reply
	entry   []entry   // what is kept of steps that let us in
	since   time.Time // the birth of the oldest outcome that was kept; zero: none was
	room    allowance // memory that its replies take
	note    *[]Stage  // nil: nobody watches
	mark    loop.Mark // of its requests
}

func (in *input) stage(name string, detail any) {
	if in.note != nil {
		*in.note = append(*in.note, Stage{name, detail})
	}
}

// compute runs the programs of placeholders.
func (in *input) compute(ctx context.Context, vars []jq.Variable) error {
	for _, v := range vars {
		value, err := v.Program.One(ctx, nil, in.env)
		if err != nil {
			return fail(Malformed, "var %s: %w", v.Name, err)
		}
		in.keep(v.Name, value)
		if v.Secret && len(in.hidden) > 0 {
			in.derive(value, redact.DerivedMin)
		}
	}
	return nil
}

// keep makes a value known as $vars.<name> and as {name}.
func (in *input) keep(name string, value any) { in.env.Vars[name], in.values[name] = value, value }

// derive notes texts that were computed from secrets, from so many bytes on.
func (in *input) derive(v any, least int) {
	switch v := v.(type) {
	case string:
		if len(v) >= least && !slices.Contains(in.derived, v) {
			in.derived = append(slices.Clip(in.derived), v)
		}
	case []any:
		for _, e := range v {
			in.derive(e, least)
		}
	case map[string]any:
		for _, e := range v {
			in.derive(e, least)
		}
	}
}

// redactor of what this attempt shows.
func (in *input) redactor() *redact.Redactor { return redact.New(in.hidden, in.derived) }

// bear marks a request of the attempt.
func (in *input) bear(h http.Header) {
	if in.mark == "" {
		return
	}
	line := string(in.mark)
	if in.call.Loop != "" {
		line = in.call.Loop + ", " + line
	}
	h[loop.Header] = []string{line}
}

// cameBack refuses an answer of this service to a request of its own.
func (in *input) cameBack(resp *http.Response) error {
	if !in.mark.Refused(resp.Header) {
		return nil
	}
	return &guard.ForbiddenError{Target: resp.Request.URL.Host, Reason: "leads back to this service"}
}
