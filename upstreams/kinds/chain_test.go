package kinds

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/replay"
)

// hangingChain makes a chain of sources that hang until their timeout, followed by a
// local last resort.
func hangingChain(t *testing.T, env *upstreams.Environment, texts ...string) *upstreams.Chain {
	t.Helper()
	env.Replay = replay.New(map[string]replay.Fault{"test": {Latency: time.Hour}})
	for i, text := range texts {
		texts[i] = fmt.Sprintf("name: s%d\nhttp: {url: \"http://s%d.example.org/\"}\n%s\n", i, i, text)
	}
	return chainOf(t, env, false, append(texts, "name: own\nlast_resort: true\ncomputed: {}\nmap: '\"own\"'\n")...)
}

// No source's timeout deprives the next of its attempt: the time that is left is
// divided in proportion to the timeouts.
func TestTimeIsDividedAmongSources(t *testing.T) {
	rows := []struct {
		name  string
		total time.Duration
		texts []string
		want  []time.Duration
	}{
		{"more than is wanted", 20 * time.Second, []string{"timeout: 3s", "timeout: 6s"}, []time.Duration{3 * time.Second, 6 * time.Second, 0}},
		{"three that would each take it all", 15500 * time.Millisecond, []string{"timeout: 10s", "timeout: 10s", "timeout: 10s"},
			[]time.Duration{5 * time.Second, 5 * time.Second, 5 * time.Second, 0}},
		{"by what each wants", 9500 * time.Millisecond, []string{"timeout: 12s", "timeout: 6s"}, []time.Duration{6 * time.Second, 3 * time.Second, 0}},
		{"one that does not serve takes none", 7500 * time.Millisecond, []string{"timeout: 6s", "timeout: 6s\nwhen: 'false'"}, []time.Duration{6 * time.Second, 0, 0}},
	}
	for _, r := range rows {
		synctest.Test(t, func(t *testing.T) {
			c := hangingChain(t, environment(t), r.texts...)
			ctx, cancel := context.WithTimeout(t.Context(), r.total)
			defer cancel()
			var took []time.Duration
			a, err := c.Do(ctx, &upstreams.Call{}, false, func(at upstreams.AttemptReport) { took = append(took, at.Took) })
			if err != nil || a.Data != "own" || !slices.Equal(took, r.want) {
				t.Errorf("%s: %v %v after %v, want %v", r.name, a.Data, err, took, r.want)
			}
		})
	}
}

// A last resort is asked only if there is no stale copy, and the answer says so.
func TestLastResortsAreAskedOnlyWithoutACopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := hangingChain(t, environment(t), "timeout: 1s")
		if a, err := c.Do(t.Context(), &upstreams.Call{}, true, nil); err == nil || upstreams.KindOf(err) != upstreams.Timeout {
			t.Errorf("with a copy at hand: %+v %v", a, err)
		}
		if a, err := c.Do(t.Context(), &upstreams.Call{}, false, nil); err != nil || !a.LastResort {
			t.Errorf("without: %+v %v", a, err)
		}
		if !c.OnLastResort(time.Minute) {
			t.Error("what it lives on is not known")
		}
		if time.Sleep(time.Minute); c.OnLastResort(time.Minute) {
			t.Error("it is known for too long")
		}
	})
}

// What is computed here for some inputs alone says nothing of the sources that all others need, unless it is
// asked after those had nothing.
func TestWhatTakesSomeInputsDoesNotEndALastResort(t *testing.T) {
	answers := upstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("1")) })
	const reserved = "when: $params.ip == \"10.0.0.1\"\n"
	rows := []struct {
		name, text string
		ends       bool
	}{
		{"with a condition", "computed: {}\nmap: '1'\n" + reserved, false},
		{"of reserved addresses", "geoip: {use: scope}\n", false},
		{"of whatever it knows", "computed: {}\nmap: if $params.ip == \"10.0.0.1\" then 1 else null end\n", true},
		{"asked where the others had nothing", "computed: {}\nmap: '1'\nafter: negative\n" + reserved, true},
		{"of a service", "http: {url: \"" + answers + "/\"}\n" + reserved, true},
	}
	for _, r := range rows {
		env := environment(t)
		var sources []*upstreams.Source
		for _, text := range []string{
			"name: some\n" + r.text, "name: down\nhttp: {url: \"http://127.0.0.1:1/\"}\n", "name: own\nlast_resort: true\ncomputed: {}\nmap: '2'\n",
		} {
			sources = append(sources, compile(t, env, text, "ip"))
		}
		c := upstreams.NewChain("test", sources, true, env)
		for ip, source := range map[string]string{"8.8.8.8": "own", "10.0.0.1": "some"} {
			if a, err := c.Do(t.Context(), &upstreams.Call{Params: map[string]any{"ip": ip}}, false, nil); err != nil || a.Source != source {
				t.Errorf("%s: %s from %q: %v", r.name, ip, a.Source, err)
			}
		}
		if got := c.OnLastResort(time.Minute); got == r.ends {
			t.Errorf("%s: on its last resort: %v", r.name, got)
		}
	}
}

// A chain that was cancelled, or ran out of time, before its sources were asked has
// no negative answer.
func TestInterruptedChainsAreNotNegative(t *testing.T) {
	env := environment(t)
	chain := func(text string) *upstreams.Chain {
		return chainOf(t, env, true, "name: one\nhttp: {url: \"http://127.0.0.1:1/\"}\n"+text)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	for name, text := range map[string]string{"": "", "with a condition": "when: 'true'", "that serves nothing of this": "when: 'false'"} {
		if _, err := chain(text).Do(ended, &upstreams.Call{}, false, nil); upstreams.KindOf(err) != upstreams.Unavailable {
			t.Errorf("cancelled %s: %v", name, err)
		}
		if _, err := chain(text).Do(late, &upstreams.Call{}, false, nil); upstreams.KindOf(err) != upstreams.Timeout {
			t.Errorf("late %s: %v", name, err)
		}
	}
	// In time, a chain whose sources all skip the input has one.
	if _, err := chain("when: 'false'").Do(t.Context(), &upstreams.Call{}, false, nil); upstreams.KindOf(err) != upstreams.Negative {
		t.Errorf("%v", err)
	}
}

// A condition that runs out of time is an error, not false.
func TestAConditionOutOfTimeIsAnError(t *testing.T) {
	forever := `[range(1e9)] | length > 0`
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	env := environment(t)
	s := compile(t, env, "name: one\nwhen: '"+forever+"'\ncomputed: {}\n")
	if _, err := s.Probe(ctx, &upstreams.Call{}, nil); err == nil || upstreams.KindOf(err) == upstreams.Skipped {
		t.Errorf("when: %v", err)
	}
	rules := upstreams.CompileRules([]upstreams.RuleSpec{{If: &declare.Expr{Text: forever}, Is: declare.Text{Value: "negative"}}}, nil, &declare.Problems{})
	if err := upstreams.Judge(ctx, rules, &upstreams.Reply{Body: true}, &jq.Env{}); err == nil || upstreams.KindOf(err) == upstreams.Negative {
		t.Errorf("judge: %v", err)
	}
}

// Without input that can be at fault, a negative answer is a failure of its source.
func TestWithoutInputNegativeIsAFailure(t *testing.T) {
	const one = "name: one\ncomputed: {}\njudge: [{if: 'true', is: negative}]\n"
	a, err := chainOf(t, environment(t), false, one, "name: two\ncomputed: {}\nmap: '\"two\"'\n").Do(t.Context(), &upstreams.Call{}, false, nil)
	if err != nil || a.Data != "two" {
		t.Errorf("%v %v", a.Data, err)
	}
	if _, err = chainOf(t, environment(t), false, one).Do(t.Context(), &upstreams.Call{}, false, nil); upstreams.KindOf(err) != upstreams.Unavailable {
		t.Errorf("%v", err)
	}
}

func TestChain(t *testing.T) {
	type step struct {
		status, wait int
		more         string
	}
	// negative is a status that the source declares to be a negative answer.
	negative := func(more string) step { return step{404, 0, "judge: [{status: [404], is: negative}]\n" + more} }
	rows := []struct {
		name  string
		steps []step
		want  string
	}{
		{"first", []step{{status: 200}, {status: 200}}, "source 0"},
		{"failover", []step{{status: 500}, {status: 200}}, "source 1"},
		{"a dead path leads on", []step{{status: 404}, {status: 200}}, "source 1"},
		{"dead paths are no answer", []step{{status: 404}, {status: 410}}, "unavailable"},
		{"a no ends it", []step{negative(""), {status: 200}}, "negative"},
		{"a no that leads on", []step{negative("negative: next\n"), {status: 200}}, "source 1"},
		{"all say no", []step{negative("negative: next\n"), negative("negative: next\n")}, "negative"},
		{"no and unavailable is not a no", []step{negative("negative: next\n"), {status: 500}}, "unavailable"},
		{"unless that one is optional", []step{negative("negative: next\n"), {status: 500, more: "optional: true\n"}}, "negative"},
		{"or late and optional", []step{negative("negative: next\n"), {status: 200, wait: 1, more: "optional: true\n"}}, "negative"},
		{"the optional alone say nothing", []step{{status: 500}, {status: 500, more: "optional: true\n"}}, "unavailable"},
		{"an optional one answers", []step{negative("negative: next\n"), {status: 200, more: "optional: true\n"}}, "source 1"},
		{"all late", []step{{status: 200, wait: 1}, {status: 200, wait: 1}}, "timeout"},
		{"late and unavailable", []step{{status: 200, wait: 1}, {status: 500}}, "unavailable"},
		{"malformed leads on", []step{{status: 418}, {status: 200}}, "source 1"},
		{"not the host's fault", []step{{status: 404, more: "judge: [{status: [404], is: skipped}]\n"}, {status: 200}}, "source 1"},
		{"last resort", []step{{status: 500}, {status: 200, more: "last_resort: true\n"}}, "source 1, a last resort"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			var sources []string
			for i, st := range r.steps {
				url := upstream(t, func(w http.ResponseWriter, req *http.Request) {
					if st.wait > 0 {
						<-req.Context().Done()
						return
					}
					w.WriteHeader(st.status)
					fmt.Fprintf(w, `"source %d"`, i)
				})
				timeout := "20s"
				if st.wait > 0 {
					timeout = "100ms"
				}
				text := fmt.Sprintf("name: s%d\ntimeout: %s\nhttp: {url: %s/}\n", i, timeout, url)
				sources = append(sources, text+st.more)
			}
			var attempts []string
			a, err := chainOf(t, environment(t), true, sources...).Do(t.Context(), &upstreams.Call{}, false, func(at upstreams.AttemptReport) { attempts = append(attempts, at.Source+" "+at.Result) })
			got := fmt.Sprint(a.Data)
			if a.LastResort {
				got += ", a last resort"
			}
			if err != nil {
				got = upstreams.KindOf(err).String()
			}
			if got != r.want {
				t.Errorf("got %s after %v, want %s", got, attempts, r.want)
			}
		})
	}
}

func TestTotalDeadlineEndsTheChain(t *testing.T) {
	longtest.NotShort(t, "it takes a second")
	var calls atomic.Int64
	hang := func(_ http.ResponseWriter, r *http.Request) { calls.Add(1); <-r.Context().Done() }
	var sources []string
	for i := range 5 {
		sources = append(sources, fmt.Sprintf("name: s%d\ntimeout: 2s\nhttp: {url: %s/}\n", i, upstream(t, hang)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // time for each source to be reached on a busy machine
	defer cancel()
	start := time.Now()
	_, err := chainOf(t, environment(t), true, sources...).Do(ctx, &upstreams.Call{}, false, nil)
	if upstreams.KindOf(err) != upstreams.Timeout || calls.Load() != 5 || time.Since(start) > 3*time.Second {
		t.Errorf("%v after %d calls and %v, want a try for each source", err, calls.Load(), time.Since(start))
	}
}

// A source for what does not exist is asked after a definite no alone, and never in
// place of a copy: neither a failure nor a no replaces what was good. One that stands in
// for failures is not asked after a definite no, whatever optional sources failed besides.
func TestSourcesThatAreAskedAfterOthers(t *testing.T) {
	const (
		no      = "computed: {}\nnegative: next\njudge: [{if: 'true', is: negative}]\n"
		fails   = "computed: {}\njudge: [{if: 'true', is: unavailable}]\n"
		instead = "computed: {}\nafter: negative\nmap: '\"instead\"'\n"
		standIn = "computed: {}\nlast_resort: true\nafter: failure\nmap: '\"instead\"'\n"
	)
	for name, r := range map[string]struct {
		texts   []string
		hasCopy bool
		want    string
	}{
		"instead, after a no":                {[]string{no, instead}, false, "instead"},
		"instead, after a failure":           {[]string{fails, instead}, false, "unavailable"},
		"instead, after a no with a copy":    {[]string{no, instead}, true, "negative"},
		"after a no":                         {[]string{no, no, standIn}, false, "negative"},
		"after a failure":                    {[]string{fails, standIn}, false, "instead"},
		"after a no and a failure":           {[]string{no, fails, standIn}, false, "instead"},
		"after a no and an optional failure": {[]string{no, fails + "optional: true\n", standIn}, false, "negative"},
		"after an optional failure":          {[]string{fails + "optional: true\n", standIn}, false, "instead"},
		"after a no of an optional source":   {[]string{fails, no + "optional: true\n", standIn}, false, "instead"},
		"alone":                              {[]string{standIn}, false, "instead"},
	} {
		for i, text := range r.texts {
			r.texts[i] = fmt.Sprintf("name: s%d\n%s", i, text)
		}
		a, err := chainOf(t, environment(t), true, r.texts...).Do(t.Context(), &upstreams.Call{Now: time.Now()}, r.hasCopy, nil)
		got := upstreams.KindOf(err).String()
		if err == nil {
			got = fmt.Sprint(a.Data)
		}
		if got != r.want {
			t.Errorf("%s: %s, want %s: %v", name, got, r.want, err)
		}
	}
}
