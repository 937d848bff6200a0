package web

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/cache/clients"
)

func TestVaryFields(t *testing.T) {
	many := make([]string, maxVary+1)
	for i := range many {
		many[i] = fmt.Sprint("X-", i)
	}
	for _, row := range []struct{ response, ignored, want string }{
		{"Vary: accept-language, X-A|Vary: x-a, User-Agent", "User-Agent", "Accept-Language,X-A"},
		{"Vary: , X-A,,", "", "X-A"},
		{"Vary: " + strings.Join(many[1:], ","), "", strings.Join(many[1:], ",")},
		{"Vary: " + strings.Repeat("X-A,", 10_000), "", "X-A"},
		// A compressed response varies also where the origin does not say so, as nginx does not without gzip_vary.
		{"Content-Encoding: gzip", "", "Accept-Encoding"},
		{"Content-Encoding: gzip|Vary: X-A, accept-encoding", "", "Accept-Encoding,X-A"},
		{"Content-Encoding: gzip", "Accept-Encoding", ""},
		{"", "", ""},
	} {
		got, err := varyFields(fields(split(row.response)...), []string{row.ignored})
		want := strings.FieldsFunc(row.want, func(c rune) bool { return c == ',' })
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%.100s: %q, want %q: %v", row.response, got, row.want, err)
		}
	}
	for vary, want := range map[string]error{
		"*": errVaryAny, "X-A, *": errVaryAny, "X A": errVaryToken, "X-A;q=1": errVaryToken, `"X-A"`: errVaryToken, "X-A, é": errVaryToken,
		"X-A: 1": errVaryToken, strings.Join(many, ","): errVaryMany,
	} {
		if got, err := varyFields(fields("Vary: "+vary), nil); err != want || got != nil { //nolint:errorlint // it is not wrapped
			t.Errorf("%.100s: %v %v", vary, got, err)
		}
	}
}

// TestSelectingValues that an origin may distinguish are different. Only well-formed values that mean the same are the same.
func TestSelectingValues(t *testing.T) {
	names := []string{"Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Accept-Version", "Cookie", "X-A"}
	long := strings.Repeat("x", maxNormalized)
	for _, row := range []struct {
		one, other string
		same       bool
	}{
		{"", "", true},
		{"X-A: 1", "X-A: 1", true},
		{"X-A: 1", "X-A: 2", false},
		{"X-A: ", "", false},
		{"X-A: 1, 2", "X-A: 1,2", true},
		{"X-A: 1, 2", "X-A: 1|X-A: 2", true},
		{"X-A: \"1, 2\"", "X-A: \"1,2\"", false},
		{"X-A: a=1, b", "X-A: a=1,b", false},
		{"X-A: a=1|X-A: b", "X-A: a=1,b", false},
		{"X-A: 1,,2", "X-A: 1,2", false},
		{"X-A: A", "X-A: a", false},
		{"X-A: 1, " + long, "X-A: 1," + long, false},
		{"X-A: 1, " + long, "X-A: 1, " + long, true},
		{"X-A: 1", "X-A: |X-A: 1", false},
		{"Cookie: a, b", "Cookie: a,b", false},
		{"Cookie: a", "X-A: a", false},
		{"X-B: 1", "X-B: 2", true},

		{"Accept-Language: EN, de", "Accept-Language: de,en", true},
		{"Accept-Language: de;q=0.5, en", "Accept-Language: en, de ; Q=0.500", true},
		{"Accept-Language: de;q=1, en;q=0.5", "Accept-Language: de, en;q=0.5", true},
		{"Accept-Language: de|Accept-Language: en", "Accept-Language: en, de", true},
		{"Accept-Language: de, en;q=0.5", "Accept-Language: en, de;q=0.5", false},
		{"Accept-Language: de, en;q=0.5", "Accept-Language: de, en;q=0.50000", false},
		{"Accept-Language: de, en;q=.5", "Accept-Language: en;q=.5, de", false},
		{"Accept-Language: de, en;q=2", "Accept-Language: en;q=2, de", false},
		{"Accept-Language: de, en;level=1", "Accept-Language: en;level=1, de", false},
		{"Accept-Language: de;q=0.5;q=0.7, en", "Accept-Language: en, de;q=0.5;q=0.7", false},
		{"Accept-Language: de,, en", "Accept-Language: de, en", false},
		{"Accept-Language: de_DE", "Accept-Language: DE_de", false},
		{"Accept-Language: <script>, en", "Accept-Language: en, <script>", false},
		{"Accept-Language: toolonglanguage, en", "Accept-Language: en, toolonglanguage", false},
		{"Accept-Language: \"de\", en", "Accept-Language: en, \"de\"", false},
		{"Accept-Language: ", "Accept-Language: ,", false},
		{"Accept-Language: en, de" + strings.Repeat(" ", maxNormalized), "Accept-Language: de, en", false},

		{"Accept-Encoding: gzip, BR", "Accept-Encoding: br, gzip", true},
		{"Accept-Encoding: gzip;q=1.0, *;q=0", "Accept-Encoding: *;q=0.0,gzip", true},
		{"Accept-Encoding: gzip;x=1, br", "Accept-Encoding: br, gzip;x=1", false},
		{"Accept-Encoding: gzip br", "Accept-Encoding: GZIP br", false},
		{"Accept-Charset: UTF-8, *", "Accept-Charset: *,utf-8", true},

		{"Accept: text/HTML;Level=1, a/b;q=0.5", "Accept: a/b;q=0.5,text/html; level=1", true},
		{"Accept: text/html;v=A", "Accept: text/html;v=a", false},
		{"Accept: text/html, */*", "Accept: */*, text/html", true},
		{"Accept: text/html;v=\"A\", */*", "Accept: */*, text/html;v=\"A\"", false},
		{"Accept: text/html;q=0.5;v=1, */*", "Accept: */*, text/html;q=0.5;v=1", false},
		{"Accept: TEXT, */*", "Accept: text, */*", false},
		{"Accept: */html, a/b", "Accept: a/b, */html", false},
		{"Accept-Version: B, a", "Accept-Version: a, b", false},
		// No value is that of two fields together.
		{"Accept: a/b;x=1|Accept-Charset: c", "Accept: a/b;x=1\nAccept-Charset=c", false},
	} {
		one, other := selector(split(row.one)...).keyOf(names), selector(split(row.other)...).keyOf(names)
		if (one == other) != row.same {
			t.Errorf("%.200q and %.200q: %q %q", row.one, row.other, one, other)
		}
	}
}

// TestSecretsAreDigests: of values that may be secret, there is nothing but a digest, which is another one with another key and for
// another field.
func TestSecretsAreDigests(t *testing.T) {
	names := []string{"Accept-Language", "Authorization", "Cookie", "X-Token"}
	request := selector("Accept-Language: DE", "Cookie: hush", "X-Token: hush", "Authorization: Bearer hush")
	got := request.selected(names)
	if got["Accept-Language"] != "de" || !isDigest(got["Cookie"]) || got["Cookie"] == got["X-Token"] || strings.Contains(fmt.Sprint(got, request.keyOf(names)), "hush") {
		t.Errorf("%v", got)
	}
	another := newTestStore(t, 1<<20)
	another.DigestWith([KeyBytes]byte{1})
	s := another.Selector(fields("Cookie: hush"), &usualRules)
	if text, _ := s.value("Cookie"); text == got["Cookie"] || len(text) != len(got["Cookie"]) {
		t.Errorf("%s with two keys", text)
	}
}

func TestPreferredLanguage(t *testing.T) {
	names := []string{"Accept-Language", "X-A"}
	for _, row := range []struct {
		response, request, selected string
		want                        bool
	}{
		{"Content-Language: de", "Accept-Language: de, en;q=0.5", "Accept-Language: de", true},
		{"Content-Language: de", "Accept-Language: en;q=0.5, de;q=0.7", "Accept-Language: en, de", true},
		{"Content-Language: de", "Accept-Language: en, de;q=0.5", "Accept-Language: de", false},
		{"Content-Language: de", "Accept-Language: en, de", "Accept-Language: de", false},
		{"Content-Language: de", "Accept-Language: *", "Accept-Language: de", false},
		{"Content-Language: de", "Accept-Language: de;q=0", "Accept-Language: de", false},
		{"Content-Language: de", "Accept-Language: de|X-A: 1", "Accept-Language: de", false},
		{"Content-Language: de", "Accept-Language: de|X-A: 1", "Accept-Language: de, en|X-A: 1", true},
		{"Content-Language: de", "Accept-Language: de, en;q=0.1;x=1", "Accept-Language: de", false},
		{"Content-Language: de", "Accept-Language: de", "Accept-Language: de, <script>", false},
		{"Content-Language: de", "Accept-Language: de", "", false},
		{"Content-Language: de", "", "Accept-Language: de", false},
		{"", "Accept-Language: de", "Accept-Language: de, en", false},
	} {
		o := (&Object{Response: Response{Header: fields(split(row.response)...)}, Names: names}).forRequest(split(row.selected)...)
		if got := (Variants{o}).Select(selector(split(row.request)...), true) == o; got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
	o := &Object{Response: Response{Header: fields("Content-Language: de")}, Names: []string{"X-A"}}
	if selector("Accept-Language: de", "X-A: 1").prefersLanguageOf(o) {
		t.Error("a response that does not vary by language")
	}
}

// TestOneClientTakesAwayNoVariants of others, however many it requests: its own ones go first, by number and by size.
func TestOneClientTakesAwayNoVariants(t *testing.T) {
	for name, size := range map[string]int{"number": 10, "size": 20_000} {
		t.Run(name, func(t *testing.T) {
			s := newTestStore(t, 1<<20)
			s.Variants = 50
			put := func(client clients.ID, after int, value string) {
				o := variant(after, value)
				o.Body, o.client = make([]byte, size), client
				s.Put("/a", o)
			}
			put(1, 0, "good")
			put(2, 0, "other")
			for i := range 100 {
				put(3, 1+i, fmt.Sprint("bad", i))
			}
			put(3, 200, "good") // it is requested again
			for i := range 100 {
				put(3, 300+i, fmt.Sprint("worse", i))
			}
			find := func(value string) *Object { return s.Get("/a").Select(selector("X-A: "+value), false) }
			if find("good") == nil || find("other") == nil || find("worse99") == nil || find("bad0") != nil {
				t.Errorf("%d variants", len(s.Get("/a")))
			}
		})
	}
}

// TestSelectionIsLinear: with 50 variants stored, a request with 60 kB of a field costs about as much as one alone.
func TestSelectionIsLinear(t *testing.T) {
	s := newTestStore(t, 64<<20)
	s.Variants = 50
	for i := range 50 {
		r := received(http.StatusOK, "Cache-Control: max-age=600", "Vary: Accept, Accept-Encoding, Accept-Language, X-A", "Etag: \"a\"", "Content-Language: de")
		r.Requested = noon
		terms := TermsOf(r, &usualRules)
		s.Put("/a", NewObject(r, &terms, selector(fmt.Sprint("X-A: ", i)), &usualRules))
	}
	v := s.Get("/a")
	if len(v) != 50 {
		t.Fatalf("%d variants", len(v))
	}
	for _, line := range []string{"Accept-Encoding: %s", "Accept-Language: %s", "Accept: %s", "X-A: %s"} {
		for _, part := range []string{"a,", ",", "a;q=0.5,", "a;", `"`, `a"\",`, " ,", "a-", "a/b;c=d;", "x"} {
			request := fields(fmt.Sprintf(line, strings.Repeat(part, 60_000/len(part))))
			best := time.Hour
			for range 5 {
				began := time.Now()
				sel := s.Selector(request, &usualRules)
				v.Select(&sel, true)
				v.Tags(&sel)
				v.Tagged(`"b"`, &sel)
				best = min(best, time.Since(began))
			}
			if best > 2*time.Millisecond {
				t.Errorf("%s of %q takes %s", line, part, best)
			}
		}
	}
}

// TestSites keep responses apart: those for requests with another site are neither selected, nor replaced, nor named by the origin.
func TestSites(t *testing.T) {
	const one, other = "https://a.example", "http://a.example"
	sent := func(site, tag string, names ...string) *Object {
		s := &Selector{Site: site, rules: &usualRules, fields: header(fields("Accept-Encoding: gzip"))}
		response := fields("Etag: "+tag, "Vary: "+strings.Join(names, ","))
		return NewObject(&Response{Status: http.StatusOK, Header: response}, &Terms{}, s, &usualRules)
	}
	for _, names := range [][]string{nil, {"Accept-Encoding"}} {
		v := Variants{}.With(sent(one, `"1"`, names...), 10, 1<<20).With(sent(other, `"2"`, names...), 10, 1<<20)
		if len(v) != 2 || v[0].covers(v[1]) || v[1].covers(v[0]) {
			t.Fatalf("%q: one takes the place of the other: %d are there", names, len(v))
		}
		for site, want := range map[string]*Object{one: v[1], other: v[0], "": nil, "https://b.example": nil} {
			s := &Selector{Site: site, rules: &usualRules, fields: header(fields("Accept-Encoding: gzip"))}
			if got := v.Select(s, true); got != want {
				t.Errorf("%q: %s selects that of %v", names, site, got)
			}
			var tags []string
			if want != nil {
				tags = []string{want.Tag()}
			}
			if got := v.Tags(s); !slices.Equal(got, tags) {
				t.Errorf("%q: the origin may name %q for %s, want %q", names, got, site, tags)
			}
			if got := v.Tagged(v[1].Tag(), s); got != nil && site != one {
				t.Errorf("%q: the origin names the response of another site for %s", names, site)
			}
		}
	}
}

// TestVariantsOfSites: each site has as many as are allowed, and no client takes the place of others by names that it makes up.
func TestVariantsOfSites(t *testing.T) {
	const most = 3
	variant := func(site string, language int, client clients.ID) *Object {
		s := &Selector{Site: site, Client: client, rules: &usualRules, key: new([KeyBytes]byte), fields: header(fields(fmt.Sprint("X-A: ", language)))}
		return NewObject(&Response{Status: http.StatusOK, Header: fields("Vary: X-A")}, &Terms{}, s, &usualRules)
	}
	of := func(site string) func(*Object) bool { return func(o *Object) bool { return o.Site == site } }
	var v Variants
	for i := range most + 1 {
		v = v.With(variant("http://a", i, clients.ID(1)), most, 1<<30)
		v = v.With(variant("http://b", i, clients.ID(1)), most, 1<<30)
	}
	if a, b := v.count(of("http://a")), v.count(of("http://b")); a != most || b != most {
		t.Errorf("%d and %d variants of two sites, want %d of each", a, b, most)
	}
	for i := range 5 * most * mostSites {
		v = v.With(variant(fmt.Sprint("http://", i), 0, clients.ID(2)), most, 1<<30)
	}
	if len(v) != most*mostSites || v.count(of("http://a")) != most || v.count(of("http://b")) != most {
		t.Errorf("%d variants, of which %d and %d are of others than the client that makes up names", len(v), v.count(of("http://a")), v.count(of("http://b")))
	}
}

func TestReducedCodings(t *testing.T) {
	for value, want := range map[string]string{
		"gzip, deflate, br, zstd": "br, gzip, zstd", "ZSTD|gzip;q=0.1": "gzip, zstd", "gzip;q=0, br": "br", "deflate, identity": "", "*": "", "": "", "gzip;q=2": "", "gzip, ": "",
	} {
		lines := strings.Split(value, "|")
		if got := ReducedCodings(lines); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
		rules := usualRules
		rules.ReduceCodings = true
		s := &Selector{rules: &rules, fields: header{"Accept-Encoding": lines}}
		if text, ok := s.value("Accept-Encoding"); text != want || ok != (want != "") {
			t.Errorf("%q selects by %q, %t", value, text, ok)
		}
	}
	if got := ReducedCodings(nil); got != "" {
		t.Errorf("without the field: %q", got)
	}
}
