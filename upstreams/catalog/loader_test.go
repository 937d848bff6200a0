package catalog

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// failsAs holds the first chain of the endpoint whole to the kind of its error, by query.
func failsAs(t *testing.T, c *Catalog, kinds map[string]upstreams.ErrorKind) {
	t.Helper()
	e, _ := c.Get("whole")
	for query, want := range kinds {
		in, bad := e.Parse(query, Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		_, err := e.Chains[0].Do(t.Context(), in.Call(time.Now()), false, nil)
		if got := upstreams.KindOf(err); got != want {
			t.Errorf("%q: %s, want %s", query, got, want)
		}
	}
}

// TestWhatTheEndpointChoosesExists: that a source has nothing for the endpoint's own default
// is the source's failure; for what a caller asks for, it is the answer.
func TestWhatTheEndpointChoosesExists(t *testing.T) {
	c, err := loadText(t, strings.Replace(whole, "    computed: {}\n", "    computed: {}\n    judge: [{if: true, is: negative}]\n", 1))
	if err != nil {
		t.Fatal(err)
	}
	failsAs(t, c, map[string]upstreams.ErrorKind{"": upstreams.Unavailable, "n=3": upstreams.Unavailable, "type=text": upstreams.Unavailable, "n=4": upstreams.Negative})
}

// TestWhatTheEndpointNamesExists: a choice that stands for an input is the endpoint's own as
// well, such as a chart of ours, by its name or by its number.
func TestWhatTheEndpointNamesExists(t *testing.T) {
	const charts = `  - {name: n, type: digits, min_len: 1, max_len: 9, default: "10", example: "10"}
  - {name: chart, type: string, enum: [new, old], as: {new: "20", old: "10"}, stands_for: n, example: new}
`
	const one = `  - {name: n, type: int, min: 1, max: 9, default: "3", example: "4"}
`
	c, err := loadText(t, strings.NewReplacer(one, charts, "    computed: {}\n", "    computed: {}\n    judge: [{if: true, is: negative}]\n").Replace(whole))
	if err != nil {
		t.Fatal(err)
	}
	failsAs(t, c, map[string]upstreams.ErrorKind{"chart=new": upstreams.Unavailable, "n=20": upstreams.Unavailable, "n=21": upstreams.Negative, "n=21&chart=new": upstreams.Negative})
}

// TestHollowDataAreNoAnswer: the next source is asked, in the chain of the JSON form and in
// those that are like it.
func TestHollowDataAreNoAnswer(t *testing.T) {
	text := strings.NewReplacer("forms:", "fields: {n: {}, list: {at_least: 1, fields: {url: {is: link, must: true}}}}\nforms:",
		"map: '{n: $params.n}'\n", "map: '{list: [{url: \"https://a.example/null\"}]}'\n  - name: nothing\n    computed: {}\n    map: '{list: []}'\n    empty: {if: $params.n == 9, because: there is none}\n  - name: good\n    computed: {}\n    map: '{n: 1, list: [{url: \"https://a.example/\"}, {}]}'\n").Replace(whole)
	e := wholeOf(t, text)
	for query, want := range map[string]string{"n=4": "good", "n=9": "nothing"} {
		in, bad := e.Parse(query, Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		var failures []string
		a, err := e.Chains[0].Do(t.Context(), in.Call(time.Now()), false, func(a upstreams.AttemptReport) {
			if a.Err != nil {
				failures = append(failures, a.Err.Error())
			}
		})
		if err != nil || a.Source != want {
			t.Errorf("%s: %+v, %v", query, a, err)
		}
		if want := `the answer is incomplete: list: expected a list of at least 1, got a list of 0; left out: [].url: expected a link`; len(failures) == 0 || !strings.Contains(failures[0], want) {
			t.Errorf("%s: %v, want %s", query, failures, want)
		}
	}
}

// TestOtherDataAreNotJudged: the sources that a chain has beside those of the JSON form
// answer with something else, such as a picture.
func TestOtherDataAreNotJudged(t *testing.T) {
	text := strings.Replace(whole, "forms:", "fields: {n: {}, news: {at_least: 1}}\nforms:\n  - {name: image, chain: pictures, picture: source}", 1) +
		"chains: {pictures: {like: main, draw: digest, sources: [{name: own, computed: {}, map: '{date: \"2026-11-21\"}'}]}}\n"
	in := inputOf(t, text)
	for _, chain := range in.Endpoint.Chains {
		if a, err := chain.Do(t.Context(), in.Call(time.Now()), false, nil); (err == nil) != (chain.Name == "pictures") {
			t.Errorf("%s: %+v, %v", chain.Name, a, err)
		}
	}
}

func TestFreshByTheData(t *testing.T) {
	e := wholeOf(t, strings.Replace(whole, "ttl: 1h", "ttl: 1h, fresh: .n * 60", 1))
	fill := func() (time.Duration, error) {
		in, bad := e.Parse("n=4", Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		content, err := (&Loader{Input: in}).Load(t.Context(), false)
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

func TestLeastFresh(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"if .delivered then 86400 else 1800 end": 30 * time.Minute, "if .a then null elif .b then 60 else 90 end": time.Minute,
		"if .a then .n else 60 end": 0, "if .a then 60 * 60 else 90 end": 0, "if .a then (if .b then 1 else 2 end) else 9 end": 0, ".n": 0, "if .a then": 0,
	} {
		if got := leastFresh(&declare.Expr{Text: text}); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// Breakers weigh a call by its key where clients choose it.
func TestCallsAreWeighedByKey(t *testing.T) {
	c := mustLoad(t, nil)
	weigh := func(endpoint, query string) uint64 {
		t.Helper()
		e, _ := c.Get(endpoint)
		in, bad := e.Parse(query, Caller{Addr: caller})
		if bad != nil {
			t.Fatal(bad)
		}
		return in.hash(in.Form.Chain)
	}
	if one, other := weigh("ip", "ip=8.8.8.8"), weigh("ip", "ip=8.8.4.4"); one == other || one == 0 {
		t.Errorf("keys %x and %x", one, other)
	}
	if key := weigh("yiyan", ""); key != 0 {
		t.Errorf("a key that nobody chooses weighs %x", key)
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

// askingForTime calls a function once the sources have answered, whenever a program of the
// catalog asks whether there is time left.
type askingForTime struct {
	context.Context
	answered atomic.Bool
	then     func()
}

func (r *askingForTime) Err() error {
	if r.answered.Load() {
		r.then()
	}
	return r.Context.Err()
}

// TestRenderingIsWithinTheMemoryOfReplies: no more replies are decoded than answers can
// be made of, however long that takes.
func TestRenderingIsWithinTheMemoryOfReplies(t *testing.T) {
	source := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"n":1}`) }))
	t.Cleanup(source.Close)
	env := testEnvironment(t, nil)
	env.Replay, env.Transport, env.Budget.Limit = nil, http.DefaultTransport, 100<<10 // of one reply, which is read in pieces of 64 KiB
	c, err := loadIn(t, "whole", strings.Replace(whole, "computed: {}\n    map: '{n: $params.n}'", "http: {url: '"+source.URL+"/'}", 1), env)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := c.Get("whole")
	in, bad := e.Parse("n=4", Caller{Addr: caller})
	if bad != nil {
		t.Fatal(bad)
	}
	ctx := &askingForTime{Context: t.Context()}
	looks := 0
	ctx.then = func() {
		looks++
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := (&Loader{Input: in}).Load(ctx, false); err == nil {
			t.Error("another reply was read meanwhile")
		}
	}
	if _, err := (&Loader{Input: in, Watch: func(upstreams.AttemptReport) { ctx.answered.Store(true) }}).Load(ctx, false); err != nil || looks == 0 {
		t.Errorf("%v after %d looks", err, looks)
	}
	if _, err := (&Loader{Input: in}).Load(t.Context(), false); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	http.DefaultClient.CloseIdleConnections()
}
