package catalog

import (
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/chinatime"
)

// circumstantial has a parameter of every kind whose value is not in the query alone.
const circumstantial = `version: 1
name: circumstantial
group: text
summary: {en: A test., zh: 测试}
params:
  - {name: given, type: ip, from: caller, example: 192.0.2.1}
  - {name: address, from: address}
  - {name: agent, from: agent}
  - {name: today, from: today}
  - {name: day, type: date, since: 2020-01-01, example: 2024-01-01}
  - {name: fits, type: string, enum: [auto, mobile, pc], device: {auto: {phone: mobile, other: pc}}, example: pc}
  - {name: drawn, type: string, enum: [any, cats, dogs], pick: {any: [cats, dogs]}, example: cats}
cache: {class: keyed, ttl: 1h}
forms: [{name: json, json: .}]
sources: [{name: made, computed: {}}]
`

func loadCircumstantial(t *testing.T) *Endpoint {
	t.Helper()
	dir := writeCatalog(t, map[string]string{"circumstantial.yaml": circumstantial})
	c, err := Load(Options{Dir: dir}, testEnvironment(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := c.Get("circumstantial")
	return e
}

// TestCircumstancesOfEveryDeclaration: everything that can be declared to take a value
// from elsewhere than the query has circumstances.
func TestCircumstancesOfEveryDeclaration(t *testing.T) {
	want := map[string]Circumstances{
		"given": OfAddress, "address": OfAddress, "agent": OfAgent, "today": OfDay, "day": OfDay, "fits": OfAgent | OfHint, "drawn": OfChance,
	}
	e := loadCircumstantial(t)
	declared := map[string]bool{}
	for _, p := range e.Params {
		if got := p.circumstances(); got != want[p.Name] {
			t.Errorf("%s: %b, want %b", p.Name, got, want[p.Name])
		}
		declared[p.Spec.From] = true
	}
	from, _ := reflect.TypeFor[paramSpec]().FieldByName("From")
	for source := range strings.SplitSeq(from.Tag.Get("enum"), ",") {
		if !declared[source] {
			t.Errorf("from: %s is not tested", source)
		}
	}
	if e.Circumstances() != OfAddress|OfAgent|OfHint|OfDay|OfChance {
		t.Errorf("%b", e.Circumstances())
	}
	unknown := &Param{Spec: paramSpec{From: "moon"}}
	if unknown.circumstances() != OfChance {
		t.Error("what is not known can be remembered")
	}
	if unknown = (&Param{substitute: func(v any, _ Caller) (any, *urn) { return v, nil }}); unknown.circumstances() != OfChance {
		t.Error("a substitution that is not known can be remembered")
	}
}

// TestNothingElseDecidesAnInput: under the same circumstances a query means the same,
// whatever else differs.
func TestNothingElseDecidesAnInput(t *testing.T) {
	const desktop, phone = "Mozilla/5.0 (Windows NT 10.0) Firefox/140.0", "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile Safari"
	noon := time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)
	type request struct {
		caller Caller
		at     time.Time
	}
	header := func(agent, hint string) http.Header {
		return http.Header{"User-Agent": {agent}, "Sec-Ch-Ua-Mobile": {hint}, "Accept-Language": {agent}, "Cookie": {hint}}
	}
	base := request{Caller{netip.MustParseAddr("192.0.2.1"), header(desktop, "?0")}, noon}
	changed := map[Circumstances]request{
		OfAddress: {Caller{netip.MustParseAddr("2001:db8::1"), base.caller.Header}, noon},
		OfAgent:   {Caller{base.caller.Addr, header(phone, "?0")}, noon},
		OfHint:    {Caller{base.caller.Addr, header(desktop, "?1")}, noon},
		OfDay:     {base.caller, noon.AddDate(0, 0, 1)},
		0:         {base.caller, noon.Add(time.Hour)},
	}
	endpoints := append(mustLoad(t, nil).Endpoints, loadCircumstantial(t))
	for _, e := range endpoints {
		depends := e.Circumstances()
		for _, query := range queriesOf(e) {
			parse := func(r request) (Input, bool) {
				in, bad := e.ParseAt(query, r.caller, func() time.Time { return r.at })
				return in, bad == nil
			}
			want, ok := parse(base)
			if !ok || depends&OfChance != 0 {
				continue
			}
			for what, r := range changed {
				if got, ok := parse(r); depends&what == 0 && (!ok || got != want) {
					t.Errorf("%s?%s: circumstances %b, but %b changes its input", e.Name, query, depends, what)
				}
			}
		}
	}
}

// queriesOf ask for each value of each parameter in turn, and for nothing.
func queriesOf(e *Endpoint) []string {
	required := ""
	for _, p := range e.Params {
		if p.Required {
			required += "&" + p.Name + "=" + p.Example
		}
	}
	queries := []string{"", required}
	for _, p := range e.Params {
		for _, v := range append([]string{p.Example}, p.Spec.Enum...) {
			queries = append(queries, p.Name+"="+v+required)
		}
	}
	return queries
}

// TestDayOf: a day begins when it does in China.
func TestDayOf(t *testing.T) {
	for at := time.Date(2026, 1, 1, 0, 0, 0, 0, chinatime.Zone()); at.Year() == 2026; at = at.AddDate(0, 0, 1) {
		if first, last, before := DayOf(at), DayOf(at.AddDate(0, 0, 1).Add(-1)), DayOf(at.Add(-1)); first != last || before != first-1 {
			t.Fatalf("%s: %d to %d, the day before %d", at, first, last, before)
		}
	}
}
