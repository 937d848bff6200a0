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
	// Params of the call; null where they are personal, and cut where they are
	// links: then it cannot be tried again.
	Params map[string]any `json:"params"`
	Again  bool           `json:"can_retry"`
}

func viewOf(n *upstreams.Note) failureView {
	return failureView{n.ID, n.At, n.Endpoint, n.Source, n.Result, n.Took.Milliseconds(), n.Err, n.Params, !n.Private && !n.Cut}
}

// failures lists them, the newest first.
func (a *api) failures(*http.Request) (any, error) {
	views := []failureView{}
	notes := a.Env.Journal.Failures()
	for _, n := range slices.Backward(notes) {
		views = append(views, viewOf(&n))
	}
	return map[string]any{"failures": views}, nil
}

// retryTime bounds a second try.
const retryTime = 30 * time.Second

// retry asks the source of a failure once more and shows each stage.
func (a *api) retry(r *http.Request) (any, error) {
	notes := a.Env.Journal.Failures()
	i := slices.IndexFunc(notes, func(n upstreams.Note) bool { return fmt.Sprint(n.ID) == r.PathValue("id") })
	if i < 0 {
		return nil, absent("failure", r.PathValue("id"))
	}
	n := &notes[i]
	if n.Private {
		return nil, bad("the parameters of this call are personal and were not kept")
	}
	if n.Cut {
		return nil, bad("the link of this call was not kept, since it may hold a token; sundry try takes it")
	}
	source := a.find(n.Endpoint, n.Source)
	if source == nil {
		return nil, absent("source", n.Endpoint+"/"+n.Source)
	}
	ctx, cancel := context.WithTimeout(r.Context(), retryTime)
	defer cancel()
	stages := []map[string]any{}
	call := &upstreams.Call{Endpoint: n.Endpoint, Params: n.Params, Now: time.Now()}
	var hide *redact.Redactor
	answer, err := source.Probe(ctx, call, func(at upstreams.Attempt) {
		stages = append(stages, attempt(&at)...)
		hide = at.Redactor
	})
	v := map[string]any{"failure": viewOf(n), "stages": stages, "worked": err == nil, "data": hide.Value(answer.Data)}
	if err != nil {
		v["error"] = err.Error()
	}
	return v, nil
}

func (a *api) find(endpoint, source string) *upstreams.Source {
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

const longestStage = 2000

// attempt lists the stages of one, each as a readable line.
func attempt(at *upstreams.Attempt) []map[string]any {
	var out []map[string]any
	for _, st := range at.Stages {
		out = append(out, map[string]any{"name": st.Name, "detail": st.Line(longestStage)})
	}
	verdict := fmt.Sprintf("%s in %s", at.Result, at.Took.Round(time.Millisecond))
	return append(out, map[string]any{"name": "verdict", "detail": verdict})
}
