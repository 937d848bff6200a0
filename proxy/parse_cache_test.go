package proxy

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/guard"
)

// askedFile is a catalog file with an endpoint of one input.
func askedFile(params string) string {
	return `version: 1
name: asked
group: text
summary: {en: A test., zh: 测试}
params: [` + params + `]
cache: {class: keyed, ttl: 1h}
forms: [{name: json, json: .}]
sources: [{name: made, computed: {}}]
`
}

func askedOf(t testing.TB, params string) *catalog.Endpoint {
	t.Helper()
	env := &upstreams.Environment{Data: catalog.Data(""), Transport: http.DefaultTransport, Log: slog.New(slog.DiscardHandler),
		Guard: guard.New(guard.Config{}), Secret: func(string) (string, bool) { return "", false }}
	env.Metrics = upstreams.NewMetrics(nil, &env.Hosts, &env.Quotas)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "asked.yaml"), []byte(askedFile(params)), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load(catalog.Options{Dir: dir}, env)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := c.Get("asked")
	return e
}

const (
	plainInput = `{name: id, type: string, max_len: 600, example: x}`
	dayInput   = `{name: today, from: today}, {name: id, type: int, min: 0, max: 99999, example: "7"}`
)

var (
	someone = catalog.Caller{Addr: netip.MustParseAddr("192.0.2.1"), Header: http.Header{"User-Agent": {"one"}, "Sec-Ch-Ua-Mobile": {"?0"}}}
	noon    = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)
)

// parsesOf is a parse cache's part for an endpoint of one input.
func parsesOf(t testing.TB, params string) *endpointParses {
	t.Helper()
	return newParseCache().of(askedOf(t, params), 0)
}

// rememberTwice, because what is asked once is not remembered.
func (p *endpointParses) rememberTwice(query string, who catalog.Caller, at time.Time) {
	p.remember(query, who, at)
	p.remember(query, who, at)
}

func (p *endpointParses) ask(query string, who catalog.Caller, at time.Time) *meaning {
	key := p.keyFor(query, who.Addr, headerClient(who.Header), at)
	return p.find(&key)
}

// TestARememberedQueryIsWhatIsParsed, and nothing else is remembered.
func TestARememberedQueryIsWhatIsParsed(t *testing.T) {
	p := parsesOf(t, plainInput)
	for _, query := range []string{"", "id=a", "id=%61", "id=b&callback=f", "x=1", strings.Repeat("x", longestParsed)} {
		if p.ask(query, someone, noon) != nil {
			t.Errorf("%q is known before it is remembered", query)
		}
		if p.remember(query, someone, noon); p.ask(query, someone, noon) != nil {
			t.Errorf("%q is remembered after it was asked once", query)
		}
		p.remember(query, someone, noon)
		got := p.ask(query, someone, noon)
		if got == nil {
			t.Errorf("%q is not remembered", query)
			continue
		}
		if want, bad := p.endpoint.Parse(query, someone); bad != nil || got.in != want || got.key != want.Key() {
			t.Errorf("%q: key %q, want %q, %v", query, got.key, want.Key(), bad)
		}
	}
	for _, query := range []string{"id=" + strings.Repeat("x", longestParsed), "id=\xff"} {
		if p.rememberTwice(query, someone, noon); p.ask(query, someone, noon) != nil {
			t.Errorf("%q is remembered", query)
		}
	}
}

// TestTenThousandQueriesAreRemembered: those that come all the time do not displace one another,
// though their places are drawn.
func TestTenThousandQueriesAreRemembered(t *testing.T) {
	const queries = 10_000
	p := parsesOf(t, plainInput)
	lost := func() (n int) {
		for i := range queries {
			if query := "id=" + strconv.Itoa(i); p.ask(query, someone, noon) == nil {
				p.rememberTwice(query, someone, noon)
				n++
			}
		}
		return n
	}
	for range 10 {
		lost()
	}
	if n := lost(); n > queries/500 {
		t.Errorf("%d of %d queries are not remembered", n, queries)
	}
}

// TestAParsedQueryIsOfItsCircumstances: it can never answer for another endpoint, caller,
// browser, device or day than it was asked of.
func TestAParsedQueryIsOfItsCircumstances(t *testing.T) {
	other := catalog.Caller{Addr: netip.MustParseAddr("192.0.2.2"), Header: someone.Header}
	with := func(agent, hint string) catalog.Caller {
		return catalog.Caller{Addr: someone.Addr, Header: http.Header{"User-Agent": {agent}, "Sec-Ch-Ua-Mobile": {hint}}}
	}
	type request struct {
		who catalog.Caller
		at  time.Time
	}
	requests := map[string]request{"caller": {other, noon}, "agent": {with("two", "?0"), noon}, "hint": {with("one", "?1"), noon},
		"swapped": {with("?0", "one"), noon}, "day": {someone, noon.AddDate(0, 0, 1)}}
	for _, r := range []struct{ name, params, differs string }{
		{"nothing", plainInput, ""},
		{"the caller's address", `{name: ip, type: ip, from: caller, example: 192.0.2.1}`, "caller"},
		{"the caller's address, always", `{name: ip, from: address}`, "caller"},
		{"the browser", `{name: agent, from: agent}`, "agent swapped"},
		{"the device", `{name: fits, type: string, default: auto, enum: [auto, mobile, pc], device: {auto: {phone: mobile, other: pc}}, example: pc}`, "agent hint swapped"},
		{"the day", dayInput, "day"},
	} {
		p := parsesOf(t, r.params)
		p.rememberTwice("", someone, noon)
		if p.ask("", someone, noon) == nil || p.ask("", someone, noon.Add(time.Hour)) == nil {
			t.Errorf("%s: not remembered", r.name)
		}
		for what, other := range requests {
			if found, want := p.ask("", other.who, other.at) != nil, !strings.Contains(r.differs, what); found != want {
				t.Errorf("depends on %s: with another %s found %v, want %v", r.name, what, found, want)
			}
		}
		if p.of(p.endpoint, 1).ask("", someone, noon) != nil {
			t.Errorf("%s: found for another endpoint", r.name)
		}
	}
}

const secretInput = `{name: id, type: string, private: true, personal: true, max_len: 600, example: x}, {name: callback, role: callback, example: f}`

// TestASecretIsKnownByItsDigest: found where it is asked, and nothing of it is kept.
func TestASecretIsKnownByItsDigest(t *testing.T) {
	p := parsesOf(t, secretInput)
	p.rememberTwice("id=hidden&callback=f", someone, noon)
	found := p.ask("id=hidden&callback=f", someone, noon)
	if found == nil {
		t.Fatal("it is not remembered")
	}
	if in, _ := p.endpoint.Parse("id=hidden", someone); found.key != in.Key() || found.in.Callback != "f" || !found.in.Private {
		t.Errorf("it is remembered as %+v", found)
	}
	for i := range p.slots {
		if kept := fmt.Sprintf("%+v", p.slots[i].Load()); strings.Contains(kept, "hidden") {
			t.Errorf("its value is kept: %s", kept)
		}
	}
	for _, other := range []string{"", "id=hidden", "id=hidden&callback=g", "id=Hidden&callback=f", "id=hidden&callback=f\x00"} {
		if p.ask(other, someone, noon) != nil {
			t.Errorf("%q is taken for it", other)
		}
	}
	long := "id=" + strings.Repeat("x", longestParsed)
	if p.rememberTwice(long, someone, noon); p.ask(long, someone, noon) != nil {
		t.Error("one that is too long is remembered")
	}
	if p.of(p.endpoint, 1).ask("id=hidden&callback=f", someone, noon) != nil {
		t.Error("it is found for another endpoint")
	}
	if newParseCache().of(p.endpoint, 0).digestOf("id=hidden") == p.digestOf("id=hidden") {
		t.Error("digests are not keyed")
	}
	query := "id=hidden&callback=f"
	if n := testing.AllocsPerRun(100, func() { p.ask(query, someone, noon) }); n != 0 {
		t.Errorf("to find it takes %v allocations", n)
	}
}

// TestADrawIsMadeEachTime: a query that means one of several things means each of them.
func TestADrawIsMadeEachTime(t *testing.T) {
	t.Parallel()
	const drawn = `{name: %s, type: string, default: any, enum: [any, cats, dogs, birds], pick: {any: [cats, dogs, birds]}, example: cats}`
	p := parsesOf(t, fmt.Sprintf(drawn, "of"))
	p.rememberTwice("", someone, noon)
	p.rememberTwice("of=cats", someone, noon)
	seen := map[string]int{}
	for range 3000 {
		m := p.ask("", someone, noon)
		if m == nil || m.key != m.in.Key() || !m.in.Private {
			t.Fatalf("it means %+v", m)
		}
		seen[m.key]++
		parsed, _ := p.endpoint.Parse("", someone)
		seen[parsed.Key()] += 0
	}
	if len(seen) != 3 {
		t.Errorf("it means %v", seen)
	}
	for key, n := range seen {
		if n < 800 || n > 1200 { // seven standard deviations are 181
			t.Errorf("of 3000 times %d are %s", n, key)
		}
	}
	if in, _ := p.endpoint.Parse("of=cats", someone); p.ask("of=cats", someone, noon).in != in {
		t.Error("what is asked for is drawn")
	}
	if two := fmt.Sprintf(drawn+", "+drawn, "of", "or"); parsesOf(t, two) != nil {
		t.Error("queries are remembered in which two values are drawn")
	}
}

// size is how many queries are remembered.
func (c *parseCache) size() (n int) {
	for i := range c.slots {
		if c.slots[i].Load() != nil {
			n++
		}
	}
	return n
}

// TestTheParseCacheKeepsMostOfMany, and a flood of others takes a place of its own each.
func TestTheParseCacheKeepsMostOfMany(t *testing.T) {
	p := parsesOf(t, plainInput)
	for i := range 4000 {
		p.rememberTwice("id="+strconv.Itoa(i), someone, noon)
	}
	if n := p.size(); n < 3800 {
		t.Errorf("%d of 4000 are remembered", n)
	}
}

// TestFindingAParsedQueryAllocatesNothing, and keeps nothing of the buffer that it was asked from.
func TestFindingAParsedQueryAllocatesNothing(t *testing.T) {
	p := parsesOf(t, dayInput)
	buffer := []byte("id=1234")
	view := unsafe.String(&buffer[0], len(buffer))
	p.rememberTwice(view, someone, noon)
	if n := testing.AllocsPerRun(100, func() {
		if p.ask(view, someone, noon) == nil {
			t.Error("not found")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	copy(buffer, "id=9999")
	if found := p.ask("id=1234", someone, noon); found == nil || !strings.Contains(found.key, "1234") {
		t.Errorf("after the buffer was used again: %+v", found)
	}
	if p.ask("id=9999", someone, noon) != nil {
		t.Error("the buffer's next content is known")
	}
}

// TestQueriesAreAskedAndRememberedAtOnce; the race detector watches.
func TestQueriesAreAskedAndRememberedAtOnce(t *testing.T) {
	t.Parallel()
	p := parsesOf(t, dayInput)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 4000 {
				query, day := fmt.Sprintf("id=%d", (i*7+worker)%3000), noon.AddDate(0, 0, i%3)
				if found := p.ask(query, someone, day); found == nil {
					p.remember(query, someone, day)
				} else if want, _ := p.endpoint.ParseAt(query, someone, func() time.Time { return day }); found.in != want {
					t.Errorf("%s: %+v", query, found)
				}
			}
		})
	}
	wg.Wait()
}

// TestOnlyHitsAreRemembered: a query that is asked once, or refused, leaves nothing.
func TestOnlyHitsAreRemembered(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)})
	known := func() int { return f.server.current.Load().routes["simple"].parses.size() }
	for i := range 3 {
		f.get("/api/simple?id="+strconv.Itoa(i+1)).want(t, http.StatusOK)
		f.get("/api/simple?id=x").want(t, http.StatusBadRequest)
	}
	if n := known(); n != 0 {
		t.Errorf("%d queries are remembered after misses", n)
	}
	for i := range 4 {
		f.get("/api/simple?id=1").want(t, http.StatusOK, "x")
		f.get("/api/simple?id=1&_="+strconv.Itoa(i)).want(t, http.StatusOK, "x")
		if n := known(); n != min(i, 1) {
			t.Errorf("%d queries are remembered after %d hits of one", n, i+1)
		}
	}
	f.load(nil)
	if n := known(); n != 0 {
		t.Errorf("%d queries are remembered after a reload", n)
	}
}

// BenchmarkParseCache finds one of many, in no order, and parses it.
func BenchmarkParseCache(b *testing.B) {
	for _, n := range []int{1, 10_000} {
		p := parsesOf(b, plainInput)
		queries := make([]string, n)
		for i := range queries {
			queries[i] = "id=some" + strconv.Itoa(i)
			p.rememberTwice(queries[i], someone, noon)
		}
		b.Run("found"+strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			i, length := 0, 0
			for b.Loop() {
				i = (i + 7919) % n
				if found := p.ask(queries[i], someone, noon); found != nil {
					length += len(found.key) + len(found.in.Tail)
				}
			}
		})
		b.Run("parsed"+strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i = (i + 7919) % n
				in, _ := p.endpoint.Parse(queries[i], someone)
				_ = in.Key()
			}
		})
	}
}
