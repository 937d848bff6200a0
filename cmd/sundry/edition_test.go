package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// newsstand is an upstream whose new edition is late until it is there.
type newsstand struct {
	*upstream
	there atomic.Bool
	mu    sync.Mutex
	at    []time.Time // of the calls
}

func newNewsstand(t testing.TB) *newsstand {
	t.Helper()
	n := &newsstand{upstream: &upstream{}}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.at = append(n.at, time.Now())
		n.mu.Unlock()
		n.calls.Add(1)
		select {
		case <-time.After(time.Duration(n.takes.Load())):
		case <-r.Context().Done():
			return
		}
		if n.there.Load() {
			_, _ = fmt.Fprint(w, `{"id":"new","date":"2999-01-01"}`)
			return
		}
		_, _ = fmt.Fprint(w, `{"id":"old","date":"2020-01-01"}`)
	}))
	t.Cleanup(n.Close)
	return n
}

// closest returns how many calls there were, and the shortest time between two of them.
func (n *newsstand) closest() (calls int, between time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	between = time.Hour
	for i := 1; i < len(n.at); i++ {
		between = min(between, n.at[i].Sub(n.at[i-1]))
	}
	return len(n.at), between
}

// lateFleet is three instances that poll for an edition that is late.
func lateFleet(t *testing.T, n *newsstand, poll time.Duration) []*sibling {
	t.Helper()
	dir := catalogDir(t, n.upstream, fmt.Sprintf(`until: "00:00 UTC", poll: %s, edition: .date, grace: 1h, stale_if_error: 1h`, poll))
	redis := redistest.Start(t)
	fleet := make([]*sibling, 3)
	for i := range fleet {
		// A busy machine is no reason to do without the lease.
		fleet[i] = newSibling(t, "", "--catalog", dir, "--redis", patient(redis.URL()))
	}
	return fleet
}

// has reports whether an instance serves an edition.
func (m *sibling) has(edition string) bool {
	m.t.Helper()
	_, body := mustGet(m.t, m.public+"/api/own")
	return strings.Contains(body, `"id":"`+edition+`"`)
}

// TestOneInstancePollsForALateEdition, though all of them are asked for it all the time:
// the sources get one call per poll, as of one instance, and when the poller has the
// edition, all serve it within a second.
func TestOneInstancePollsForALateEdition(t *testing.T) {
	t.Parallel()
	const poll = 2 * time.Second
	polls := int64(2)
	if longtest.Stories() {
		polls = 4
	}
	up := newNewsstand(t)
	fleet := lateFleet(t, up, poll)
	waittest.Until(t, "some polls", func() bool {
		for _, m := range fleet {
			if !m.has("old") {
				t.Fatal("the old edition is not served meanwhile")
			}
		}
		return up.calls.Load() > polls
	})
	if calls, between := up.closest(); between < poll/2 {
		t.Errorf("of %d calls, two came within %v", calls, between)
	}
	up.there.Store(true)
	var first *sibling
	waittest.Until(t, "the poller to have the new edition", func() bool {
		for _, m := range fleet {
			if first == nil && m.has("new") {
				first = m
			}
		}
		return first != nil
	})
	for _, m := range fleet {
		withinASecond(t, "the new edition everywhere", func() bool { return m.has("new") })
	}
	calls, between := up.closest()
	if between < poll/2 {
		t.Errorf("of %d calls, two came within %v", calls, between)
	}
	for range 100 {
		for _, m := range fleet {
			if !m.has("new") {
				t.Fatal("the old edition came back")
			}
		}
	}
	if now, _ := up.closest(); now != calls {
		t.Errorf("%d calls since the new edition is there", now-calls)
	}
}

// TestAPollerThatDiesIsSucceeded: the others serve the old edition meanwhile, and have the
// new one two seconds later.
func TestAPollerThatDiesIsSucceeded(t *testing.T) {
	t.Parallel()
	up := newNewsstand(t)
	fleet := lateFleet(t, up, time.Second)
	poller, others := fleet[0], fleet[1:]
	for _, m := range fleet {
		waittest.Until(t, "the old edition", func() bool { return m.has("old") })
	}
	up.takes.Store(int64(time.Hour))
	before := up.calls.Load()
	waittest.Until(t, "a poll that hangs", func() bool { return poller.has("old") && up.calls.Load() > before })
	up.takes.Store(0)
	up.there.Store(true)
	for _, m := range others {
		waittest.Until(t, "another to wait for the poller", func() bool {
			if !m.has("old") {
				t.Fatal("the old edition is not served while the poller works")
			}
			return m.metric("sundry_cache_fills_running") == "1"
		})
	}
	poller.kill()
	killed := time.Now()
	for _, m := range others {
		waittest.Until(t, "the new edition", func() bool { return m.has("new") })
	}
	if took := time.Since(killed); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	if n := up.calls.Load(); n != before+2 {
		t.Errorf("%d calls after that of the poller", n-before-1)
	}
}
