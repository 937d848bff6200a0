package pages

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/catalog/catalogtest"
)

// eachReference calls a function with the page of every endpoint in every language.
func eachReference(t *testing.T, check func(t *testing.T, e *catalog.Endpoint, l i18n.Language, text string)) {
	t.Helper()
	c := builtin(t)
	set := setOf(t, c)
	for _, e := range c.Endpoints {
		for _, l := range i18n.All() {
			t.Run(e.Name+"/"+l.String(), func(t *testing.T) {
				check(t, e, l, textOf(documentOf(t, set, EndpointPath(e), l)))
			})
		}
	}
}

// Every endpoint has a page in each language: its parameters as a form, its fields, errors
// and forms.
func TestReferenceForPeople(t *testing.T) {
	overview := textOf(documentOf(t, setOf(t, builtin(t)), ReferencePath, i18n.English))
	eachReference(t, func(t *testing.T, e *catalog.Endpoint, l i18n.Language, text string) {
		t.Helper()
		if !strings.Contains(overview, `href="/tools/docs/`+e.Name+`"`) {
			t.Error("the overview does not lead to it")
		}
		plain := html.UnescapeString(text)
		for _, part := range []string{l.Say(e.EN, e.ZH), `<h1>` + l.Of(e.Title) + `</h1>`, `aria-current="page">` + l.Of(e.Title), `action="/tools/api/` + e.Name + `"`, `data-target="/tools/docs/` + e.Name + `/target"`} {
			if !strings.Contains(plain, part) {
				t.Errorf("%s is not there", part)
			}
		}
		for _, p := range e.Params {
			if named := strings.Contains(text, ` name="`+p.Name+`"`); named == p.Derived() {
				t.Errorf("parameter %s: in the form: %v", p.Name, named)
			}
			for _, choice := range p.Choices {
				if !regexp.MustCompile(`<option value="` + choice.Value + `"[^>]*>[^<]*` + regexp.QuoteMeta(l.Say(choice.EN, choice.ZH))).MatchString(plain) {
					t.Errorf("parameter %s: the choice %s is not there", p.Name, choice.Value)
				}
			}
		}
		for _, f := range e.Forms {
			if !strings.Contains(text, l.Of(apidoc.FormOf(f).Is)) {
				t.Errorf("form %s is not there", f.Name)
			}
		}
	})
}

// Every declared field has a row with its type and its meaning.
func TestReferenceHasAllFields(t *testing.T) {
	row := regexp.MustCompile(`<tr><th scope="row"><code>(.*?)</code></th><td>(.*?)</td><td>(.*?)</td></tr>`)
	eachReference(t, func(t *testing.T, e *catalog.Endpoint, l i18n.Language, text string) {
		t.Helper()
		rows := map[string][]string{}
		for _, m := range row.FindAllStringSubmatch(text, -1) {
			path := strings.NewReplacer(`<span class="soft">`, "", "</span>", "").Replace(m[1])
			rows[strings.ReplaceAll(path, "[]", "")] = m
		}
		var check func(above string, fields []*catalog.Field)
		check = func(above string, fields []*catalog.Field) {
			for _, f := range fields {
				m := rows[above+f.Name]
				if m == nil || m[2] == "" || html.UnescapeString(m[3]) != l.Say(f.EN, f.ZH) {
					t.Errorf("field %s%s: %q", above, f.Name, m)
				}
				check(above+f.Name+".", f.Fields)
			}
		}
		check("", e.Fields)
	})
}

// The types of fields in the words of each language.
func TestTypesInWords(t *testing.T) {
	set := setOf(t, builtin(t))
	for _, want := range []struct {
		endpoint, part string
		in             i18n.Language
	}{
		{"ip", "latitude</code></th><td>number or null</td><td>Degrees north", i18n.English},
		{"ip", "latitude</code></th><td>数字或 null</td><td>纬度", i18n.Chinese},
		{"sfz", "birthday</code></th><td>date or null</td>", i18n.English},
		{"sfz", "reasons</code></th><td>list of text</td>", i18n.English},
		{"sfz", "reasons</code></th><td>文本的列表</td>", i18n.Chinese},
		{"dwzrec", "hops</code></th><td>链接或 null 的列表</td>", i18n.Chinese},
		{"wpcat", `<code><span class="soft">list[].</span>url</code></th><td>链接`, i18n.Chinese},
	} {
		if text := textOf(documentOf(t, set, "/docs/"+want.endpoint, want.in)); !strings.Contains(text, want.part) {
			t.Errorf("%s: %s is not there", want.endpoint, want.part)
		}
	}
}

// The example answer has its members in the order in which the service answers them.
func TestExampleAnswerInTrueOrder(t *testing.T) {
	text := textOf(documentOf(t, setOf(t, builtin(t)), "/docs/60s", i18n.English))
	_, example, _ := strings.Cut(text, `<code class="json">`)
	example, _, _ = strings.Cut(example, "</code>")
	last := -1
	for _, name := range []string{"code", "message", "data", "date", "weekday", "lunar", "count", "news", "tip", "image", "page", "published_at", "updated_at", "source"} {
		at := strings.Index(example, "&#34;"+name+"&#34;:")
		if at <= last {
			t.Errorf("%s is at %d, after %d", name, at, last)
		}
		last = at
	}
}

// What an endpoint's author writes is text on its page.
func TestReferenceEscapes(t *testing.T) {
	const hostile = `</script><img src=x onerror=alert(1)>"'&`
	c := catalogtest.Load(t, map[string]string{"joke": `version: 1
name: joke
group: text
summary: {en: '` + strings.ReplaceAll(hostile, "'", "''") + `', zh: '` + strings.ReplaceAll(hostile, "'", "''") + `'}
params:
  - {name: action, type: string, required: true, example: '` + strings.ReplaceAll(hostile, "'", "''") + `', summary: {en: '<b>', zh: '<b>'}}
  - {name: n, type: string, enum: ['<i>'], choices: {'<i>': {en: '<u>', zh: '<u>'}}, example: '<i>'}
cache: {class: shared, ttl: 1h}
fields: {a: {en: '<s>', zh: '<s>'}}
forms: [{name: json, json: .}]
sources: [{name: made, computed: {}, map: '{a: 1}'}]
`})
	text := textOf(documentOf(t, setOf(t, c), "/docs/joke", i18n.English))
	for _, tag := range []string{"<img src=x", "<b>", "<i>", "<u>", "<s>", "</script><"} {
		if strings.Contains(strings.ReplaceAll(text, "defer></script>", ""), tag) {
			t.Errorf("%s is not escaped", tag)
		}
	}
}

// TestLimitsOfCallers: the rate as configured, and the wait where others are asked.
func TestLimitsOfCallers(t *testing.T) {
	c := builtin(t)
	for name, want := range map[string]string{
		"kd":  "Each address (IPv6: each /64) may call all endpoints 0.5 times a second in the long run, and 2 times at once.|The sources have 20 seconds in all to answer; then the last copy is served, or an error.",
		"sfz": "Each address (IPv6: each /64) may call all endpoints 0.5 times a second in the long run, and 2 times at once.",
	} {
		e, _ := c.Get(name)
		s := &Set{cfg: Config{Rate: 0.5, Burst: 2}}
		if got := strings.Join(s.limits(i18n.English, e), "|"); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		s = &Set{}
		if got := s.limits(i18n.English, e); len(got) != strings.Count(want, "|") {
			t.Errorf("%s without a limit: %q", name, got)
		}
	}
}
