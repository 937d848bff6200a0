package scaffold

import (
	"bytes"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"sundry/metrics/words"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/lib/charsets"
)

// reply is what is known about a reply.
type reply struct {
	Decode  string   // as in a catalog file; "" for JSON
	Charset string   // "" for UTF-8
	File    string   // that it is recorded in
	Mapping *mapping // nil for a picture
	Rules   []string // of the judge
	Section []string // lines of the http section
	body    []byte   // in UTF-8
}

var (
	jsonp = regexp.MustCompile(`^\s*[A-Za-z_$][\w.$]*\s*\(`)
	page  = regexp.MustCompile(`(?i)^\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body)\b`)
	// hiddenNumber matches numbers of JSON that hold a secret.
	hiddenNumber = regexp.MustCompile(`([:,\[]\s*)[-+.0-9eE]*(?:\*\*\*[-+.0-9eE]*)+`)
)

// readReply finds out what the reply is.
func readReply(c *Call) (*reply, error) {
	if len(bytes.TrimSpace(c.Body)) == 0 {
		return nil, words.NewError("the reply is empty; expected JSON, HTML, a text or a picture", "回复是空的；应为 JSON、HTML、文本或图片")
	}
	if blob, err := httpsource.Sniff(c.Body); err == nil {
		return &reply{Decode: "image", body: c.Body, File: "reply." + strings.TrimPrefix(blob.Type, "image/")}, nil
	}
	r := &reply{}
	if err := r.readText(c); err != nil {
		return nil, err
	}
	r.hide(c.Address)
	kind, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	trimmed := bytes.TrimSpace(r.body)
	switch {
	case trimmed[0] == '{' || trimmed[0] == '[':
		return r, r.readJSON(trimmed, "", c.Address.asksGraphQL())
	case feed.Match(trimmed):
		return r, r.readFeed(c)
	case jsonp.Match(trimmed) && kind != "text/html":
		start := bytes.IndexAny(trimmed, "{[")
		end := bytes.LastIndexAny(trimmed, "}]")
		if start > 0 && end > start && r.readJSON(trimmed[start:end+1], "jsonp", false) == nil {
			return r, nil
		}
	case kind == "text/html" || page.Match(trimmed):
		return r, r.readPage()
	}
	r.Decode, r.File = "text", "reply.txt"
	r.Mapping = &mapping{Program: "{text: (. | gsub(\"^\\\\s+|\\\\s+$\"; \"\"))}", fields: []*field{{name: "text", must: true}}}
	return r, nil
}

// hide takes the secrets out of the reply, before names and values of it get into
// programs.
func (r *reply) hide(a *Address) {
	hidden := a.redact(r.body)
	if !bytes.Equal(hidden, r.body) && bytes.ContainsAny(hidden[:min(len(hidden), 256)], "{[") {
		hidden = hiddenNumber.ReplaceAll(hidden, []byte("${1}0"))
	}
	r.body = hidden
}

// readText decodes the charset.
func (r *reply) readText(c *Call) error {
	r.body = bytes.TrimPrefix(c.Body, []byte("\xef\xbb\xbf"))
	if utf8.Valid(r.body) {
		return nil
	}
	label := charsets.Label(c.Header.Get("Content-Type"), r.body)
	from, name, _ := charsets.Of(label)
	if name != "gb18030" && name != "big5" {
		return words.Errorf("the reply is neither a picture nor UTF-8, and names no charset that is known (%q); expected gbk, gb18030 or big5", "回复既不是图片，也不是 UTF-8，又没有写明认识的编码（%q）；应为 gbk、gb18030 或 big5", label)
	}
	r.Charset = name
	text, err := from.NewDecoder().Bytes(r.body)
	r.body = text
	return err
}

// pageParts are what most pages have, with what a page that has it contains.
var pageParts = []struct {
	field
	selection string
	has       *regexp.Regexp
}{
	{field{name: "heading"}, "h1", regexp.MustCompile(`(?i)<h1`)},
	{field{name: "description"}, `{css: "meta[name=description], meta[property='og:description']", attr: content}`, regexp.MustCompile(`(?i)<meta[^>]*["']?(og:)?description["']?`)},
	{field{name: "cover", is: "link"}, `{css: "meta[property='og:image']", attr: content, link: true}`, regexp.MustCompile(`(?i)<meta[^>]*["']?og:image["']?`)},
	{field{name: "page", is: "link"}, `{css: "link[rel=canonical], meta[property='og:url']", attr: href, link: true}`, regexp.MustCompile(`(?i)<link[^>]*rel=["']?canonical`)},
}

// readPage takes from a page what it has of what most have.
func (r *reply) readPage() error {
	if !titled(r.body) {
		return words.NewError("the reply is a web page without a title or heading (h1); expected JSON, a text, a picture, or a page with a title: is the address that of the API, and not of its site?",
			"回复是网页，而且没有标题（title 或 h1）；应为 JSON、文本、图片，或有标题的网页：请确认地址是 API 的，而不是网站的")
	}
	r.Decode, r.File = "html", "reply.html"
	r.Section = []string{"select:", "  title: title, h1"}
	names := []string{"title"}
	fields := []*field{{name: "title", must: true, filled: true}}
	for _, part := range pageParts {
		if part.has.Match(r.body) {
			r.Section = append(r.Section, "  "+part.name+": "+part.selection)
			names, fields = append(names, part.name), append(fields, &part.field)
		}
	}
	r.Rules = []string{`{if: .title == null, is: malformed}`}
	r.Mapping = &mapping{Program: "{" + strings.Join(names, ", ") + "}", fields: fields}
	return nil
}

// titled reports whether a page has a title or heading with a text.
func titled(page []byte) bool {
	z := html.NewTokenizer(bytes.NewReader(page))
	for in := false; ; {
		switch z.Next() {
		case html.ErrorToken:
			return false
		case html.TextToken:
			if in && len(bytes.TrimSpace(z.Text())) > 0 {
				return true
			}
		case html.StartTagToken, html.EndTagToken:
			if t := z.Token(); t.Data == "title" || t.Data == "h1" {
				in = t.Type == html.StartTagToken
			}
		}
	}
}

// feed matches the beginning of RSS, Atom and RDF.
var feed = regexp.MustCompile(`(?i)^\s*(<\?xml[^>]*\?>\s*)?(<!--.*?-->\s*|<\?[^>]*\?>\s*|<!doctype[^>]*>\s*)*<(rss|feed|rdf:rdf)\b`)

// readFeed takes from a feed what its items have.
func (r *reply) readFeed(c *Call) error {
	v, err := httpsource.Feed(r.body, c.Address.url)
	if err != nil {
		return words.Errorf("the reply begins like a feed, but is not: %s", "回复的开头像订阅源，其实不是：%s", words.Failure(err))
	}
	r.Decode, r.File = "feed", "reply.xml"
	items, _ := v["items"].([]any)
	has := map[string]bool{}
	for _, item := range items {
		for name := range item.(map[string]any) { //nolint:forcetypeassert // see httpsource.Feed
			has[name] = true
		}
	}
	var programs []string
	var of []*field
	for _, f := range []struct{ name, from, is string }{{"title", "title", ""}, {"url", "url", "link"}, {"summary", "summary", ""}, {"image", "image", "link"}, {"date", "date_published", "time"}} {
		if has[f.from] {
			program := f.name
			if f.from != f.name {
				program += ": ." + f.from
			}
			if f.name == "summary" {
				program += ": (.summary | html_text)"
			}
			programs, of = append(programs, program), append(of, &field{name: f.name, is: f.is, filled: true})
		}
	}
	if of == nil {
		return words.NewError("the feed has no items with a title or an address; expected some", "订阅源中没有带标题或地址的条目；应有一些")
	}
	head := &field{name: "title", must: true, filled: true}
	r.Mapping = &mapping{fields: []*field{head, {name: "items", list: true, atLeast: 1, fields: demand(of)}}, Program: "{title, items: [.items[] | {" + strings.Join(programs, ", ") + "}]}"}
	if v["title"] == nil {
		r.Mapping.fields, r.Mapping.Program = r.Mapping.fields[1:], strings.Replace(r.Mapping.Program, "title, ", "", 1)
	}
	return nil
}

// readJSON finds the place of the data and maps it.
func (r *reply) readJSON(text []byte, decode string, ofGraphQL bool) error {
	v, err := decodeOrdered(text)
	if err != nil {
		return words.Errorf("the reply begins like JSON, but is not: %s", "回复的开头像 JSON，其实不是：%s", words.Failure(err))
	}
	r.Decode, r.File = decode, "reply.json"
	if decode != "" {
		r.File = "reply.txt"
	}
	if err := refused(v); err != nil {
		return err
	}
	path, data := promising(v)
	if ofGraphQL {
		if at, inner, ok := graphQL(v); ok {
			path, data = at, inner
		}
	}
	r.Rules = rules(v, path, data, ofGraphQL)
	r.Mapping = mappingOf(path, data)
	return nil
}
