package draft

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"sundry/upstreams/httpsource"
)

// reply is what is known about a reply.
type reply struct {
	decode  string // as in a catalog file; "" for JSON
	charset string // "" for UTF-8
	body    []byte // in UTF-8
	file    string // that it is recorded in
	mapping *mapping
	rules   []string // of the judge
	section []string // lines of the http section
}

var (
	jsonp = regexp.MustCompile(`^\s*[A-Za-z_$][\w.$]*\s*\(`)
	page  = regexp.MustCompile(`(?i)^\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body)\b`)
	// hiddenNumber matches numbers of JSON that hold a secret.
	hiddenNumber = regexp.MustCompile(`([:,\[]\s*)[-+.0-9eE]*(?:\*\*\*[-+.0-9eE]*)+`)
	declared     = regexp.MustCompile(`(?i)charset=["']?([a-z0-9-]+)`)
)

// readReply finds out what the reply is.
func readReply(c *Call) (*reply, error) {
	if len(bytes.TrimSpace(c.Body)) == 0 {
		return nil, errors.New("the reply is empty; expected JSON, HTML, a text or a picture")
	}
	if blob, err := httpsource.Sniff(c.Body); err == nil {
		return &reply{decode: "image", body: c.Body, file: "reply." + strings.TrimPrefix(blob.Type, "image/")}, nil
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
		return r, r.readJSON(trimmed, "")
	case jsonp.Match(trimmed) && kind != "text/html":
		start := bytes.IndexAny(trimmed, "{[")
		end := bytes.LastIndexAny(trimmed, "}]")
		if start > 0 && end > start && r.readJSON(trimmed[start:end+1], "jsonp") == nil {
			return r, nil
		}
	case kind == "text/html" || page.Match(trimmed):
		r.readPage()
		return r, nil
	}
	r.decode, r.file = "text", "reply.txt"
	r.mapping = &mapping{program: "{text: (. | gsub(\"^\\\\s+|\\\\s+$\"; \"\"))}", fields: []field{{name: "text"}}}
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
	name := ""
	if m := declared.FindStringSubmatch(c.Header.Get("Content-Type") + " " + string(r.body[:min(len(r.body), 2048)])); m != nil {
		name = strings.ToLower(m[1])
	}
	var from encoding.Encoding
	switch name {
	case "gbk", "gb2312", "gb18030":
		r.charset, from = "gb18030", simplifiedchinese.GB18030
	case "big5":
		r.charset, from = "big5", traditionalchinese.Big5
	default:
		return fmt.Errorf("the reply is neither a picture nor UTF-8, and names no charset that is known (%q); expected gbk, gb18030 or big5", name)
	}
	text, err := from.NewDecoder().Bytes(r.body)
	r.body = text
	return err
}

// readPage takes from a page what most pages have.
func (r *reply) readPage() {
	r.decode, r.file = "html", "reply.html"
	r.section = []string{
		"select:", "  title: title", "  heading: h1",
		`  description: {css: "meta[name=description], meta[property='og:description']", attr: content}`,
		`  cover: {css: "meta[property='og:image']", attr: content, link: true}`,
		`  page: {css: "link[rel=canonical], meta[property='og:url']", attr: href, link: true}`,
	}
	r.rules = []string{`{if: (.title // .heading) == null, is: malformed}`}
	r.mapping = &mapping{program: "{title: (.title // .heading), heading, description, cover, page}", fields: []field{
		{name: "title"}, {name: "heading"}, {name: "description"}, {name: "cover", is: "link"}, {name: "page", is: "link"},
	}}
}

// readJSON finds the place of the data and maps it.
func (r *reply) readJSON(text []byte, decode string) error {
	v, err := decodeOrdered(text)
	if err != nil {
		return fmt.Errorf("the reply begins like JSON, but is not: %w", err)
	}
	r.decode, r.file = decode, "reply.json"
	if decode != "" {
		r.file = "reply.txt"
	}
	if err := refused(v); err != nil {
		return err
	}
	path, data := promising(v)
	r.rules = rules(v, path, data)
	r.mapping = mappingOf(path, data)
	return nil
}
