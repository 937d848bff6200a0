package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/redact"
)

// failureView is an attempt that failed.
type failureView struct {
	ID       uint64    `json:"id"`
	At       time.Time `json:"at"`
	Endpoint string    `json:"endpoint"`
	Source   string    `json:"source"`
	Result   string    `json:"result"`
	MS       int64     `json:"ms"`
	Error    string    `json:"error"`
	// Params of the call; null where they are personal, and shortened where they
	// are links: then it cannot be retried.
	Params   map[string]any `json:"params"`
	CanRetry bool           `json:"can_retry"`
}

func newFailureView(n *upstreams.Record) failureView {
	return failureView{n.ID, n.At, n.Endpoint, n.Source, n.Result, n.Took.Milliseconds(), n.Err, n.Params, !n.Private && !n.Cut}
}

// failures lists failed attempts, the newest first.
func (a *api) failures(*http.Request) (any, error) {
	views := []failureView{}
	notes := a.Env.Journal.Failures()
	for _, n := range slices.Backward(notes) {
		views = append(views, newFailureView(&n))
	}
	return map[string]any{"failures": views}, nil
}

// retryTimeout bounds a retry.
const retryTimeout = 30 * time.Second

// retry calls the source of a failure again and shows each stage.
func (a *api) retry(r *http.Request) (any, error) {
	notes := a.Env.Journal.Failures()
	i := slices.IndexFunc(notes, func(n upstreams.Record) bool { return fmt.Sprint(n.ID) == r.PathValue("id") })
	if i < 0 {
		return nil, notFound("failure", r.PathValue("id"))
	}
	n := &notes[i]
	if n.Private {
		return nil, badRequest("cannot retry: the parameters of this call are personal and were not recorded")
	}
	if n.Cut {
		return nil, badRequest("cannot retry: the link of this call was not recorded, since it may hold a token; use sundry try with the link")
	}
	source := a.findSource(n.Endpoint, n.Source)
	if source == nil {
		return nil, notFound("source", n.Endpoint+"/"+n.Source)
	}
	ctx, cancel := context.WithTimeout(r.Context(), retryTimeout)
	defer cancel()
	stages := []map[string]any{}
	call := &upstreams.Call{Endpoint: n.Endpoint, Params: n.Params, Now: time.Now()}
	var redactor *redact.Redactor
	answer, err := source.Probe(ctx, call, func(at upstreams.Attempt) {
		stages = append(stages, stageLines(&at)...)
		redactor = at.Redactor
	})
	v := map[string]any{"failure": newFailureView(n), "stages": stages, "worked": err == nil, "data": redactor.Value(answer.Data)}
	if err != nil {
		v["error"] = err.Error()
	}
	return v, nil
}

func (a *api) findSource(endpoint, source string) *upstreams.Source {
	e, ok := a.Catalog().Get(endpoint)
	if !ok {
		return nil
	}
	for _, s := range e.Sources() {
		if s.Bare() == source {
			return s
		}
	}
	return nil
}

const maxStageLength = 2000

// stageLines are the stages of an attempt, each as a readable line.
func stageLines(at *upstreams.Attempt) []map[string]any {
	var out []map[string]any
	for _, st := range at.Stages {
		out = append(out, map[string]any{"name": st.Name, "detail": st.Line(maxStageLength)})
	}
	verdict := fmt.Sprintf("%s in %s", at.Result, at.Took.Round(time.Millisecond))
	return append(out, map[string]any{"name": "verdict", "detail": verdict})
}
