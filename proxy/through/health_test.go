package through

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/upstreams/host"
)

// checked is a group of replicas that answer checks with a status.
type checked struct {
	*replicas
	hosts  host.Hosts
	mu     sync.Mutex
	status map[string]int // of the checks of a; 0: none comes
	told   []string
}

func newChecked(t *testing.T, health Health) *checked {
	t.Helper()
	s := &checked{status: map[string]int{"a": 200, "b": 200, "c": 200}}
	answers := map[string]http.HandlerFunc{}
	for name := range s.status {
		answers[name] = func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/up" {
				w.Header().Set("Cache-Control", "no-store")
				fmt.Fprint(w, name)
				return
			}
			s.mu.Lock()
			status := s.status[name]
			s.mu.Unlock()
			if status == 0 {
				<-r.Context().Done()
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(status)
		}
	}
	s.replicas = newReplicas(t, RoundRobin, health, &s.hosts, answers)
	return s
}

func (s *checked) set(name string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status[name] = status
}

func (s *checked) watch() {
	s.h.origin.Watch(Watcher{Log: slog.New(slog.DiscardHandler), Observe: func(name string) func(error, time.Duration) {
		return func(err error, _ time.Duration) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.told = append(s.told, fmt.Sprint(name, " ", err))
		}
	}})
}

// served are the addresses that answer six requests.
func (s *checked) served() string {
	var names []string
	for i := range 6 {
		names = append(names, s.get(fmt.Sprint("/", i)).body)
	}
	all := strings.Join(names, "")
	return fmt.Sprint(strings.Count(all, "a"), strings.Count(all, "b"), strings.Count(all, "c"))
}

// TestHealthChecks take an address out after two failures in a row, and back after a success. Where all fail, all are asked.
func TestHealthChecks(t *testing.T) {
	for why, status := range map[string]int{"an error": 503, "not found": 404, "a redirection, which is a success": 302, "no answer": 0} {
		synctest.Test(t, func(t *testing.T) {
			s := newChecked(t, Health{Path: "/up", Every: 10 * time.Second})
			s.watch()
			want := func(when, served string) {
				t.Helper()
				synctest.Wait()
				if got := s.served(); got != served {
					t.Errorf("%s, %s: %s, want %s", why, when, got, served)
				}
			}
			want("before the first check", "2 2 2")
			time.Sleep(30 * time.Second)
			want("all are up", "2 2 2")
			s.set("a", status)
			time.Sleep(40 * time.Second)
			if status == 302 {
				want("a answers otherwise", "2 2 2")
				s.h.origin.Close()
				return
			}
			want("a fails", "0 3 3")
			if !s.h.origin.targets[0].Check.Out() || s.h.origin.targets[1].Check.Out() {
				t.Error("the state of the checks is another one")
			}
			s.set("a", 204)
			time.Sleep(20 * time.Second)
			want("a is back", "2 2 2")
			for name := range s.status {
				s.set(name, status)
			}
			time.Sleep(40 * time.Second)
			want("all fail", "2 2 2")
			s.h.origin.Close()
		})
	}
}

// TestOneFailedCheckIsNone: an address is out only after two in a row.
func TestOneFailedCheckIsNone(t *testing.T) {
	var hosts host.Hosts
	c := hosts.Check("test", "a")
	end := c.Begin()
	for i, row := range []struct {
		failed, out, changed bool
	}{{true, false, false}, {false, false, false}, {true, false, false}, {true, true, true}, {true, true, false}, {false, false, true}, {true, false, false}} {
		var err error
		if row.failed {
			err = StatusError(503)
		}
		if changed := c.Note(err); changed != row.changed || c.Out() != row.out {
			t.Errorf("check %d: out %t, changed %t", i, c.Out(), changed)
		}
	}
	c.Note(StatusError(503))
	if !c.Out() || hosts.Check("test", "a") != c || hosts.Check("other", "a") == c {
		t.Error("the checks of APIs are mixed up")
	}
	if end(); c.Out() || len(hosts.Checks()) != 0 {
		t.Error("what is not checked any more is still out")
	}
}

// TestWhenChecksRun: not before Watch, each at its time, one at a time, and none after Close. Those expected are told as successes.
func TestWhenChecksRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newChecked(t, Health{Path: "/up", Every: 10 * time.Second, Expect: []int{418}})
		s.set("a", 418)
		s.set("c", 0) // no answer comes: 5 s each
		time.Sleep(time.Minute)
		if n := s.asked["a"].Load(); n != 0 {
			t.Errorf("%d checks before the API is served", n)
		}
		s.watch()
		time.Sleep(100 * time.Second)
		if n := s.asked["a"].Load(); n < 8 || n > 13 {
			t.Errorf("%d checks in 100 s, every 10 s", n)
		}
		if n := s.asked["c"].Load(); n < 5 || n > 8 {
			t.Errorf("%d checks of an address that does not answer in 100 s", n)
		}
		s.h.origin.Close()
		synctest.Wait()
		s.mu.Lock()
		told := strings.Join(s.told, "\n") + "\n"
		s.mu.Unlock()
		if !strings.Contains(told, "a <nil>\n") || strings.Contains(told, "a the API") || !strings.Contains(told, "b the API has answered 200\n") || !strings.Contains(told, "c context deadline exceeded\n") {
			t.Errorf("told is\n%s", told)
		}
		before := s.asked["a"].Load()
		time.Sleep(time.Minute)
		if n := s.asked["a"].Load(); n != before {
			t.Errorf("%d checks after the end", n-before)
		}
	})
}
