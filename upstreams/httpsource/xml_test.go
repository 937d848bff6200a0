package httpsource

import (
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"

	"sundry/upstreams"
)

// selectFromXML selects from a document of https://www.example.org/a/b.
func selectFromXML(t testing.TB, spec, doc string, declared encoding.Encoding) (string, error) {
	t.Helper()
	d := selecting(t, spec)
	d.parse = parseXML
	from, _ := url.Parse("https://www.example.org/a/b")
	text, err := textOfXML([]byte(doc), declared)
	if err != nil {
		return "", err
	}
	v, err := d.decode(t.Context(), text, from)
	if err != nil {
		return "", err
	}
	b, err := json.Marshal(v)
	return strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(string(b)), err
}

func TestSelectionsOfXML(t *testing.T) {
	gbk, _ := simplifiedchinese.GBK.NewEncoder().String("天气")
	for _, row := range []struct{ name, spec, doc, want string }{
		{"items", "items: {each: r > i, fields: {n: n, u: {css: l, attr: href, link: true}}}", `<r><i><n>A</n><l href="/x?a=1&amp;b=2"/></i><i><n/><l href="ftp://x/"/></i></r>`,
			`{"items":[{"n":"A","u":"https://www.example.org/x?a=1&b=2"},{"n":"","u":null}]}`},
		{"CDATA", "t: t", "<r><t> a<![CDATA[<b> &amp; ]]>c <!-- no --><?no no?>d</t></r>", `{"t":"a<b> &amp; c d"}`},
		{"case", "{t: pubDate, a: {css: guid, attr: isPermaLink}}", `<r><pubDate>1</pubDate><guid isPermaLink="false"/></r>`, `{"a":"false","t":"1"}`},
		{"prefixes", `{t: title, m: 'media\:title', a: {css: 'a[xlink\:href]', attr: 'xlink:href'}}`, `<r xmlns:media="m"><media:title>M</media:title><title>T</title><a xlink:href="x"/></r>`,
			`{"a":"x","m":"M","t":"T"}`},
		{"SOAP", `t: 'soap\:Body > m\:Reply > Price'`, `<soap:Envelope xmlns:soap="s"><soap:Body><m:Reply><Price>34.5</Price></m:Reply></soap:Body></soap:Envelope>`, `{"t":"34.5"}`},
		{"what is void or raw in HTML is not here", "{l: link, s: script, p: {each: p}}", "<r><link>a</link><script>b</script><p>1<p>2</p></p></r>", `{"l":"a","p":["1 2","2"],"s":"b"}`},
		{"entities", "t: t", "<!DOCTYPE r [<!ENTITY a 'aaa'><!ENTITY b SYSTEM 'file:///etc/passwd'>]><r><t>&a;&b;&lt;&nbsp;&#65; & more</t></r>", `{"t":"&a;&b;< A & more"}`},
		{"charset of the document", "t: t", `<?xml version="1.0" encoding="GB2312"?><r><t>` + gbk + `</t></r>`, `{"t":"天气"}`},
		{"in UTF-8 all the same", "t: t", `<?xml version="1.0" encoding="gb2312"?><r><t>天气</t></r>`, `{"t":"天气"}`},
		{"a character of GB 18030", "t: t", `<?xml version="1.0" encoding="gb2312"?><r><t>` + "\x81\x39\xee\x39\x80" + `</t></r>`, `{"t":"㐀€"}`},
		{"the same with another label", "t: t", `<?xml version="1.0" encoding="GBK"?><r><t>` + "\x81\x39\xee\x39" + `</t></r>`, `{"t":"㐀"}`},
		{"not in UTF-16", "t: t", `<?xml version="1.0" encoding="utf-16"?><r><t>a</t></r>`, `{"t":"a"}`},
		{"a character cut in two", "t: t", "<r><t>a\xe5\xa4</t></r>", `{"t":"a` + "\ufffd" + `"}`},
		{"control characters", "t: t", "\xef\xbb\xbf<r><t>a\x08b\x00</t></r>", `{"t":"ab"}`},
		{"of its parents", "t: 'b:first-child:not([x])'", "<r><b>1</b><b>2</b></r>", `{"t":"1"}`},
	} {
		if got, err := selectFromXML(t, row.spec, row.doc, nil); err != nil || got != row.want {
			t.Errorf("%s: %s %v, want %s", row.name, got, err, row.want)
		}
	}
	if got, err := selectFromXML(t, "t: t", `<?xml version="1.0" encoding="iso-8859-1"?><r><t>`+gbk+`</t></r>`, simplifiedchinese.GBK); err != nil || got != `{"t":"天气"}` {
		t.Errorf("with a declared charset: %s %v", got, err)
	}
}

// What is no whole document is refused, and so is what is larger or deeper than any.
func TestHostileXML(t *testing.T) {
	bomb := `<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">`
	for i := range 20 {
		bomb += strings.Replace(`<!ENTITY N "&M;&M;&M;&M;&M;&M;&M;&M;&M;&M;">`, "N", string(rune('b'+i)), 1)
	}
	for name, row := range map[string]struct {
		doc   string
		want  string
		large bool
	}{
		"nothing":          {"", "it has no element", false},
		"text":             {"oops", "it has no element", false},
		"cut off":          {"<r><t>a", "<t> has no end", false},
		"in a tag":         {"<r><t a=", "unexpected EOF", false},
		"ends of nothing":  {"<r></t></r>", "</t> ends nothing", false},
		"after the root":   {"<r></r></r>", "</r> ends nothing", false},
		"a page":           {"<!DOCTYPE html><html><head><meta charset=utf-8></head></html>", "</head> ends nothing", false},
		"unknown encoding": {`<?xml version="1.0" encoding="klingon"?><r/>`, `its encoding "klingon" is not known`, false},
		"deep":             {strings.Repeat("<a>", maxNesting+1), "nested more than 512", false},
		"many":             {"<r>" + strings.Repeat("<a/>", maxNodes) + "</r>", "elements and texts", true},
		"much text":        {"<r><t>" + strings.Repeat("x", maxSelected+1) + "</t></r>", "bytes selected", true},
		"bomb":             {bomb + `]><r><t>&t;</t></r>`, "", false},
	} {
		got, err := selectFromXML(t, "t: t", row.doc, nil)
		if row.want == "" && (err != nil || got != `{"t":"&t;"}`) ||
			row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want) || row.large != errors.Is(err, upstreams.ErrTooLarge)) {
			t.Errorf("%s: %s %v, want %s", name, got, err, row.want)
		}
	}
}

// FuzzXML: any document ends in a value or an error.
func FuzzXML(f *testing.F) {
	for _, doc := range []string{"<a b='c'>&#1;<![CDATA[x]]></a>", "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", `<?xml version="1.0" encoding="gbk"?><a:b xmlns:a="c"/>`} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		_, _ = selectFromXML(t, "t: {each: '*', fields: {a: {attr: href, link: true}, b: 'p ~ p'}}", doc, nil)
	})
}
