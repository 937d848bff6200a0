package catalog

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

func TestFreshByTheData(t *testing.T) {
	c, err := loadText(t, "whole", strings.Replace(whole, "ttl: 1h", "ttl: 1h, fresh: .n * 60", 1))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := c.Get("whole")
	fill := func() (time.Duration, error) {
		in, bad := e.Parse("n=4", Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		content, err := (&Fill{Input: in}).Load(t.Context(), false)
		return content.Fresh, err
	}
	if fresh, err := fill(); err != nil || fresh != 4*time.Minute {
		t.Errorf("as declared: %v, %v", fresh, err)
	}
	e.fresh = nil
	if fresh, err := fill(); err != nil || fresh != 0 {
		t.Errorf("without a program: %v, %v", fresh, err)
	}
	program := func(text string) *jq.Program {
		var problems declare.Problems
		q := jq.Compile(&declare.Expr{Text: text}, nil, &problems)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return q
	}
	for text, want := range map[string]time.Duration{"$params.n * 1.9": 7 * time.Second, "null": 0, "if .n > 5 then 1 else null end": 0, "1": time.Second} {
		e.fresh = program(text)
		if fresh, err := fill(); err != nil || fresh != want {
			t.Errorf("%s: %v, %v; want %v", text, fresh, err, want)
		}
	}
	for _, text := range []string{"0", "0.5", "-60", `"60"`, "true", ".n, 2", "empty", "infinite", "nan", `error("no")`, "1e20"} {
		e.fresh = program(text)
		if fresh, err := fill(); upstreams.KindOf(err) != upstreams.Malformed || !strings.Contains(err.Error(), "fresh: ") {
			t.Errorf("%s: %v, %v; want a malformed answer", text, fresh, err)
		}
	}
}

func TestMistakeInFresh(t *testing.T) {
	_, err := loadText(t, "whole", strings.Replace(whole, "ttl: 1h", "ttl: 1h, fresh: '.n |'", 1))
	if err == nil || !strings.Contains(err.Error(), "whole.yaml:8: jq: unexpected EOF") {
		t.Errorf("%v", err)
	}
}

// Breakers weigh a call by its key where callers choose it, and by its client,
// of whom an IPv6 one has a whole /64.
func TestCallsAreWeighedByKeyAndClient(t *testing.T) {
	c := mustLoad(t, nil)
	weigh := func(endpoint, query, client string) (key, who uint64) {
		t.Helper()
		e, _ := c.Get(endpoint)
		in, bad := e.Parse(query, Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		f := Fill{Input: in}
		if client != "" {
			f.Client = netip.MustParseAddr(client)
		}
		w := f.callerOf(in.Form.Chain)
		return w.Key, w.Client
	}
	one, v4 := weigh("ip", "ip=8.8.8.8", "203.0.113.7")
	other, v4again := weigh("ip", "ip=8.8.4.4", "203.0.113.7")
	if one == other || one == 0 || v4 != v4again || v4 == 0 {
		t.Errorf("keys %x and %x, clients %x and %x", one, other, v4, v4again)
	}
	if key, _ := weigh("yiyan", "", "203.0.113.7"); key != 0 {
		t.Errorf("a key that nobody chooses weighs %x", key)
	}
	_, a := weigh("ip", "", "2001:db8:1:2::3")
	_, b := weigh("ip", "", "2001:db8:1:2:ffff::4")
	_, d := weigh("ip", "", "2001:db8:1:3::3")
	if a != b || a == d {
		t.Errorf("two of a /64: %x and %x; of another: %x", a, b, d)
	}
	if _, nobody := weigh("ip", "ip=8.8.8.8", ""); nobody != 0 {
		t.Errorf("nobody weighs %x", nobody)
	}
}

func TestEmbeddedQuotes(t *testing.T) {
	c := mustLoad(t, nil)
	e, _ := c.Get("yiyan")
	sources := e.Sources()
	last := sources[len(sources)-1]
	a, err := upstreams.NewChain("yiyan", []*upstreams.Source{last}, true, e.env).Do(t.Context(), &upstreams.Call{Endpoint: "yiyan", Now: time.Now()}, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	quotes := a.Data.([]any)
	seen := map[string]bool{}
	for _, q := range quotes {
		m := q.(map[string]any)
		text := m["text"].(string)
		if seen[text] || len([]rune(text)) < 4 || len([]rune(text)) > 80 || m["from"] == "" || m["category"] == nil {
			t.Errorf("quote %v", m)
		}
		seen[text] = true
	}
	if len(quotes) < 240 {
		t.Errorf("%d quotes", len(quotes))
	}
}
