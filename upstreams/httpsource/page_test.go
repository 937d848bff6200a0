package httpsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/costtest"
)

func selecting(t testing.TB, spec string) *document {
	t.Helper()
	var all map[string]Selection
	var problems declare.Problems
	declare.Read([]byte(spec), &all, &problems)
	d := &document{parsePage, compileSelections(all, &problems)}
	if len(problems) > 0 {
		t.Fatalf("%s: %v", spec, problems)
	}
	return d
}

// selectFrom selects from a page of https://www.example.org/a/b.
func selectFrom(t testing.TB, spec, page string) (string, error) {
	t.Helper()
	from, _ := url.Parse("https://www.example.org/a/b")
	v, err := selecting(t, spec).decode(t.Context(), []byte(page), from)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(v)
	return strings.NewReplacer(`\u0026`, "&", `\u003c`, "<").Replace(string(b)), err
}

func TestSelections(t *testing.T) {
	for _, row := range []struct{ name, spec, page, want string }{
		{"text", "t: h1", "<h1> Fish\n &amp; <b>chips</b> </h1><h1>2</h1>", `{"t":"Fish & chips"}`},
		{"nothing", "t: h2", "<h1>a</h1>", `{"t":null}`},
		{"an empty element", "t: h1", "<h1></h1>", `{"t":""}`},
		{"attribute", "t: {css: 'meta[property=\"og:title\"]', attr: content}", `<meta property="og:title" content=" A "><meta property="og:title" content="B">`, `{"t":"A"}`},
		{"no attribute", "t: {css: a, attr: title}", "<a href=x>y</a>", `{"t":null}`},
		{"links", "l: {each: a, attr: href, link: true}", `<a href="c?d=1&amp;e=2">1</a><a href=//x.example/y>2</a><a href="javascript:alert(1)">3</a><a href="/z">4</a><a>5</a><a href="https://u:p@h.example/">6</a><a href="">7</a>`,
			`{"l":["https://www.example.org/a/c?d=1&e=2","https://x.example/y",null,"https://www.example.org/z",null,null,null]}`},
		{"base", "l: {css: a, attr: href, link: true}", `<head><base href="https://cdn.example.org/x/"></head><body><a href=y>1</a>`, `{"l":"https://cdn.example.org/x/y"}`},
		{"items", "i: {each: 'ul > li', fields: {name: a, url: {css: a, attr: href}, self: {}}}", "<ul><li><a href=1>A</a> x<li><a href=2>B</a></ul><li>no",
			`{"i":[{"name":"A","self":"A x","url":"1"},{"name":"B","self":"B","url":"2"}]}`},
		{"nested items", "i: {each: section, fields: {rows: {each: p}}}", "<section><p>1<p>2</section><section></section>", `{"i":[{"rows":["1","2"]},{"rows":[]}]}`},
		{"an object", "o: {css: main, fields: {t: h1}}", "<h1>no</h1><main><h1>yes</h1></main>", `{"o":{"t":"yes"}}`},
		{"no object", "o: {css: main, fields: {t: h1}}", "<h1>no</h1>", `{"o":null}`},
		{"blocks are apart", "t: body", "<body><div>一</div><div>二<br>三</div><span>四</span><span>五</span></body>", `{"t":"一 二 三 四五"}`},
		{"scripts are no text", "t: body", "<body>a<script>if (1<2) b()</script><style>c</style></body>", `{"t":"a"}`},
		{"script by name", "t: 'script#data'", `<script id=data>{"a":"<b>"}</script>`, `{"t":""}`},
		{"left out: tbody", "t: 'table > tbody > tr > td:nth-child(2)'", "<table><tr><td>1<td>2<tr><td>3<td>4</table>", `{"t":"2"}`},
		{"left out: rows", "r: {each: tr, fields: {c: {each: td}}}", "<table><tr><td>1<td>2<tr><td>3</table>", `{"r":[{"c":["1","2"]},{"c":["3"]}]}`},
		{"left out: paragraphs", "p: {each: 'body > p'}", "<body><p>1<p>2<div>3</div><p>4", `{"p":["1","2","4"]}`},
		{"left out: terms", "d: {each: dl > dd}", "<dl><dt>a<dd>1<dt>b<dd>2</dl>", `{"d":["1","2"]}`},
		{"lists in lists", "l: {each: 'body > ul > li', fields: {n: {each: 'ul > li > ul > li'}}}", "<body><ul><li>1<ul><li>2<li>3</ul><li>4</ul>", `{"l":[{"n":["2","3"]},{"n":[]}]}`},
		{"ends of nothing", "t: {each: p}", "</div></p><div><span><p>a</span>b</p></div></i>", `{"t":["ab"]}`},
		{"void elements", "t: {each: 'p > img', attr: src}", "<p><img src=a><br><img src=b/></p>", `{"t":["a","b/"]}`},
		{"groups", "t: {each: 'h1, h2'}", "<h2>b</h2><h1>a</h1>", `{"t":["b","a"]}`},
	} {
		if got, err := selectFrom(t, row.spec, row.page); err != nil || got != row.want {
			t.Errorf("%s: %s %v, want %s", row.name, got, err, row.want)
		}
	}
}

func TestMistakesOfSelections(t *testing.T) {
	for spec, want := range map[string]string{
		"t: 'h1['":                                `1: select: t: expected a CSS selector, for example ul.list > li, or item > media\:content of XML, got "h1["`,
		"a: b\nt: {each: '>'}":                    `2: select: t: expected a CSS selector`,
		"t: {each: li, css: a}":                   "1: select: t: each and css: expected only one of them",
		"t: {css: a, attr: href, fields: {a: b}}": "1: select: t: fields and attr: expected only one of them",
		"t: {css: a, atr: href}":                  "1: unknown key atr in t; did you mean attr?",
		"t: [a]":                                  "1: t: expected a text or a mapping, got a list",
		"t: {fields: {u: 'a:nope(b)'}}":           "1: select: u: expected a CSS selector",
	} {
		var all map[string]Selection
		var problems declare.Problems
		if declare.Read([]byte(spec), &all, &problems) {
			compileSelections(all, &problems)
		}
		if len(problems) == 0 || !strings.HasPrefix(strings.TrimPrefix(strings.Join([]string{string(rune('0' + problems[0].Line)), problems[0].Msg.EN()}, ": "), ""), want) {
			t.Errorf("%s: %v, want %s", spec, problems, want)
		}
	}
}

// A hostile page is refused, or its tree is bounded: it is no larger than the page.
func TestHostilePages(t *testing.T) {
	for name, row := range map[string]struct {
		page  string
		large bool
	}{
		"deep":                {strings.Repeat("<div>", 100_000), false},
		"many":                {strings.Repeat("<i></i>", maxNodes+1), true},
		"many matches":        {strings.Repeat("<p>", maxElements+1), true},
		"much text":           {"<p>" + strings.Repeat("x", maxSelected+1), true},
		"unclosed formatting": {strings.Repeat("<p><b class=x>", 300), false},
		"text many times":     {strings.Repeat("<p>"+strings.Repeat("<b>", 200)+strings.Repeat("x", 1000)+strings.Repeat("</b>", 200), 600), true},
	} {
		got, err := selectFrom(t, "t: {each: p}", row.page)
		if name == "unclosed formatting" {
			continue // only its size counts
		}
		if err == nil || row.large != errors.Is(err, upstreams.ErrTooLarge) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	page := strings.Repeat("<p><b x=1><i><u><font>", 10_000)
	root, err := parsePage([]byte(page))
	if err == nil && size(root) > 2*strings.Count(page, "<")+1 {
		t.Errorf("%d nodes of %d tags", size(root), strings.Count(page, "<"))
	}
}

// Selecting ends with the call that asks for it.
func TestSelectingEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	from, _ := url.Parse("https://www.example.org/")
	if _, err := selecting(t, "t: nothing").decode(ctx, []byte(strings.Repeat("<p>", 1000)), from); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func size(n *html.Node) int {
	nodes := 1
	for range n.Descendants() {
		nodes++
	}
	return nodes
}

// FuzzPage: any page ends in a value or an error, and in a tree that is not larger than
// its tags.
func FuzzPage(f *testing.F) {
	for _, page := range []string{"<table><tr><td><b><table></b></table>x", "<p><b><div></p></b>", "<a><a><li><ul><li></a>", "</body><script><!--<script>", "<svg><p><math>"} {
		f.Add(page)
	}
	f.Fuzz(func(t *testing.T, page string) {
		root, err := parsePage([]byte(page))
		if err == nil && size(root) > 3*strings.Count(page, "<")+2 {
			t.Errorf("%d nodes", size(root))
		}
		_, _ = selectFrom(t, "t: {each: '*', fields: {a: {attr: href, link: true}, b: 'p ~ p', c: ':nth-child(2)'}}", page)
	})
}

// TestMemoryOfPages: what a page takes is reserved, however it is written.
func TestMemoryOfPages(t *testing.T) {
	var distinct strings.Builder
	for i := range 1 << 17 {
		fmt.Fprintf(&distinct, " %x", i)
	}
	for name, page := range map[string]string{
		"attributes of one tag":     "<a" + distinct.String() + ">x",
		"attributes apart by slash": "<a" + strings.ReplaceAll(distinct.String(), " ", "/") + ">x",
		"attributes of many tags":   strings.Repeat("<br a b c d e f g h i j k l m n o p q r s t u v w x y z>", 1<<13),
		"tags":                      strings.Repeat("<br>x", 1<<16),
	} {
		peak := costtest.PeakHeap(func() {
			if _, err := parsePage([]byte(page)); err != nil {
				t.Error(err)
			}
		})
		if reserved := uint64(memoryOf([]byte(page))); peak > reserved {
			t.Errorf("%s: %d KiB are reserved, %d KiB taken", name, reserved>>10, peak>>10)
		}
	}
}
