package kinds

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams"
)

// guests is an upstream whose calls need a session, and which refuses everybody when it is
// told to.
type guests struct {
	logins, calls atomic.Int64
	refuses       atomic.Bool
	path          string // of what it refuses
}

func (g *guests) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/login":
		fmt.Fprintf(w, `{"session":%d}`, g.logins.Add(1))
		return
	case g.refuses.Load() && r.URL.Path == g.path:
		w.WriteHeader(http.StatusPreconditionFailed)
	}
	g.calls.Add(1)
	fmt.Fprint(w, `{"ok":true}`)
}

// asksGuests compiles a source that logs in, and returns the cache of its sessions.
func asksGuests(t *testing.T, env *upstreams.Environment, g *guests, step string) (*upstreams.Source, *memory) {
	t.Helper()
	url, sessions := upstream(t, g.ServeHTTP), &memory{results: map[string]kept{}}
	env.StepCache = sessions
	return compile(t, env, `
name: one
before:
  - {name: session, http: {url: `+url+`/login}, keep: .session, for: 1h, renew: true}
`+step+`
http: {url: `+url+`/call, query: {s: "{session}"}}
judge: [{status: [412], is: limited}]
map: .
`), sessions
}

// TestAHostThatRefusesYoungSessions refuses whoever asks: it is not asked for more sessions,
// and its breaker opens.
func TestAHostThatRefusesYoungSessions(t *testing.T) {
	env, service := environment(t), &guests{path: "/call"}
	service.refuses.Store(true)
	s, _ := asksGuests(t, env, service, "")
	const calls = 5
	for range calls {
		if _, err := ask(t, env, s, nil); err == nil {
			t.Fatal("answered")
		}
	}
	if logins, made := service.logins.Load(), service.calls.Load(); logins != 1 || made != calls {
		t.Errorf("%d logins and %d calls, want 1 and %d", logins, made, calls)
	}
	if s.Kind.Host.Openings() != 1 {
		t.Errorf("after %d refusals in a row the breaker is %s", calls, s.Kind.Host.State())
	}
}

// TestAHostThatBeginsToRefuseEverybody: whoever finds the session that was good until then
// tries another one, and nobody after that.
func TestAHostThatBeginsToRefuseEverybody(t *testing.T) {
	env, service := environment(t), &guests{path: "/call"}
	s, _ := asksGuests(t, env, service, "")
	if _, err := ask(t, env, s, nil); err != nil {
		t.Fatal(err)
	}
	service.refuses.Store(true)
	for range 4 {
		if _, err := ask(t, env, s, nil); err == nil {
			t.Fatal("answered")
		}
	}
	if logins, made := service.logins.Load(), service.calls.Load(); logins != 2 || made != 1+2+3 {
		t.Errorf("%d logins and %d calls, want 2 and 6", logins, made)
	}
}

// TestASessionThatWasNeverAcceptedGrowsOld: it may have ended by then, so it is renewed, and
// that is no failure of the host.
func TestASessionThatWasNeverAcceptedGrowsOld(t *testing.T) {
	env, service := environment(t), &guests{path: "/call"}
	service.refuses.Store(true)
	s, sessions := asksGuests(t, env, service, "")
	for n, want := range []int64{1, 2, 3} {
		for range 2 {
			if _, err := ask(t, env, s, nil); err == nil {
				t.Fatal("answered")
			}
			s.Kind.Host.Reset()
		}
		if logins := service.logins.Load(); logins != want {
			t.Errorf("%d logins after %d minutes, want %d", logins, n, want)
		}
		sessions.age(time.Minute)
	}
}

// TestASessionIsNotAcceptedWhereAStepIsRefused, though the answer can do without the step.
func TestASessionIsNotAcceptedWhereAStepIsRefused(t *testing.T) {
	env, service := environment(t), &guests{path: "/more"}
	service.refuses.Store(true)
	url := upstream(t, service.ServeHTTP)
	s, _ := asksGuests(t, env, service, `  - {name: more, optional: true, http: {url: `+url+`/more}, judge: [{status: [412], is: limited}]}`)
	for range 4 {
		if _, err := ask(t, env, s, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := service.logins.Load(); n != 1 {
		t.Errorf("%d logins, want 1", n)
	}
}
