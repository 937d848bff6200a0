package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams"
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
	// Params of the call; null where they are personal, and links in them
	// shortened: in both cases the call cannot be retried.
	Params   map[string]any `json:"params"`
	CanRetry bool           `json:"can_retry"`
	Personal bool           `json:"personal,omitempty"`
}

func newFailureView(f *upstreams.Record) failureView {
	return failureView{f.ID, f.At, f.Endpoint, f.Source, f.Result, f.Took.Milliseconds(), f.Err, f.Params, !f.Private && !f.Cut, f.Private}
}

// failures lists failed attempts, the newest first.
func (a *api) failures(*http.Request) (any, error) {
	views := []failureView{}
	records := a.Env.Journal.Failures()
	for _, f := range slices.Backward(records) {
		views = append(views, newFailureView(&f))
	}
	return map[string]any{"failures": views}, nil
}

// retryTimeout bounds a retry.
const retryTimeout = 30 * time.Second

// retry calls the source of a failure again and shows each stage.
func (a *api) retry(r *http.Request) (any, error) {
	records := a.Env.Journal.Failures()
	i := slices.IndexFunc(records, func(f upstreams.Record) bool { return fmt.Sprint(f.ID) == r.PathValue("id") })
	if i < 0 {
		return nil, notFound(words.Say("failure", "失败的尝试"), r.PathValue("id"))
	}
	failed := &records[i]
	if failed.Private {
		return nil, badRequest("cannot retry: the parameters of this call are personal and were not recorded", "无法重试：这次调用的参数是个人信息，没有记录")
	}
	if failed.Cut {
		return nil, badRequest("cannot retry: the link of this call was not recorded, since it may hold a token; use sundry try with the link", "无法重试：这次调用的链接可能含有令牌，没有记录；请用 sundry try 并给出链接")
	}
	source := a.findSource(failed.Endpoint, failed.Source)
	if source == nil {
		return nil, notFound(words.Say("source", "数据源"), failed.Endpoint+"/"+failed.Source)
	}
	ctx, cancel := context.WithTimeout(r.Context(), retryTimeout)
	defer cancel()
	stages := []map[string]any{}
	call := &upstreams.Call{Endpoint: failed.Endpoint, Params: failed.Params, Now: time.Now()}
	answer, err := source.Probe(ctx, call, func(attempt upstreams.AttemptReport) {
		stages = append(stages, stageLines(&attempt)...)
	})
	v := map[string]any{"failure": newFailureView(failed), "stages": stages, "worked": err == nil, "data": a.hidden().Redactor().Value(answer.Data)}
	if err != nil {
		v["error"], v["result"] = upstreams.CauseOf(err), upstreams.KindOf(err).String()
	}
	return v, nil
}

func (a *api) findSource(endpoint, source string) *upstreams.Source {
	e, ok := a.Catalog().Get(endpoint)
	if !ok {
		return nil
	}
	for _, s := range e.Sources() {
		if s.Declared == source {
			return s
		}
	}
	return nil
}

// maxStageLength is how much of a stage is shown, in runes.
const maxStageLength = 2000

// stageLines are the stages of an attempt, each as a readable line.
func stageLines(a *upstreams.AttemptReport) []map[string]any {
	var out []map[string]any
	for _, st := range a.Stages {
		out = append(out, map[string]any{"name": st.Name, "detail": st.Line(maxStageLength)})
	}
	verdict := fmt.Sprintf("%s in %s", a.Result, a.Took.Round(time.Millisecond))
	return append(out, map[string]any{"name": "verdict", "detail": verdict})
}
