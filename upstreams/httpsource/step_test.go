package httpsource

import (
	"context"
	"testing"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/jq"
)

// oldResults answers with an old result, while the step is fetched anew.
type oldResults struct{ done chan struct{} }

func (r oldResults) Get(ctx context.Context, _ string, ask func(context.Context) (any, error)) (any, time.Time, error) {
	go func() {
		defer close(r.done)
		_, _ = ask(ctx)
	}()
	return "old", time.Time{}, nil
}

func (oldResults) Drop(string, time.Time) {}

// TestAnOldResultDoesNotWaitForTheFetch: what that does meanwhile is its own. The race
// detector sees more of it.
func TestAnOldResultDoesNotWaitForTheFetch(t *testing.T) {
	results, goOn := oldResults{make(chan struct{})}, make(chan struct{})
	a := &upstreams.Attempt{Env: &jq.Env{}}
	st := &step{results: results}
	value, err := st.cached(t.Context(), a, "id", func(_ context.Context, fork *upstreams.Attempt) (any, error) {
		fork.Set("learned", "by the fetch")
		<-goOn
		return "new", nil
	})
	if err != nil || value != "old" {
		t.Errorf("%v, %v", value, err)
	}
	close(goOn)
	<-results.done
	if a.Env.Vars["learned"] != nil {
		t.Error("the attempt took over what the fetch learned before its end")
	}
}
