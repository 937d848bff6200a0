package kinds

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/host"
	"sundry/upstreams/replay"
)

// given is a lookup of what an operator has set.
func given(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

// TestOptionsAreOptional: without its options a source is asked all the same, and
// sends nothing in their place.
func TestOptionsAreOptional(t *testing.T) {
	var got *http.Request
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) { got = r.Clone(context.Background()); fmt.Fprint(w, `{}`) })
	text := `
name: one
options: {cookie: TEST_COOKIE, token: TEST_TOKEN}
vars: {sign: 'if $secrets.token == "" then "guest" else $secrets.token | md5 end'}
http:
  url: ` + url + `/
  query: {token: "{token}", sign: "{sign}", literal: ""}
  headers: {Cookie: "{cookie}", X-Both: "a={cookie}"}
`
	for name, c := range map[string]struct {
		set                            map[string]string
		query, cookie, both, shownOnly string
		keyed                          bool
	}{
		"unset": {nil, "literal=&sign=guest", "", "a=", "", false},
		"empty": {map[string]string{"TEST_COOKIE": ""}, "literal=&sign=guest", "", "a=", "", false},
		"set":   {map[string]string{"TEST_COOKIE": "SESSDATA=geheim1", "TEST_TOKEN": "geheim2"}, "literal=&sign=ab5ec9d7cc66bb97b9ce4dc3a1d9b9c7&token=geheim2", "SESSDATA=geheim1", "a=SESSDATA=geheim1", "token=***", true},
	} {
		env := environment(t)
		env.Secret = given(c.set)
		s := compile(t, env, text)
		var shown strings.Builder
		if _, err := s.Probe(t.Context(), &upstreams.Call{}, func(a upstreams.AttemptReport) { fmt.Fprint(&shown, a.Stages) }); err != nil || s.Missing != "" || s.Keyed() != c.keyed {
			t.Fatalf("%s: %v, missing %q, keyed %v", name, err, s.Missing, s.Keyed())
		}
		query := got.URL.RawQuery
		if c.keyed {
			query = strings.Replace(query, "sign="+got.URL.Query().Get("sign"), "sign=ab5ec9d7cc66bb97b9ce4dc3a1d9b9c7", 1)
		}
		if _, sent := got.Header["Cookie"]; query != c.query || got.Header.Get("Cookie") != c.cookie || sent != (c.cookie != "") || got.Header.Get("X-Both") != c.both {
			t.Errorf("%s: %s %v", name, got.URL.RawQuery, got.Header)
		}
		if strings.Contains(shown.String(), "geheim") || !strings.Contains(shown.String(), c.shownOnly) {
			t.Errorf("%s: shown: %s", name, &shown)
		}
	}
}

// TestHostOfTheOperator: the address of a self-hosted service is a secret's value.
func TestHostOfTheOperator(t *testing.T) {
	var got atomic.Pointer[http.Request]
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Clone(context.Background()))
		fmt.Fprint(w, `{}`)
	})
	const text = `
name: one
secrets: {base: TEST_URL}
http: {url: "{base}/hot/{n}", query: {a: b}}
`
	for _, base := range []string{url, url + "/", url + "/a%20b", url + "/a%7Bn%7D/"} {
		env := environment(t)
		env.Secret = given(map[string]string{"TEST_URL": base})
		s := compile(t, env, text, "n")
		if _, err := s.Probe(t.Context(), &upstreams.Call{Params: map[string]any{"n": "../x"}}, nil); err != nil {
			t.Fatalf("%s: %v", base, err)
		}
		if want := strings.TrimPrefix(strings.TrimRight(base, "/"), url) + "/hot/..%2Fx?a=b"; got.Load().RequestURI != want {
			t.Errorf("%s: %s, want %s", base, got.Load().RequestURI, want)
		}
		if s.Kind.Host == nil || "http://"+s.Kind.Host.Name != url {
			t.Errorf("%s: its host is %v", base, s.Kind.Host)
		}
	}
}

func TestHostOfTheOperatorIsNotSet(t *testing.T) {
	env := environment(t)
	s := compile(t, env, "name: one\nsecrets: {base: TEST_URL}\nhttp: {url: '{base}/hot'}")
	if s.Missing != "TEST_URL" || s.Kind.Host != nil || len(env.Hosts.All()) != 0 {
		t.Errorf("missing %q, host %v, hosts %v; want a source that is left out", s.Missing, s.Kind.Host, env.Hosts.All())
	}
	env.Replay = replay.New(nil)
	s = compile(t, env, "name: one\nsecrets: {base: SUNDRY_RSS_HUB_URL}\nhttp: {url: '{base}/hot'}")
	if s.Kind.Host == nil || s.Kind.Host.Name != "rss-hub.example" {
		t.Errorf("in a replay its host is %v", s.Kind.Host)
	}
}

func TestMistakesOfAddresses(t *testing.T) {
	const expected = "2: TEST_URL: expected an http or https address without a user, a password and a query, such as https://rsshub.example.org"
	for value, want := range map[string]string{
		"example.org": expected, "ftp://example.org": expected, "https://u:geheim@example.org": expected, "https://example.org/?geheim=1": expected,
		"https://example.org/?": expected, "https://example.org/#geheim": expected, "https://": expected, "https://:80/": expected, "://geheim": expected,
	} {
		env := environment(t)
		env.Secret = given(map[string]string{"TEST_URL": value})
		_, problems := tryCompile(t, env, "name: x\nhttp: {url: '{base}/x'}\nsecrets: {base: TEST_URL}")
		if len(problems) != 1 || fmt.Sprintf("%d: %s", problems[0].Line, problems[0].Msg) != want {
			t.Errorf("%s: %v, want %s", value, problems, want)
		}
	}
	for text, want := range map[string]string{
		"http: {url: '{nope}/x'}":                                                 "url: {nope}/x: expected the name of a secret that holds an address, then a path",
		"options: {base: TEST_URL}\nhttp: {url: '{base}/x'}":                      "url: {base}/x: expected the name of a secret",
		"secrets: {base: TEST_URL}\nhttp: {url: '{base}.evil.org/x'}":             "url: {base}.evil.org/x: expected",
		"secrets: {base: TEST_URL}\nhttp: {url: 'https://{base}/x'}":              "url: expected a literal host, without placeholders",
		"secrets: {a: X}\noptions: {a: Y}\ncomputed: {}":                          "options: a is below secrets: as well; expected it once",
		"options: {'A b': X}\ncomputed: {}":                                       `placeholder "A b": expected a name of lower-case letters`,
		"http: {url: 'https://a.org/', agent: browser, headers: {user-agent: x}}": "agent and the header User-Agent: expected only one of them",
	} {
		_, problems := tryCompile(t, environment(t), "name: x\n"+text)
		if said := fmt.Sprint(problems); !strings.Contains(said, want) {
			t.Errorf("%s:\n%s\nwant %s", text, said, want)
		}
	}
}

// TestRateIsKept: above its rate a source is skipped without a call, and the breaker
// learns nothing.
func TestRateIsKept(t *testing.T) {
	var calls atomic.Int32
	url := upstream(t, func(w http.ResponseWriter, _ *http.Request) { calls.Add(1); fmt.Fprint(w, `{}`) })
	env := environment(t)
	text := "name: one\nrate: 3/1h\nretry: 2\nhttp: {url: " + url + "/}"
	s := compile(t, env, text)
	for i := range 20 {
		if i == 10 {
			s = compile(t, env, text) // a reload does not renew it
		}
		_, err := s.Probe(t.Context(), &upstreams.Call{}, nil)
		if kind := upstreams.KindOf(err); (i < 3) != (err == nil) || i >= 3 && kind != upstreams.Throttled {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	other := compile(t, env, strings.Replace(text, "one", "other", 1))
	if _, err := other.Probe(t.Context(), &upstreams.Call{}, nil); upstreams.KindOf(err) != upstreams.Throttled {
		t.Errorf("another source of the same host with the same rate: %v", err)
	}
	if calls.Load() != 3 || s.Kind.Host.State() != "closed" {
		t.Errorf("%d calls, breaker %s", calls.Load(), s.Kind.Host.State())
	}
	if n := len(env.Journal.Failures()); n != 0 {
		t.Errorf("%d failures in the journal; nothing failed", n)
	}
	if recent := env.Journal.Recent("test", "one"); len(recent) != 4 || recent[3].Result != "throttled" {
		t.Errorf("the journal has %v, want the calls, and once that the rate was used up", recent)
	}
}

// TestRateIsNotTakenByRejectedCalls: while the breaker is open, nothing is called.
func TestRateIsNotTakenByRejectedCalls(t *testing.T) {
	env := environment(t)
	s := compile(t, env, "name: one\nrate: 1/1h\nhttp: {url: 'http://127.0.0.1:1/'}")
	s.Kind.Host.Force(host.ForceOpen)
	for range 5 {
		if _, err := s.Probe(t.Context(), &upstreams.Call{}, nil); upstreams.KindOf(err) != upstreams.Rejected {
			t.Fatal(err)
		}
	}
	s.Kind.Host.Force(host.Unforced)
	if _, err := s.Probe(t.Context(), &upstreams.Call{}, nil); upstreams.KindOf(err) != upstreams.Unavailable {
		t.Errorf("%v, want the call to be made", err)
	}
}

// TestThrottledSourceFailsOver: the next source answers.
func TestThrottledSourceFailsOver(t *testing.T) {
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `{"path":%q}`, r.URL.Path) })
	chain := chainOf(t, environment(t), true, "name: first\nrate: 1/1h\nhttp: {url: "+url+"/first}", "name: second\nhttp: {url: "+url+"/second}")
	for _, want := range []string{"first", "second", "second"} {
		if a, err := chain.Do(t.Context(), &upstreams.Call{}, false, nil); err != nil || a.Source != want {
			t.Errorf("%v %v, want %s", a.Source, err, want)
		}
	}
}

// TestAgentOfPictures: hosts of pictures may expect a browser too.
func TestAgentOfPictures(t *testing.T) {
	var got atomic.Value
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.UserAgent())
		_, _ = w.Write([]byte(png))
	})
	for agent, want := range map[string]string{"": upstreams.DefaultAgents().Own, ", agent: browser": upstreams.DefaultAgents().Browser} {
		s := compile(t, environment(t), "name: a\ncomputed: {}\nmap: '{u: \""+url+"/x.png\"}'\npicture: {url: .u, hosts: ['"+strings.TrimPrefix(url, "http://")+"']"+agent+"}")
		if _, err := s.Probe(t.Context(), &upstreams.Call{}, nil); got.Load() != want {
			t.Errorf("%v %v, want %s", got.Load(), err, want)
		}
	}
}

func TestAgents(t *testing.T) {
	var got string
	url := upstream(t, func(w http.ResponseWriter, r *http.Request) { got = r.UserAgent(); fmt.Fprint(w, `{}`) })
	env := environment(t)
	own, browser := compile(t, env, "name: a\nhttp: {url: "+url+"}"), compile(t, env, "name: b\nhttp: {url: "+url+", agent: browser}")
	named := compile(t, env, "name: c\nhttp: {url: "+url+", headers: {User-Agent: phone}}")
	for _, step := range []struct {
		set  upstreams.Agents
		want []string
	}{
		{upstreams.DefaultAgents(), []string{"Sundry/1.0", upstreams.DefaultAgents().Browser, "phone"}},
		{upstreams.Agents{Own: "Sundry/2 (+a@example.org)", Browser: "Mozilla/5.0 mine"}, []string{"Sundry/2 (+a@example.org)", "Mozilla/5.0 mine", "phone"}},
	} {
		env.SetOutgoing(upstreams.Outgoing{Agents: step.set})
		for i, s := range []*upstreams.Source{own, browser, named} {
			if _, err := s.Probe(t.Context(), &upstreams.Call{}, nil); err != nil || got != step.want[i] {
				t.Errorf("%q %v, want %q", got, err, step.want[i])
			}
		}
	}
}

// TestRefreshesGoByTheSourceThatTheyWouldCall: what is left of the others' quotas does not
// matter, nor does that of a source that serves other input or is rejected.
func TestRefreshesGoByTheSourceThatTheyWouldCall(t *testing.T) {
	const fetch = "http: {url: 'http://127.0.0.1:1/'}"
	free, used := "name: free\n"+fetch, "name: used\nrate: 8/1h\n"+fetch
	local, last := "name: local\ncomputed: {}", "name: last\nlast_resort: true\nrate: 7/1h\n"+fetch
	for _, c := range []struct {
		name    string
		sources []string
		want    bool
	}{
		{"no quota", []string{free}, false},
		{"used up", []string{used}, true},
		{"first, then one without", []string{used, free}, true},
		{"second", []string{free, used}, false},
		{"after a local one", []string{local, used}, true},
		{"of a source that does not serve", []string{strings.Replace(used, "rate", "when: '$params.n == 2'\nrate", 1), free}, false},
		{"behind one that does not serve", []string{"name: other\nwhen: '$params.n == 2'\n" + fetch, used}, true},
		{"asked after a failure", []string{strings.Replace(used, "rate", "after: failure\nrate", 1), free}, false},
		{"of a last resort", []string{local, last}, false},
	} {
		env := environment(t)
		var sources []*upstreams.Source
		for _, text := range c.sources {
			s := compile(t, env, text, "n")
			for s.Quota != nil && s.Quota.Take(t.Context(), time.Now()) {
			}
			sources = append(sources, s)
		}
		chain := upstreams.NewChain("test", sources, true, env)
		call := &upstreams.Call{Params: map[string]any{"n": 1}}
		got := chain.Withholds(t.Context(), call, func(left float64) bool { return left > 0 })
		if got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
		if n := len(env.Journal.Recent("test", "used")); n > 0 {
			t.Errorf("%s: %d attempts", c.name, n)
		}
	}
}

// TestRefreshesLeaveTheReserveOfASource: what a caller without a copy gets.
func TestRefreshesLeaveTheReserveOfASource(t *testing.T) {
	url := upstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) })
	env := environment(t)
	chain := upstreams.NewChain("test", []*upstreams.Source{compile(t, env, "name: one\nrate: 8/1h\nhttp: {url: "+url+"/}")}, true, env)
	for _, step := range []struct {
		hasCopy bool
		want    int
	}{{true, 6}, {false, 2}} {
		answered := 0
		for range 10 {
			if _, err := chain.Do(t.Context(), &upstreams.Call{}, step.hasCopy, nil); err == nil {
				answered++
			}
		}
		if answered != step.want {
			t.Errorf("with a copy %v: %d answered, want %d", step.hasCopy, answered, step.want)
		}
	}
}
