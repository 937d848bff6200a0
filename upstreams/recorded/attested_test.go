package recorded

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/replay"
)

// document is the JSON of a reply, as it is or as the source decodes it; ok is false
// for pictures, pages and plain texts.
func document(s *upstreams.Source, r *replay.RoundTrip, body []byte) (v any, ok bool) {
	if v, err := httpsource.DecodeJSON(body); err == nil {
		return v, true
	}
	for _, w := range s.Replies {
		if w.Step != r.Step {
			continue
		}
		v, err := w.Decode([][]byte{body})
		_, text := v.(string)
		return v, err == nil && v != nil && !text
	}
	return nil, false
}

// holds reports whether a reply of the case has what a witness has seen. Of several
// replies to the same request, one is enough.
func (x *Case) holds(s *upstreams.Source, seen Seen) bool {
	return slices.ContainsFunc(x.RoundTrips, func(r replay.RoundTrip) bool {
		if r.Step != seen.Step {
			return false
		}
		body := replay.ExpandDates(r.Body, x.Now)
		if seen.Text != "" {
			return bytes.Contains(body, []byte(seen.Text))
		}
		if v, ok := document(s, &r, body); ok && hasField(v, strings.Split(seen.Name, ".")) {
			return true
		} else if ok && len(r.Header.Values(seen.Name)) == 0 {
			return false
		}
		return seen.Name == "status" && r.Status != 0 || len(r.Header.Values(seen.Name)) > 0
	})
}

// hasField reports whether a document has a field: of items, one that has it is
// enough.
func hasField(v any, names []string) bool {
	if len(names) == 0 {
		return true
	}
	name, items := strings.CutSuffix(names[0], "[]")
	if items {
		return slices.ContainsFunc(inner(v, name), func(list any) bool {
			array, _ := list.([]any)
			return slices.ContainsFunc(array, func(item any) bool { return hasField(item, names[1:]) })
		})
	}
	return slices.ContainsFunc(inner(v, name), func(field any) bool { return hasField(field, names[1:]) })
}

// inner are the values of a field: of one for a name, of all for *, and the value
// itself for "" and further [].
func inner(v any, name string) []any {
	if outer, more := strings.CutSuffix(name, "[]"); more {
		var all []any
		for _, list := range inner(v, outer) {
			array, _ := list.([]any)
			all = append(all, array...)
		}
		return all
	}
	object, _ := v.(map[string]any)
	switch field, ok := object[name]; {
	case name == "":
		return []any{v}
	case ok:
		return []any{field}
	case name == "*":
		var all []any
		for _, field := range object {
			all = append(all, field)
		}
		return all
	}
	return nil
}

func TestFieldsOfWitnesses(t *testing.T) {
	v, err := httpsource.DecodeJSON([]byte(`{"a":{"b":null,"list":[{"u":1},{"v":2}],"none":[],"deep":[[{"x":1}]]},"1121":{"t":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "a.b", "a.list", "a.list[]", "a.list[].u", "a.list[].v", "a.deep[][].x", "*.t"} {
		if !hasField(v, strings.Split(name, ".")) {
			t.Errorf("%s is not found", name)
		}
	}
	for _, name := range []string{"b", "a.b.c", "a.list[].w", "a.none[]", "a.none[].u", "a.list.u", "a[]", "[]", "*.z"} {
		if hasField(v, strings.Split(name, ".")) {
			t.Errorf("%s is found", name)
		}
	}
}

// TestWitnessesAgree checks every field that a witness is said to read against the
// recorded reply.
func TestWitnessesAgree(t *testing.T) {
	c := mustLoad(t, replay.New(nil))
	for _, x := range mustCases(t) {
		e, _ := c.Get(x.Endpoint)
		for _, w := range x.Witnesses {
			for _, seen := range w.Fields {
				if !x.holds(sourceOfCase(t, e, x), seen) {
					t.Errorf("%s: %s reads %+v: the reply has no such thing", x.Dir, cmp.Or(w.Repository, w.Document), seen)
				}
			}
		}
	}
}

// attestation says how well the good cases of a source are founded; "" for a source
// without a witness and without a reason.
func attestation(cases []*Case) string {
	found := ""
	for _, x := range cases {
		switch {
		case x.Want != "success":
		case x.Origin != "composed":
			return x.Origin
		case x.Unattested != "":
			found = "unattested"
		}
	}
	return found
}

// calls lists the sources that call a service whose replies somebody may have read.
// The others compute, or talk to what callers name by protocols of everybody.
func calls(c *catalog.Catalog, each func(e *catalog.Endpoint, s *upstreams.Source)) {
	for _, e := range c.Endpoints {
		seen := map[string]bool{}
		for _, s := range e.Sources() {
			if s.CallsDeclaredHost() && !seen[s.Declared] {
				seen[s.Declared] = true
				each(e, s)
			}
		}
	}
}

// TestEverySourceIsAttested by a witness or a recording, or says why it cannot be.
func TestEverySourceIsAttested(t *testing.T) {
	c, cases := mustLoad(t, replay.New(nil)), mustCases(t)
	calls(c, func(e *catalog.Endpoint, s *upstreams.Source) {
		if attestation(CasesOf(cases, e.Name, s.Declared)) == "" {
			t.Errorf("%s/%s: no good case is attested or recorded, and none says in unattested: why not", e.Name, s.Declared)
		}
	})
}

// TestWitnessesAreChecked: what nobody could look up is refused, with its line.
func TestWitnessesAreChecked(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	place := "repository: a/b, commit: " + hash + ", path: x.py, "
	for text, want := range map[string]string{
		"origin: attested\nwitnesses: [{" + place + "fields: [a.b]}]":                       "",
		"origin: attested\nwitnesses: [{document: 'https://x.example/', fields: [status]}]": "",
		"origin: composed\nunattested: nobody documents it":                                 "",
		"origin: invented":   "1: origin: expected composed, attested or recorded",
		"\norigin: attested": "2: origin: an attested exchange needs witnesses",
		"origin: composed\nwitnesses: [{" + place + "fields: [a]}]":                                  "1: witnesses: only an attested exchange",
		"origin: attested\nunattested: no\nwitnesses: [{" + place + "fields: [a]}]":                  "1: unattested: only a composed exchange",
		"origin: attested\nwitnesses:\n  - {fields: [a]}":                                            "3: witnesses: expected either a repository",
		"origin: attested\nwitnesses: [{" + place + "document: 'https://x/', fields: [a]}]":          "2: witnesses: expected either a repository",
		"origin: attested\nwitnesses: [{document: docs, fields: [a]}]":                               "2: witnesses: document: expected an address",
		"origin: attested\nwitnesses: [{repository: a, commit: " + hash + ", path: x, fields: [a]}]": "2: witnesses: repository: expected owner/name",
		"origin: attested\nwitnesses: [{repository: a/b, commit: abc, path: x, fields: [a]}]":        "2: witnesses: commit: expected all 40",
		"origin: attested\nwitnesses: [{repository: a/b, commit: " + hash + ", fields: [a]}]":        "2: witnesses: path: expected the file",
		"origin: attested\nwitnesses: [{" + place + "fields: []}]":                                   "2: witnesses: fields: expected what",
		"origin: attested\nwitnesses: [{" + place + "fields: ['a b']}]":                              "2: witnesses[0].fields[0]: expected a dotted path",
		"origin: attested\nwitnesses: [{" + place + "fields: ['text: a']}]":                          `2: witnesses[0].fields[0]: expected text: "…"`,
		"origin: attested\nwitnesses: [{" + place + "fields: [text: a]}]":                            `2: witnesses[0].fields[0]: expected a text, got a mapping; for example 'text: "…"' or "token: data.key", quoted`,
		"origin: attested\nwitnesses: [{" + place + "file: x, fields: [a]}]":                         "2: unknown key file",
		"origin: composed\ncaller: here":                                                             "2: caller: expected an IP address",
		"origin: composed\nwant: fine":                                                               "2: want: expected one of success, negative",
	} {
		if !strings.Contains(text, "want:") {
			text += "\nwant: malformed"
		}
		_, mistakes := readCase(oneCase(text+"\nnow: 2026-11-21T09:00:00+08:00\n"), "testdata/a/b/good", "")
		got := fmt.Sprint(mistakes)
		if want == "" && len(mistakes) > 0 || want != "" && !strings.Contains(got, "exchange.yaml:"+want) {
			t.Errorf("%s:\ngot %s, want %s", text, got, want)
		}
	}
}

// TestStepsOfWitnesses: a step may stand before what was seen.
func TestStepsOfWitnesses(t *testing.T) {
	text := "origin: attested\nwant: malformed\nnow: 2026-11-21T09:00:00+08:00\nwitnesses: [{document: 'https://x/', fields: ['token: data.key', 'text: \"a: b\"', 'page: text: \"x\"', Set-Cookie]}]"
	c, mistakes := readCase(oneCase(text), "testdata/a/b/good", "")
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	want := []Seen{{Step: "token", Name: "data.key"}, {Text: "a: b"}, {Step: "page", Text: "x"}, {Name: "Set-Cookie"}}
	if got := c.Witnesses[0].Fields; !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}
