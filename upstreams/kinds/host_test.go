package kinds

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/upstreams"
	"sundry/upstreams/host"
)

func TestRetryHasABudget(t *testing.T) {
	var calls atomic.Int64
	url := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1)%2 == 1 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, `{}`)
	})
	env := environment(t)
	env.Hosts.Config.Failures = 1000
	s := compile(t, env, "name: one\nretry: 1\nhttp: {url: "+url+"/}\n")
	if _, err := ask(t, env, s, nil); err != nil {
		t.Fatalf("one bad answer was not tried again: %v", err)
	}
	calls.Store(0)
	failed := 0
	for range 30 {
		if _, err := ask(t, env, s, nil); err != nil {
			failed++
		}
	}
	if failed < 5 {
		t.Errorf("%d of 30 failed: the retries have no budget", failed)
	}
}

func TestDefiniteAnswersAreNotRetried(t *testing.T) {
	var calls atomic.Int64
	url := upstream(t, func(w http.ResponseWriter, _ *http.Request) { calls.Add(1); w.WriteHeader(http.StatusNotFound) })
	env := environment(t)
	for _, text := range []string{"", "judge: [{status: [404], is: negative}]\n"} {
		calls.Store(0)
		if _, err := ask(t, env, compile(t, env, "name: one\nretry: 2\nhttp: {url: "+url+"/}\n"+text), nil); err == nil || calls.Load() != 1 {
			t.Errorf("%s: %v after %d calls", text, err, calls.Load())
		}
	}
}

func TestBreakerCounts(t *testing.T) {
	status := atomic.Int64{}
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if status.Load() == 0 {
			<-r.Context().Done()
			return
		}
		w.WriteHeader(int(status.Load()))
	})
	env := environment(t)
	env.Hosts.Config.Open = 100 * time.Millisecond
	s := compile(t, env, "name: one\ntimeout: 2s\nhttp: {url: "+url+"/}\njudge: [{status: [404], is: negative}]\n")
	status.Store(404)
	for range 20 {
		_, _ = s.Probe(t.Context(), &upstreams.Call{}, nil)
	}
	status.Store(0)
	for range 20 { // callers who leave
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, cancel)
		_, _ = s.Probe(ctx, &upstreams.Call{}, nil)
	}
	if s.Kind.Host.State() != "closed" {
		t.Fatalf("negatives or callers who left have opened the breaker: %s", s.Kind.Host.State())
	}
	status.Store(500)
	for range 5 {
		_, _ = s.Probe(t.Context(), &upstreams.Call{}, nil)
	}
	if _, err := s.Probe(t.Context(), &upstreams.Call{}, nil); upstreams.KindOf(err) != upstreams.Rejected || s.Kind.Host.State() != "open" {
		t.Fatalf("%v, %s", err, s.Kind.Host.State())
	}
	status.Store(404)
	deadline := time.Now().Add(5 * time.Second)
	for s.Kind.Host.State() != "closed" && time.Now().Before(deadline) {
		_, _ = s.Probe(t.Context(), &upstreams.Call{}, nil)
		time.Sleep(5 * time.Millisecond)
	}
	if s.Kind.Host.State() != "closed" {
		t.Errorf("the breaker did not heal: %s", s.Kind.Host.State())
	}
	collector := host.NewCollector(&env.Hosts, &env.Quotas)
	if n := testutil.CollectAndCount(collector, "sundry_upstream_breaker_state"); n != 3 {
		t.Errorf("%d series for one host, want one per state", n)
	}
	if n := s.Kind.Host.Openings(); n < 1 {
		t.Errorf("the breaker opened %d times", n)
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	release := make(chan struct{})
	var running, most atomic.Int64
	url := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-release
		running.Add(-1)
		fmt.Fprint(w, `{}`)
	})
	env := environment(t)
	env.Hosts.Config.Concurrent = 2
	s := compile(t, env, "name: one\nhttp: {url: "+url+"/}\n")
	results := make(chan error, 10)
	for range 10 {
		go func() { _, err := s.Probe(context.Background(), &upstreams.Call{}, nil); results <- err }()
	}
	rejected := 0
	for range 8 {
		if upstreams.KindOf(<-results) == upstreams.Busy {
			rejected++
		}
	}
	close(release)
	<-results
	<-results
	if rejected != 8 || most.Load() != 2 {
		t.Errorf("%d rejected, %d at once", rejected, most.Load())
	}
}
