package kinds

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
	"sundry/upstreams/replay"
)

// hung is a chain of sources that hang until they run into a timeout, as long as
// each says.
func hung(t *testing.T, env *upstreams.Environment, texts ...string) *upstreams.Chain {
	t.Helper()
	env.Replay = replay.New(map[string]replay.Fault{"test": {Latency: time.Hour}})
	var sources []*upstreams.Source
	for i, text := range texts {
		sources = append(sources, compile(t, env, fmt.Sprintf("name: s%d\nhttp: {url: \"http://s%d.example.org/\"}\n%s\n", i, i, text)))
	}
	sources = append(sources, compile(t, env, "name: own\nlast_resort: true\ncomputed: {}\nmap: '\"own\"'\n"))
	return upstreams.NewChain("test", sources, false, env)
}

// No source's timeout leaves the next one without a try: what is left is
// divided by what each would take.
func TestTimeIsSharedOut(t *testing.T) {
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
			c := hung(t, environment(t), r.texts...)
			ctx, cancel := context.WithTimeout(t.Context(), r.total)
			defer cancel()
			var took []time.Duration
			a, err := c.Do(ctx, &upstreams.Call{}, false, func(at upstreams.Attempt) { took = append(took, at.Took) })
			if err != nil || a.Data != "own" || !slices.Equal(took, r.want) {
				t.Errorf("%s: %v %v after %v, want %v", r.name, a.Data, err, took, r.want)
			}
		})
	}
}

// A last resort is left alone while a copy may stand in, and so is the answer.
func TestLastResortsAreForWhenNothingElseIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := hung(t, environment(t), "timeout: 1s")
		if a, err := c.Do(t.Context(), &upstreams.Call{}, true, nil); err == nil || upstreams.KindOf(err) != upstreams.Timeout {
			t.Errorf("with a copy at hand: %+v %v", a, err)
		}
		if a, err := c.Do(t.Context(), &upstreams.Call{}, false, nil); err != nil || !a.LastResort {
			t.Errorf("without: %+v %v", a, err)
		}
	})
}

// Only what somebody said is an answer: a chain that ended before anybody was
// asked, or in the midst of it, says nothing.
func TestAnInterruptedChainIsNoAnswer(t *testing.T) {
	env := environment(t)
	chain := func(text string) *upstreams.Chain {
		return upstreams.NewChain("test", []*upstreams.Source{compile(t, env, "name: one\nhttp: {url: \"http://127.0.0.1:1/\"}\n"+text)}, true, env)
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
	// That none serves it was told in time.
	if _, err := chain("when: 'false'").Do(t.Context(), &upstreams.Call{}, false, nil); upstreams.KindOf(err) != upstreams.Negative {
		t.Errorf("%v", err)
	}
}

// A condition that ran out of time said nothing: it is not a no.
func TestAConditionOutOfTimeIsAnError(t *testing.T) {
	forever := `[range(1e9)] | length > 0`
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	env := environment(t)
	s := compile(t, env, "name: one\nwhen: '"+forever+"'\ncomputed: {}\n")
	if _, err := s.Probe(ctx, &upstreams.Call{}, nil); err == nil || upstreams.KindOf(err) == upstreams.Skipped {
		t.Errorf("when: %v", err)
	}
	rules := upstreams.CompileRules([]upstreams.RuleSpec{{If: &declare.Expr{Source: forever}, Is: declare.Text{Value: "negative"}}}, nil, &declare.Problems{})
	if err := upstreams.Judge(ctx, rules, &upstreams.Reply{Body: true}, &jq.Env{}); err == nil || upstreams.KindOf(err) == upstreams.Negative {
		t.Errorf("judge: %v", err)
	}
}

// Without input that can be at fault, a no is a source's failure.
func TestNobodyIsRefusedWithoutInput(t *testing.T) {
	env := environment(t)
	sources := []*upstreams.Source{
		compile(t, env, "name: one\ncomputed: {}\njudge: [{if: 'true', is: negative}]\n"),
		compile(t, env, "name: two\ncomputed: {}\nmap: '\"two\"'\n"),
	}
	a, err := upstreams.NewChain("test", sources, false, env).Do(t.Context(), &upstreams.Call{}, false, nil)
	if err != nil || a.Data != "two" {
		t.Errorf("%v %v", a.Data, err)
	}
	if _, err = upstreams.NewChain("test", sources[:1], false, env).Do(t.Context(), &upstreams.Call{}, false, nil); upstreams.KindOf(err) != upstreams.Unavailable {
		t.Errorf("%v", err)
	}
}
