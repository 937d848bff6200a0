package kinds

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/replay"
)

// steps is an upstream that issues tickets and shows those that it is sent.
type steps struct{ tickets, calls atomic.Int64 }

func (s *steps) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/ticket":
		http.SetCookie(w, &http.Cookie{Name: "sid", Value: "c" + r.URL.Query().Get("of")})
		fmt.Fprintf(w, `{"ticket":"t%d"}`, s.tickets.Add(1))
	case "/gone":
		http.NotFound(w, r)
	case "/call":
		s.calls.Add(1)
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"ticket":%q,"cookie":%q,"method":%q,"type":%q,"sent":%q}`,
			r.URL.Query().Get("t"), r.Header.Get("Cookie"), r.Method, r.Header.Get("Content-Type"), body)
	}
}

func TestStepsComeBeforeTheRequest(t *testing.T) {
	service := &steps{}
	url := upstream(t, service.ServeHTTP)
	env := environment(t)
	env.StepCache = &memory{results: map[string]kept{}}
	s := compile(t, env, `
name: one
before:
  - name: ticket
    http: {url: `+url+`/ticket, query: {of: "{n}"}}
    keep: .ticket + "/" + $cookies.sid
    for: 1m
  - name: never
    when: $params.n == "0"
    http: {url: `+url+`/gone}
vars: {sum: '$vars.ticket + "!" + ($vars.never | tostring)'}
http: {url: `+url+`/call, query: {t: "{ticket}"}, headers: {Cookie: "x={sum}"}}
`, "n")
	for i, want := range []struct{ n, ticket string }{{"1", "t1/c1"}, {"1", "t1/c1"}, {"2", "t2/c2"}, {"1", "t1/c1"}} {
		a, err := ask(t, env, s, map[string]any{"n": want.n})
		if err != nil {
			t.Fatal(err)
		}
		got := a.Data.(map[string]any)
		if got["ticket"] != want.ticket || got["cookie"] != "x="+want.ticket+"!null" {
			t.Errorf("call %d: %v, want %v", i, got, want)
		}
	}
	if n := service.tickets.Load(); n != 2 {
		t.Errorf("%d tickets were fetched, want 2: they are kept for a minute", n)
	}
}

func TestFailedStepsEndTheAttempt(t *testing.T) {
	service := &steps{}
	url := upstream(t, service.ServeHTTP)
	env := environment(t)
	for text, want := range map[string]upstreams.ErrorKind{
		"http: {url: " + url + "/gone}":                                             upstreams.Unavailable,
		"http: {url: " + url + "/gone}\n    judge: [{status: [404], is: negative}]": upstreams.Negative,
		"http: {url: " + url + "/ticket}\n    judge: [{if: .ticket, is: limited}]":  upstreams.Limited,
		"http: {url: " + url + "/ticket}\n    keep: error":                          upstreams.Malformed,
		"http: {url: " + url + "/ticket}\n    keep: .[0]":                           upstreams.Malformed,
	} {
		s := compile(t, env, "name: one\nbefore:\n  - name: first\n    "+text+"\nhttp: {url: "+url+"/call}\n")
		if _, err := s.Probe(t.Context(), &upstreams.Call{}, nil); upstreams.KindOf(err) != want {
			t.Errorf("%s: %v, want %v", text, err, want)
		}
	}
	if n := service.calls.Load(); n != 0 {
		t.Errorf("the source's own request was sent %d times after a failed step", n)
	}
}

// TestRefusedSessionsAreRenewed: a session is cached until the upstream refuses it. Then it
// is requested again, and so is what was refused, once.
func TestRefusedSessionsAreRenewed(t *testing.T) {
	service := &steps{}
	url := upstream(t, service.ServeHTTP)
	env, stepCache := environment(t), &memory{results: map[string]kept{}}
	env.StepCache = stepCache
	for renew, want := range map[string]struct{ tickets, calls int64 }{"renew: true": {2, 5}, "": {1, 4}} {
		service.tickets.Store(0)
		service.calls.Store(0)
		stepCache.forget()
		s := compile(t, env, `
name: one
before:
  - {name: ticket, http: {url: `+url+`/ticket}, keep: .ticket, for: 1h, `+renew+`}
http: {url: `+url+`/call, query: {t: "{ticket}"}}
judge: [{if: '$params.n == "refused"', is: limited}]
`, "n")
		for _, n := range []string{"well", "refused", "well", "well"} {
			_, err := ask(t, env, s, map[string]any{"n": n})
			if (err != nil) != (n == "refused") {
				t.Fatal(err)
			}
		}
		if tickets, calls := service.tickets.Load(), service.calls.Load(); tickets != want.tickets || calls != want.calls {
			t.Errorf("%q: %d tickets and %d calls, want %v", renew, tickets, calls, want)
		}
	}
}

// TestAnOptionalStepIsRefusedWithTheSession: the answer can do without it, but has it with
// a new session.
func TestAnOptionalStepIsRefusedWithTheSession(t *testing.T) {
	var tickets, ended atomic.Int64
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/ticket":
			fmt.Fprintf(w, `{"ticket":%d}`, tickets.Add(1))
		case r.FormValue("t") == fmt.Sprint(ended.Load()):
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			fmt.Fprint(w, `{}`)
		}
	})
	env := environment(t)
	env.StepCache = &memory{results: map[string]kept{}}
	s := compile(t, env, `
name: one
before:
  - {name: ticket, http: {url: `+url+`/ticket}, keep: .ticket, for: 1h, renew: true}
  - {name: more, optional: true, http: {url: `+url+`/more, query: {t: "{ticket}"}}, keep: '"more"'}
computed: {}
map: '{more: $vars.more}'
`)
	for call := range 3 {
		if a, err := ask(t, env, s, nil); err != nil || a.Data.(map[string]any)["more"] != "more" {
			t.Errorf("call %d: %v, %v", call, a.Data, err)
		}
		ended.Store(1)
	}
	if n := tickets.Load(); n != 2 {
		t.Errorf("%d tickets, want 2", n)
	}
}

// TestARefusedSessionIsNoFailureOfTheHost: many that are refused at the same time, because
// one session ended, do not open the breaker.
func TestARefusedSessionIsNoFailureOfTheHost(t *testing.T) {
	const callers = 30
	var tickets, refused atomic.Int64
	all := make(chan struct{})
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/ticket":
			fmt.Fprintf(w, `{"ticket":%d}`, tickets.Add(1))
		case r.FormValue("t") == "1" && r.FormValue("n") != "first":
			if refused.Add(1) == callers {
				close(all)
			}
			<-all
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			fmt.Fprint(w, `{}`)
		}
	})
	env := environment(t)
	env.StepCache = &memory{results: map[string]kept{}}
	s := compile(t, env, `
name: one
before: [{name: ticket, http: {url: `+url+`/ticket}, keep: .ticket, for: 1h, renew: true}]
http: {url: `+url+`/call, query: {t: "{ticket}", n: "{n}"}}
`, "n")
	if _, err := ask(t, env, s, map[string]any{"n": "first"}); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			if _, err := ask(t, env, s, map[string]any{"n": "later"}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := tickets.Load(); n != 2 || s.Kind.Host.Openings() > 0 {
		t.Errorf("%d tickets, want 2; the breaker opened %d times", n, s.Kind.Host.Openings())
	}
}

// memory is a step cache without expiry.
type memory struct {
	mu      sync.Mutex
	results map[string]kept
}

type kept struct {
	value   any
	created time.Time
}

// age makes all results older.
func (m *memory) age(by time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, v := range m.results {
		m.results[id] = kept{v.value, v.created.Add(-by)}
	}
}

type memoryResults struct {
	*memory
	prefix string
}

func (m *memory) Open(endpoint string, rule upstreams.StepCacheRule) upstreams.StepResults {
	return memoryResults{m, endpoint + " " + rule.Step + " "}
}

func (m *memory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.results = map[string]kept{}
}

func (s memoryResults) Get(ctx context.Context, id string, fetch func(context.Context) (any, error)) (any, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.results[s.prefix+id]; ok {
		return v.value, v.created, nil
	}
	created := time.Now()
	v, err := fetch(ctx)
	if err == nil {
		s.results[s.prefix+id] = kept{v, created}
	}
	return v, created, err
}

func (s memoryResults) Drop(id string, created time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.results[s.prefix+id].created.After(created) {
		delete(s.results, s.prefix+id)
	}
}

func TestOptionalSteps(t *testing.T) {
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			<-r.Context().Done()
		case "/gone":
			http.NotFound(w, r)
		case "/text":
			fmt.Fprint(w, "no JSON")
		default:
			fmt.Fprint(w, `{"a":1}`)
		}
	})
	env := environment(t)
	for step, want := range map[string]string{
		"optional: true, http: {url: " + url + "/good}":                   "map[a:1]",
		"optional: true, http: {url: " + url + "/gone}":                   "<nil>",
		"optional: true, http: {url: " + url + "/text}":                   "<nil>",
		"optional: true, timeout: 20ms, http: {url: " + url + "/slow}":    "<nil>",
		"optional: true, http: {url: " + url + "/good}, keep: .a.b":       "<nil>",
		"http: {url: " + url + "/gone}":                                   upstreams.Unavailable.String(),
		"timeout: 20ms, http: {url: " + url + "/slow}":                    upstreams.Timeout.String(),
		"optional: true, timeout: 20s, http: {url: " + url + "/slow}":     upstreams.Timeout.String(), // it used up the source's time
		`optional: true, vars: {x: error}, http: {url: ` + url + `/good}`: upstreams.Malformed.String(),
	} {
		s := compile(t, env, "name: one\ntimeout: 300ms\nbefore: [{name: first, "+step+"}]\ncomputed: {}\nmap: '{first: $vars.first}'")
		a, err := s.Probe(t.Context(), &upstreams.Call{Now: time.Now()}, nil)
		got := upstreams.KindOf(err).String()
		if err == nil {
			got = fmt.Sprint(a.Data.(map[string]any)["first"])
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", step, got, err, want)
		}
	}
}

func TestShareLinksAreJudged(t *testing.T) {
	env := environment(t)
	s := compile(t, env, `
name: one
before:
  - name: link
    share: $params.url
    judge:
      - {if: .kind == "opus", is: negative}
      - {if: .platform != "bilibili", is: skipped}
computed: {}
map: '{id: $vars.link.id}'
`, "url")
	for link, want := range map[string]string{
		"https://www.bilibili.com/video/BV1xx411c7mD":        "BV1xx411c7mD",
		"https://www.bilibili.com/opus/1123456789012345678":  upstreams.Negative.String(),
		"https://www.douyin.com/video/7412345678901234567":   upstreams.Skipped.String(),
		"https://example.org/a link of no platform whatever": upstreams.Malformed.String(),
	} {
		a, err := s.Probe(t.Context(), &upstreams.Call{Params: map[string]any{"url": link}}, nil)
		got := upstreams.KindOf(err).String()
		if err == nil {
			got = a.Data.(map[string]any)["id"].(string)
		}
		if got != want {
			t.Errorf("%s: %s (%v), want %s", link, got, err, want)
		}
	}
}

// TestResolvedShortLinksAreJudged uses a replay, because the hosts of short links are
// on the internet.
func TestResolvedShortLinksAreJudged(t *testing.T) {
	env, stepCache := environment(t), &memory{results: map[string]kept{}}
	network := replay.New(nil)
	env.Replay, env.StepCache = network, stepCache
	s := compile(t, env, `
name: one
before:
  - {name: link, share: $params.url, for: 1h, judge: [{if: .kind == "opus", is: negative}]}
computed: {}
map: '{id: $vars.link.id}'
`, "url")
	redirectTo := func(to string) {
		stepCache.forget()
		network.Set([]*replay.Exchange{{Endpoint: "test", Source: "one", Name: "good", Want: "success",
			RoundTrips: []replay.RoundTrip{{Step: "link", Status: http.StatusFound, Header: http.Header{"Location": {to}}}}}})
	}
	redirectTo("https://www.bilibili.com/opus/1123456789012345678")
	for range 2 { // the second time from memory
		if _, err := ask(t, env, s, map[string]any{"url": "https://b23.tv/abc"}); upstreams.KindOf(err) != upstreams.Negative || !strings.Contains(err.Error(), "replay:one: negative") {
			t.Errorf("%v, want negative", err)
		}
	}
	redirectTo("https://www.bilibili.com/video/BV1xx411c7mD")
	a, err := ask(t, env, s, map[string]any{"url": "https://b23.tv/abc"})
	if err != nil || a.Data.(map[string]any)["id"] != "BV1xx411c7mD" {
		t.Errorf("%v %v", a.Data, err)
	}
}
