package main

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sundry/upstreams/lib/costtest"
	"sundry/upstreams/lib/longtest"
)

// costly is a field of a client, or of an origin.
type costly struct{ name, head string }

func clientFields() []costly {
	var all []costly
	for _, name := range []string{
		"Accept", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control", "Cache-Tag", "Cdn-Loop", "Connection", "Content-Type", "Cookie", "Destination", "Expect", "Forwarded", "Host",
		"If-Match", "If-Modified-Since", "If-None-Match", "If-Range", "If-Unmodified-Since", "Keep-Alive", "Origin", "Pragma", "Proxy-Connection", "Range", "Sec-Ch-Ua-Mobile", "Sec-Fetch-Site", "Soft-Purge", "Surrogate-Key", "Te", "Traceparent",
		"Tracestate", "Trailer", "Upgrade", "User-Agent", "Via", "X-Api-Key", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Http-Method-Override", "X-Original-Url", "X-Real-Ip", "X-Request-Id", "X-Sundry-Operator",
		"X-Unknown", "X_Forwarded_For", "Content-Length", "Transfer-Encoding",
	} {
		all = append(all, costly{name, ""})
	}
	return append(all, costly{"Range", "bytes="}, costly{"Range", "bytes=0-"}, costly{"Authorization", "Basic "}, costly{"Authorization", "Bearer "}, costly{"Content-Type", "application/json;"}, costly{"Traceparent", "00-"},
		costly{"Cache-Control", `no-cache="`}, costly{"If-None-Match", `"`}, costly{"Origin", "https://"}, costly{"Destination", "http://x/"}, costly{"Connection", "Upgrade,"}, costly{"If-Modified-Since", "Mon, "})
}

// request is one of a client that a field is added to.
type request struct {
	addr, line string // %d in the line is another number each time
	fields     []string
	body       string
}

// with is the request with other lines of one field, which replace its own.
func (r request) with(n int, name, text string) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(r.line, "%d", strconv.Itoa(n)) + " HTTP/1.1\r\n")
	fields := append([]string{"Host: localhost"}, r.fields...)
	if r.body != "" {
		fields = append(fields, fmt.Sprint("Content-Length: ", len(r.body)))
	}
	for _, f := range without(fields, name) {
		b.WriteString(f + "\r\n")
	}
	return b.String() + text + "\r\n" + r.body
}

// targetPieces are what paths and queries consist of.
func targetPieces() []string {
	return []string{
		"&", "=", ";", "?", "+", "%%", "a&", "a%d&", "%d=1&", "a%d=1&", "a=%d&", "utm_%d=1&", "xy&", "x", "xxy", "id=1&", "id=%d&", "callback=a&", "lang=en&", "9", "a", "%%41", "%%25", "%%2541", "%%c3%%a9", "%%zz", "[]=1&",
		"/", "/.", "/./", "/a", "/..a", "/../", "/%%2e", "/%%252e", "/.;a", "%%2f", "%%2f.", "%%5c", "/%d",
	}
}

// without returns the lines of other fields.
func without(fields []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return strings.HasPrefix(f, name+":") })
}

// TestNoRequestIsExpensive: whatever a client sends in the fields that are parsed, its request takes little time.
func TestNoRequestIsExpensive(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	p, _ := serveCosts(t)
	json := []string{"Content-Type: application/json"}
	requests := []request{
		{p.public, "GET /api/plain/hit", nil, ""},
		{p.public, "GET /api/plain/miss%d", nil, ""},
		{p.public, "GET /api/varied/hit", nil, ""},
		{p.public, "GET /api/varied/miss%d", nil, ""},
		{p.public, "GET /api/plain/hit", []string{"Range: bytes=0-0"}, ""},
		{p.public, "POST /api/plain/hit", nil, "ab"},
		{p.public, "GET /api/plain/hit", []string{"Connection: Upgrade", "Upgrade: x"}, ""},
		{p.public, "GET /api/own?id=1", nil, ""},
		{p.public, "GET /api/own?id=x", nil, ""},
		{p.public, "GET /", nil, ""},
		{p.public, "GET /nothing", nil, ""},
		{p.public, "POST /mcp", json, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
		{p.admin, "GET /admin/api/overview", nil, ""},
		{p.admin, "POST /admin/api/purge", json, `{"endpoint":"plain","url":"/nothing","mode":"hard"}`},
		{p.admin, "PURGE /api/plain/nothing", nil, ""},
	}
	m := newMeter(t, p.public)
	n, urls := 0, 0
	try := func(what, name string, text func(size int) string) {
		texts := map[int]string{largeInput: text(largeInput), smallInput: text(smallInput)}
		for _, r := range requests {
			if n++; n%longtest.Every(7) != 0 {
				continue
			}
			m.check(r.line+" with "+what, r.addr, func(size int) string {
				urls++
				return r.with(urls, name, texts[size])
			})
		}
	}
	for _, f := range clientFields() {
		for _, piece := range pieces() {
			try(f.name+": "+f.head+piece+"…", f.name, func(size int) string { return f.name + ": " + input(f.head, piece, size) + "\r\n" })
		}
		for _, value := range []string{"", "a", `"`, ","} {
			try("lines "+f.name+": "+value, f.name, func(size int) string { return repeated(f.name, value, size) })
		}
	}
	for _, piece := range targetPieces() {
		for _, start := range []string{"?", "/", "/api/plain/"} {
			text := map[int]string{largeInput: start + input("", piece, largeInput), smallInput: start + input("", piece, smallInput)}
			for _, r := range requests {
				if n++; n%longtest.Every(7) != 0 {
					continue
				}
				m.check(fmt.Sprintf("%s%s%s…", r.line, start, piece), r.addr, func(size int) string {
					urls++
					long := r
					long.line += text[size]
					return long.with(urls, "", "")
				})
			}
		}
	}
	for _, piece := range []string{"A%d:\r\n", "X-%d: a\r\n", "X_%d: a\r\n", "X-Forwarded-%d: a\r\n", "%d:b\r\n", "A:\r\n"} {
		try("fields "+piece, "-", func(size int) string {
			text := input("", piece, size)
			return text[:strings.LastIndex(text, "\r\n")+2]
		})
	}
}

func originFields() []costly {
	var all []costly
	for _, name := range []string{
		"Accept-Ranges", "Age", "Alt-Svc", "Cache-Control", "Cache-Status", "Cache-Tag", "Cdn-Cache-Control", "Connection", "Content-Encoding", "Content-Language", "Content-Length", "Content-Location", "Content-Range", "Content-Type", "Date", "Etag",
		"Expires", "Keep-Alive", "Last-Modified", "Link", "Location", "Pragma", "Proxy-Authenticate", "Proxy-Status", "Refresh", "Retry-After", "Set-Cookie", "Sundry-Cache-Control", "Surrogate-Control", "Surrogate-Key", "Te", "Trailer", "Transfer-Encoding",
		"Upgrade", "Vary", "Via", "X-Unknown",
	} {
		all = append(all, costly{name, ""})
	}
	return append(all, costly{"Cache-Control", `private="`}, costly{"Cache-Control", "max-age="}, costly{"Cdn-Cache-Control", "max-age=1,"}, costly{"Cdn-Cache-Control", "a=("}, costly{"Cdn-Cache-Control", "max-age=1;"}, costly{"Content-Range", "bytes 0-"},
		costly{"Etag", `"`}, costly{"Expires", "Mon, "}, costly{"Location", "/"}, costly{"Location", "http://x/"}, costly{"Content-Location", "/"}, costly{"Content-Location", "?"}, costly{"Vary", "Accept-Encoding,"}, costly{"Last-Modified", "Mon, "})
}

// exchange is a request to which the origin responds with a field.
type exchange struct {
	method, status string
	fields         []string
	conditional    bool // a response without the field is stored, and this one is about it
	again          bool // what costs is another request for what is stored
	trailer        bool // the field stands behind the body
}

// TestNoResponseIsExpensive: whatever an origin sends in the fields that are parsed, neither the request for it takes much time nor the
// next one.
func TestNoResponseIsExpensive(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	p, o := serveCosts(t)
	m := newMeter(t, p.public)
	exchanges := []exchange{
		{method: "GET", status: "200 OK"},
		{method: "GET", status: "200 OK", again: true},
		{method: "HEAD", status: "200 OK"},
		{method: "POST", status: "200 OK"},
		{method: "POST", status: "201 Created"},
		{method: "GET", status: "206 Partial Content", fields: []string{"Range: bytes=0-0"}},
		{method: "GET", status: "206 Partial Content", fields: []string{"Range: bytes=0-0"}, again: true},
		{method: "GET", status: "304 Not Modified", conditional: true},
		{method: "GET", status: "304 Not Modified", conditional: true, again: true},
		{method: "GET", status: "301 Moved Permanently"},
		{method: "GET", status: "503 Service Unavailable", conditional: true},
		{method: "GET", status: "200 OK", trailer: true},
	}
	n, urls := 0, 0
	try := func(what, name string, text func(size int) string) {
		texts := map[int]string{largeInput: text(largeInput), smallInput: text(smallInput)}
		for _, e := range exchanges {
			if n++; n%longtest.Every(7) != 0 {
				continue
			}
			m.check(fmt.Sprint(e.method, " ", e.status, " ", e.again, " with ", what), p.public, func(size int) string {
				urls++
				return e.prepare(m, o, p.public, fmt.Sprint("/", urls), name, texts[size])
			})
		}
	}
	for _, f := range originFields() {
		for _, piece := range pieces() {
			try(f.name+": "+f.head+piece+"…", f.name, func(size int) string { return f.name + ": " + input(f.head, piece, size) })
		}
		for _, value := range []string{"", "a", `"`, ","} {
			try("lines "+f.name+": "+value, f.name, func(size int) string { return strings.TrimSuffix(repeated(f.name, value, size), "\r\n") })
		}
	}
	for name, pieces := range map[string][]string{
		"Link": {"</a>,", "<http://127.0.0.1/a>,", "<", `"<`, "<a"}, "Set-Cookie": {";Domain=127.0.0.1", ";Path=/a", ";"}, "Refresh": {"5;url=/", "url="},
	} {
		for _, piece := range pieces {
			try(name+": "+piece+"…", name, func(size int) string { return name + ": " + input("", piece, size) })
		}
	}
	for _, piece := range []string{"A%d:\r\n", "X-%d: a\r\n", "A:\r\n"} {
		try("fields "+piece, "-", func(size int) string {
			text := input("", piece, size)
			return text[:strings.LastIndex(text, "\r\n")]
		})
	}
}

// prepare makes the origin send a field, and returns the request of which the cost counts.
func (e *exchange) prepare(m *meter, o *cannedOrigin, addr, path, name, text string) string {
	plain := []string{"Content-Length: 2", "Cache-Control: max-age=0", `Etag: "a"`, "Content-Range: bytes 0-1/2"}
	if e.status != "206 Partial Content" {
		plain = plain[:3]
	}
	if e.again && !e.conditional {
		plain[1] = "Cache-Control: max-age=3600"
	}
	body := "{}"
	if e.method == "HEAD" || strings.HasPrefix(e.status, "304") {
		body = ""
	}
	sent := response(e.status, append(without(plain, name), text), body)
	if e.trailer {
		sent = response(e.status, []string{"Transfer-Encoding: chunked"}, "2\r\n{}\r\n0\r\n"+text+"\r\n\r\n")
	}
	r := request{addr, e.method + " /api/plain" + path, e.fields, ""}
	request := r.with(0, "", "")
	if e.conditional {
		o.set("plain", response("200 OK", plain, "{}"))
		m.send(addr, request)
	}
	o.set("plain", sent)
	if e.again {
		m.send(addr, request)
	}
	return request
}

// decoders are the formats in which sources of endpoints reply, each as a source has it.
var decoders = map[string]string{
	"json": "decode: json", "jsonp": "decode: jsonp", "text": "decode: text", "feed": "decode: feed", "script": "decode: script, marker: window.S",
	"html": "decode: html, select: {a: {each: 'div > p, li a, b'}}", "xml": "decode: xml, select: {a: {each: 'a > b'}}",
}

// TestNoReplyIsExpensive: whatever a source of an endpoint replies, reading it takes little time.
func TestNoReplyIsExpensive(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	o := newCannedOrigin(t)
	dir := t.TempDir()
	for name, decode := range decoders {
		writeSources(t, dir, "as-"+name, "ttl: 1h", `sources: [{name: up, timeout: 3s, http: {url: "http://`+o.addr+`/`+name+`/", query: {id: "{id}"}, `+decode+`}}]`+"\n")
	}
	o.otherwise = response("200 OK", []string{"Content-Length: 2"}, "{}")
	writeCompared(t, dir)
	p := serve(t, "--catalog", dir)
	mustGet(t, p.public+"/api/as-json?id=1")
	p.mustAsk(http.MethodPost, "upstreams/"+o.addr, `{"do":"closed"}`) // however many replies are malformed
	m := newMeter(t, p.public)
	id := 1
	large, small := costtest.Texts(largeInput), costtest.Texts(smallInput)
	for name := range decoders {
		for i := range large {
			before, requests := o.requests.Load(), id
			m.check(fmt.Sprintf("%s: %.40q…", name, large[i]), p.public, func(size int) string {
				id++
				body := map[int]string{largeInput: large[i], smallInput: small[i]}[size]
				o.set(name, response("200 OK", []string{fmt.Sprint("Content-Length: ", len(body))}, body))
				return request{p.public, fmt.Sprint("GET /api/as-", name, "?id=", id), nil, ""}.with(0, "", "")
			})
			if got, want := o.requests.Load()-before, int64(id-requests); got < want {
				t.Errorf("%s: %.40q…: %d requests to the source, expected %d", name, large[i], got, want)
			}
		}
	}
}
