package recorded

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fields"
	"sundry/upstreams/host"
	"sundry/upstreams/replay"
)

// TestNothingHollowIsAnswered empties the recorded good replies of each source the way
// services empty theirs: all of a body, each list, each value, in all items at once. What
// is answered all the same has every value that it must have, made of what the reply has;
// and nothing is a definite no.
func TestNothingHollowIsAnswered(t *testing.T) {
	network := replay.New(nil)
	env := testEnvironment(t, network)
	env.GeoFile = onePlace{}
	env.Hosts.Config = host.Config{Failures: 1 << 20, Ratio: 2}
	c, err := catalog.Load(catalog.Options{}, env)
	if err != nil {
		t.Fatal(err)
	}
	cases := mustCases(t)
	if _, err := Exchanges(c, cases); err != nil {
		t.Fatal(err)
	}
	counts, known, begun := map[string]*outcomes{}, knownValues(t, c, cases), time.Now()
	for _, x := range cases {
		e, ok := c.Get(x.Endpoint)
		if !ok || x.Want != "success" || len(x.RoundTrips) == 0 || e.Fields == nil {
			continue
		}
		t.Run(path.Join(x.Endpoint, x.Source, x.Name), func(t *testing.T) {
			h := &hollowing{source: sourceOfCase(t, e, x), endpoint: e, x: x, network: network, known: known[e.Name]}
			if counts[e.Name] == nil {
				counts[e.Name] = &outcomes{sources: map[string]bool{}}
			}
			counts[e.Name].sources[x.Source] = true
			for _, fault := range h.run(t, counts[e.Name]) {
				t.Error(fault)
			}
		})
	}
	var all outcomes
	sources := 0
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		o := counts[name]
		sources += len(o.sources)
		all.Replies, all.Answered, all.Malformed, all.Otherwise, all.Hollow = all.Replies+o.Replies, all.Answered+o.Answered, all.Malformed+o.Malformed, all.Otherwise+o.Otherwise, all.Hollow+o.Hollow
		t.Logf("%-13s %3d sources %s", name, len(o.sources), o)
	}
	t.Logf("%-13s %3d sources %s, in %s", "all", sources, &all, time.Since(begun).Round(time.Second))
}

// outcomes count what came of emptied replies.
type outcomes struct {
	Replies, Answered, Malformed, Otherwise, Hollow int

	sources map[string]bool
}

func (o *outcomes) String() string {
	return fmt.Sprintf("%5d replies: %5d answered, %4d malformed, %3d otherwise, %d hollow", o.Replies, o.Answered, o.Malformed, o.Otherwise, o.Hollow)
}

// hollowing empties the replies of one recorded exchange.
type hollowing struct {
	source   *upstreams.Source
	endpoint *catalog.Endpoint
	x        *Case
	network  *replay.Network
	known    map[string]bool // what good answers of the endpoint hold
}

// knownValues are, by endpoint, what the good answers hold: each link, and each other
// value at its path. A mutation of one answer may turn it into another kind of answer.
func knownValues(t *testing.T, c *catalog.Catalog, cases []*Case) map[string]map[string]bool {
	t.Helper()
	known := map[string]map[string]bool{}
	for _, x := range cases {
		e, ok := c.Get(x.Endpoint)
		if !ok || len(x.WantJSON) == 0 {
			continue
		}
		if known[e.Name] == nil {
			known[e.Name] = map[string]bool{}
		}
		collect("", normal(t, replay.ExpandDates(x.WantJSON, x.Now)), e.Fields, func(path, text string, _ bool) {
			known[e.Name][place(path, text)] = true
		})
	}
	return known
}

// place is where a value is known: a link anywhere, another value at its path.
func place(path, text string) string {
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		return text
	}
	return path + " " + text
}

// run returns what is wrong, each fault once.
func (h *hollowing) run(t *testing.T, counts *outcomes) []string {
	t.Helper()
	if _, err := h.answer(t, h.x.RoundTrips); err != nil {
		t.Fatal(err)
	}
	faults := map[string]string{}
	for i, trip := range h.x.RoundTrips {
		for _, m := range mutations(replay.ExpandDates(trip.Body, h.x.Now), h.x.WantJSON) {
			trips := slices.Clone(h.x.RoundTrips)
			trips[i].Body = m.body
			got, err := h.answer(t, trips)
			why := h.judge(got, err, trips, &m)
			counts.add(why, err)
			if why != "" && faults[why] == "" {
				faults[why] = fmt.Sprintf("reply %d, %s: %s", i+1, m.what, why)
			}
		}
	}
	return slices.Sorted(maps.Values(faults))
}

func (o *outcomes) add(fault string, err error) {
	o.Replies++
	switch {
	case fault != "":
		o.Hollow++
	case err == nil:
		o.Answered++ // without what need not be there
	case upstreams.KindOf(err) == upstreams.Malformed:
		o.Malformed++
	default:
		o.Otherwise++
	}
}

// answer asks the source alone.
func (h *hollowing) answer(t *testing.T, trips []replay.RoundTrip) (any, error) {
	t.Helper()
	exchange := h.x.Exchange
	exchange.RoundTrips = trips
	h.network.Set([]*replay.Exchange{&exchange})
	a, err := h.source.Probe(t.Context(), &upstreams.Call{Endpoint: h.endpoint.Name, Params: h.x.Params, Now: h.x.Now}, nil)
	if err != nil {
		return nil, err
	}
	// As callers get it, after a round trip through JSON.
	b, err := json.Marshal(a.Data)
	if err != nil {
		t.Fatal(err)
	}
	return normal(t, b), nil
}

// judge says what is wrong with what came of an emptied reply; "" if nothing is.
func (h *hollowing) judge(got any, err error, trips []replay.RoundTrip, m *mutation) string {
	if err != nil {
		if upstreams.KindOf(err) == upstreams.Negative {
			return "it is a definite no"
		}
		return ""
	}
	if m.cut {
		return "a picture that is cut off is served"
	}
	why := ""
	collect("", got, h.endpoint.Fields, func(path, text string, must bool) {
		switch {
		case why != "":
		case must && (text == "" || text == "null"):
			why = path + " has no value"
		case !h.known[place(path, text)] && !named(h.endpoint.Fields, text) && !m.says(text) && !leadsTo(trips, text):
			why = fmt.Sprintf("%s is %q, which is not in the reply", path, text)
		}
	})
	return why
}

// leadsTo reports whether one of the replies, whatever is left of its body, redirects to a
// link.
func leadsTo(trips []replay.RoundTrip, link string) bool {
	return slices.ContainsFunc(trips, func(trip replay.RoundTrip) bool {
		from, err := url.Parse(trip.URL)
		if err != nil || trip.Header.Get("Location") == "" {
			return false
		}
		to, err := from.Parse(trip.Header.Get("Location"))
		return err == nil && to.String() == link
	})
}

// vocabulary is what a description may name: the states of a parcel, in both languages.
var vocabulary = regexp.MustCompile(`[\pL_]+`)

// named reports whether a text is a word that one of the declared fields is said to have.
func named(declared []*catalog.Field, text string) bool {
	return slices.ContainsFunc(declared, func(f *catalog.Field) bool {
		return slices.Contains(vocabulary.FindAllString(f.EN+" "+f.ZH, -1), text) || named(f.Fields, text)
	})
}

// collect calls yield with each value that must be there, and each link.
func collect(at string, v any, declared []*catalog.Field, yield func(path, text string, must bool)) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			collect(at+"[]", item, declared, yield)
		}
	case map[string]any:
		if at == "" && len(v) > 0 && !slices.ContainsFunc(declared, func(f *catalog.Field) bool { _, ok := v[f.Name]; return ok }) {
			for _, name := range slices.Sorted(maps.Keys(v)) { // of a pool: its candidates
				collect(name, v[name], declared, yield)
			}
			return
		}
		for _, f := range declared {
			collectField(strings.TrimPrefix(at+"."+f.Name, "."), v[f.Name], f, yield)
		}
	}
}

func collectField(at string, v any, f *catalog.Field, yield func(path, text string, must bool)) {
	switch value := v.(type) {
	case []any:
		for _, item := range value {
			collectField(at+"[]", item, f, yield)
		}
	case map[string]any:
		collect(at, value, f.Fields, yield)
	default:
		demanding := f.Must || f.AtLeast > 0
		if f.Counts == "" && (demanding || v != nil && f.Is == fields.Link) {
			yield(at, strings.TrimSpace(fmt.Sprint(orNothing(v))), demanding)
		}
	}
}

func orNothing(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// mutation is one emptied reply.
type mutation struct {
	what string
	body []byte
	v    any  // its JSON
	cut  bool // a picture without its end, of which nothing is an answer
}

// parts are the words and numbers of a text.
var parts = regexp.MustCompile(`[\pL\pN]+`)

// says reports whether a reply has all parts of a text. A link may have become https, or
// be the site's own path in the reply.
func (m *mutation) says(text string) bool {
	all := string(m.body) + fmt.Sprint(m.v) // with escapes, and without
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		if strings.Contains(all, u.RequestURI()) && u.RequestURI() != "/" {
			return true
		}
		text = strings.TrimPrefix(text, u.Scheme)
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil { // the reply has no zone, or another form
		text = at.Format("2006 01 02 15 04")
	}
	return !slices.ContainsFunc(parts.FindAllString(text, -1), func(p string) bool { return !strings.Contains(all, p) })
}

// mutations are the emptied replies of a good one: of its JSON, which may stand in a page,
// and of the texts around it. A picture is cut off.
func mutations(body, want []byte) []mutation {
	out := []mutation{{what: "no body"}}
	if isPicture(body) {
		for _, n := range []int{16, len(body) / 2, len(body) - 1} {
			out = append(out, mutation{what: fmt.Sprintf("%d of %d bytes", n, len(body)), body: body[:n], cut: true})
		}
		return out
	}
	before, v, after := embedded(body)
	for _, m := range emptiedTexts(before, want) {
		out = append(out, mutation{what: m.what, body: slices.Concat(m.body, body[len(before):]), v: v})
	}
	if v == nil {
		return out
	}
	for what, document := range emptiedDocuments(v) {
		if b, err := json.Marshal(document); err == nil {
			out = append(out, mutation{what: what, body: slices.Concat(before, b, after), v: document})
		}
	}
	slices.SortFunc(out, func(a, b mutation) int { return strings.Compare(a.what, b.what) })
	return out
}

func isPicture(body []byte) bool {
	return strings.HasPrefix(http.DetectContentType(body), "image/") || bytes.HasPrefix(body, []byte("<svg"))
}

// undefined is a value of scripts that JSON does not have.
var undefined = regexp.MustCompile(`([:\[,]\s*)undefined\b`)

// embedded is the longest JSON object or list in a reply, with what stands around it; nil
// and all of the reply for one that has none.
func embedded(body []byte) (before []byte, v any, after []byte) {
	body = undefined.ReplaceAll(body, []byte("${1}null"))
	before = body
	longest := 0
	for at := 0; at < len(body); at++ {
		if body[at] != '{' && body[at] != '[' {
			continue
		}
		var found any
		d := json.NewDecoder(bytes.NewReader(body[at:]))
		if d.Decode(&found) != nil {
			continue
		}
		end := at + int(d.InputOffset())
		if end-at > longest {
			longest, before, v, after = end-at, body[:at], found, body[end:]
		}
		at = end
	}
	return before, v, after
}

// emptiedDocuments are the emptied ones of a document, by what was done.
func emptiedDocuments(v any) map[string]any {
	out := map[string]any{
		"{}": map[string]any{}, "[]": []any{}, "null": nil,
		"an error": map[string]any{"code": 500, "msg": "unknown error, try again", "error": "unknown error"},
	}
	for _, p := range pathsOf(v) {
		at := strings.Join(p, ".")
		out[at+" null"] = changed(v, p, func(any) (any, bool) { return nil, true })
		out[at+" missing"] = changed(v, p, func(any) (any, bool) { return nil, false })
		out[at+` ""`] = changed(v, p, func(any) (any, bool) { return "", true })
		if document := changed(v, p, func(old any) (any, bool) { return emptied(old), true }); !reflect.DeepEqual(document, v) {
			out[at+" emptied"] = document
		}
	}
	return out
}

// emptied is a list or an object without anything in it.
func emptied(v any) any {
	switch v.(type) {
	case []any:
		return []any{}
	case map[string]any:
		return map[string]any{}
	}
	return v
}

// pathsOf are those of all values in a document, with [] for all items of a list.
func pathsOf(v any) [][]string {
	seen := map[string][]string{}
	var walk func(v any, at []string)
	walk = func(v any, at []string) {
		if len(at) > 0 {
			seen[strings.Join(at, "\x00")] = at
		}
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item, append(slices.Clone(at), "[]"))
			}
		case map[string]any:
			for name, value := range v {
				walk(value, append(slices.Clone(at), name))
			}
		}
	}
	walk(v, nil)
	return slices.Collect(maps.Values(seen))
}

// changed is a document whose values at a path are others.
func changed(v any, at []string, replace func(any) (any, bool)) any {
	if len(at) == 0 {
		out, _ := replace(v)
		return out
	}
	switch v := v.(type) {
	case []any:
		if at[0] != "[]" {
			return v
		}
		out := []any{}
		for _, item := range v {
			if len(at) == 1 {
				if other, keep := replace(item); keep {
					out = append(out, other)
				}
				continue
			}
			out = append(out, changed(item, at[1:], replace))
		}
		return out
	case map[string]any:
		old, ok := v[at[0]]
		if !ok {
			return v
		}
		out := maps.Clone(v)
		if len(at) > 1 {
			out[at[0]] = changed(old, at[1:], replace)
		} else if other, keep := replace(old); keep {
			out[at[0]] = other
		} else {
			delete(out, at[0])
		}
		return out
	}
	return v
}

// emptiedTexts are pages without one of the texts that the answer was made of.
func emptiedTexts(body, want []byte) (out []mutation) {
	var v any
	if json.Unmarshal(want, &v) != nil {
		return nil
	}
	seen := map[string]bool{}
	for _, p := range pathsOf(v) {
		changed(v, p, func(old any) (any, bool) {
			if text, ok := old.(string); ok && len(text) > 3 && !seen[text] && bytes.Contains(body, []byte(text)) {
				seen[text] = true
				out = append(out, mutation{what: fmt.Sprintf("without %.40q", text), body: bytes.ReplaceAll(body, []byte(text), nil)})
			}
			return old, true
		})
	}
	return out
}
