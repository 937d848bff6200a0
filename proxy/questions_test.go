package proxy

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
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

// askedOf is a catalog file with an endpoint of one input.
func askedOf(t testing.TB, params string) *catalog.Endpoint {
	t.Helper()
	text := `version: 1
name: asked
group: text
summary: {en: A test., zh: 测试}
params: [` + params + `]
cache: {class: keyed, ttl: 1h}
forms: [{name: json, json: .}]
sources: [{name: made, computed: {}}]
`
	env := &upstreams.Environment{Data: catalog.Data(""), Transport: http.DefaultTransport, Log: slog.New(slog.DiscardHandler),
		Guard: guard.New(guard.Config{}), Secret: func(string) (string, bool) { return "", false }}
	env.Metrics, _ = upstreams.NewMetrics(nil, &env.Hosts, &env.Quotas)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "asked.yaml"), []byte(text), 0o600); err != nil {
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

// rememberTwice, because what is asked once is not remembered.
func (q *questions) rememberTwice(query string, who catalog.Caller, at time.Time) {
	q.remember(query, who, at)
	q.remember(query, who, at)
}

func (q *questions) ask(query string, who catalog.Caller, at time.Time) *question {
	under := q.under(who.Addr, headerClient(who.Header), at)
	return q.find(query, &under)
}

// TestARememberedQuestionIsWhatIsParsed, and nothing else is remembered.
func TestARememberedQuestionIsWhatIsParsed(t *testing.T) {
	e := askedOf(t, plainInput)
	q := newQuestions(e, newQuestionBudget())
	for _, query := range []string{"", "id=a", "id=%61", "id=b&callback=f", "x=1", strings.Repeat("x", longestQuestion)} {
		if q.ask(query, someone, noon) != nil {
			t.Errorf("%q is known before it is remembered", query)
		}
		if q.remember(query, someone, noon); q.ask(query, someone, noon) != nil {
			t.Errorf("%q is remembered after it was asked once", query)
		}
		q.remember(query, someone, noon)
		got := q.ask(query, someone, noon)
		if got == nil {
			t.Errorf("%q is not remembered", query)
			continue
		}
		if want, bad := e.Parse(query, someone); bad != nil || got.in != want || got.key != want.Key() {
			t.Errorf("%q: key %q, want %q, %v", query, got.key, want.Key(), bad)
		}
	}
	for _, query := range []string{"id=" + strings.Repeat("x", longestQuestion), "id=\xff"} {
		if q.rememberTwice(query, someone, noon); q.ask(query, someone, noon) != nil {
			t.Errorf("%q is remembered", query)
		}
	}
}

// TestAQuestionIsOfItsCircumstances: it can never answer for another caller, another
// browser, another device or another day than it was asked of.
func TestAQuestionIsOfItsCircumstances(t *testing.T) {
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
		q := newQuestions(askedOf(t, r.params), newQuestionBudget())
		q.rememberTwice("", someone, noon)
		if q.ask("", someone, noon) == nil || q.ask("", someone, noon.Add(time.Hour)) == nil {
			t.Errorf("%s: not remembered", r.name)
		}
		for what, other := range requests {
			if found, want := q.ask("", other.who, other.at) != nil, !strings.Contains(r.differs, what); found != want {
				t.Errorf("depends on %s: with another %s found %v, want %v", r.name, what, found, want)
			}
		}
	}
}

// TestSomeQuestionsAreNeverRemembered: of chance, and those that hold what only some know.
func TestSomeQuestionsAreNeverRemembered(t *testing.T) {
	for _, params := range []string{
		`{name: drawn, type: string, enum: [any, cats, dogs], pick: {any: [cats, dogs]}, example: cats}`,
		`{name: id, type: string, private: true, personal: true, example: x}`,
	} {
		q := newQuestions(askedOf(t, params), newQuestionBudget())
		if q.rememberTwice("", someone, noon); q.ask("", someone, noon) != nil {
			t.Errorf("%s is remembered", params)
		}
	}
}

// TestQuestionsAreBounded in number, and in bytes of all endpoints together, of which one
// takes half.
func TestQuestionsAreBounded(t *testing.T) {
	budget := newQuestionBudget()
	q, late := newQuestions(askedOf(t, plainInput), budget), newQuestions(askedOf(t, plainInput), budget)
	known := func(q *questions, n int) (all int) {
		for i := range n {
			if q.ask("id="+strconv.Itoa(i), someone, noon) != nil {
				all++
			}
		}
		return all
	}
	askAgain := func(q *questions, n int) {
		for range 3 { // a table that grows loses some
			for i := range n {
				q.rememberTwice("id="+strconv.Itoa(i), someone, noon)
			}
		}
	}
	askAgain(q, 10_000)
	if n := known(q, 10_000); n < 9_800 {
		t.Errorf("%d of 10,000 are remembered", n)
	}
	for i := range 10_000 {
		q.rememberTwice("id="+strings.Repeat("x", 400)+strconv.Itoa(i), someone, noon)
	}
	if n := len(*q.slots.Load()); n != mostQuestions {
		t.Errorf("%d slots", n)
	}
	if free := budget.free.Load(); free < questionsBytes/2 || q.bytes != questionsBytes-free {
		t.Errorf("%d bytes, %d are free", q.bytes, free)
	}
	askAgain(late, 1000)
	if n := known(late, 1000); n < 980 {
		t.Errorf("a flood of one endpoint left room for %d of 1000 of another", n)
	}
	var size int64
	for i := range *q.slots.Load() {
		if a := (*q.slots.Load())[i].question.Load(); a != nil {
			size += a.size()
		}
	}
	if size != q.bytes {
		t.Errorf("counted %d bytes, there are %d", q.bytes, size)
	}
}

// TestQuestionOverhead: what a question takes is counted in full.
func TestQuestionOverhead(t *testing.T) {
	boxed := uintptr(8 * 16) // the strings in its values
	if n := reflect.TypeFor[question]().Size() + reflect.TypeFor[circumstances]().Size() + boxed + 2*unsafe.Sizeof(questionSlot{}); n > questionOverhead {
		t.Errorf("%d bytes", n)
	}
}

// TestFindingAQuestionAllocatesNothing, and keeps nothing of the buffer that it was asked from.
func TestFindingAQuestionAllocatesNothing(t *testing.T) {
	q := newQuestions(askedOf(t, dayInput), newQuestionBudget())
	buffer := []byte("id=1234")
	view := unsafe.String(&buffer[0], len(buffer))
	q.rememberTwice(view, someone, noon)
	if n := testing.AllocsPerRun(100, func() {
		under := q.under(someone.Addr, headerClient(someone.Header), noon)
		if q.find(view, &under) == nil {
			t.Error("not found")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	copy(buffer, "id=9999")
	if found := q.ask("id=1234", someone, noon); found == nil || !strings.Contains(found.key, "1234") {
		t.Errorf("after the buffer was used again: %+v", found)
	}
	if q.ask("id=9999", someone, noon) != nil {
		t.Error("the buffer's next content is known")
	}
}

// TestQuestionsAreAskedAndRememberedAtOnce; the race detector watches.
func TestQuestionsAreAskedAndRememberedAtOnce(t *testing.T) {
	q := newQuestions(askedOf(t, dayInput), newQuestionBudget())
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 4000 {
				query, day := fmt.Sprintf("id=%d", (i*7+worker)%3000), noon.AddDate(0, 0, i%3)
				if found := q.ask(query, someone, day); found == nil {
					q.remember(query, someone, day)
				} else if found.query != query || found.under.day != catalog.DayOf(day) {
					t.Errorf("%s: %+v", query, found)
				}
			}
		})
	}
	wg.Wait()
}

// TestOnlyHitsAreRemembered: a question that is asked once, or refused, leaves nothing.
func TestOnlyHitsAreRemembered(t *testing.T) {
	up := newFake(t, `{"v":"x"}`)
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", up)})
	known := func() *questions { return f.server.current.Load().routes["simple"].questions }
	for i := range 3 {
		f.get("/api/simple?id="+strconv.Itoa(i+1)).want(t, http.StatusOK)
		f.get("/api/simple?id=x").want(t, http.StatusBadRequest)
	}
	if n := known().count; n != 0 {
		t.Errorf("%d questions are remembered after misses", n)
	}
	for i := range 4 {
		f.get("/api/simple?id=1").want(t, http.StatusOK, "x")
		f.get("/api/simple?id=1&_="+strconv.Itoa(i)).want(t, http.StatusOK, "x")
		if n := known().count; n != min(i, 1) {
			t.Errorf("%d questions are remembered after %d hits of one", n, i+1)
		}
	}
	f.load(nil)
	if n := known().count; n != 0 {
		t.Errorf("%d questions are remembered after a reload", n)
	}
}

// BenchmarkQuestions finds one of many, in no order.
func BenchmarkQuestions(b *testing.B) {
	for _, n := range []int{1, 10_000} {
		q := newQuestions(askedOf(b, plainInput), newQuestionBudget())
		queries := make([]string, n)
		for i := range queries {
			queries[i] = "id=some" + strconv.Itoa(i)
			q.rememberTwice(queries[i], someone, noon)
		}
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			i, length := 0, 0
			for b.Loop() {
				i = (i + 7919) % n
				if found := q.find(queries[i], &circumstances{}); found != nil {
					length += len(found.key) + len(found.in.Tail)
				}
			}
		})
		b.Run("parsed"+strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i = (i + 7919) % n
				in, _ := q.endpoint.Parse(queries[i], someone)
				_ = in.Key()
			}
		})
	}
}
