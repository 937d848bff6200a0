//go:build linux

package express

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"
)

// shopFields are the fields that the shop reads.
var shopFields = []string{"Accept", "Accept-Encoding", "If-None-Match", "X-Forwarded-For"}

func newHead(t testing.TB) *head {
	t.Helper()
	fields, err := newFieldTable(shopFields)
	if err != nil {
		t.Fatal(err)
	}
	return &newExchange(fields).head
}

func TestVerdicts(t *testing.T) {
	const host = "Host: a.example\r\n"
	for _, c := range []struct {
		text string
		want verdict
	}{
		{"", incomplete},
		{"G", incomplete},
		{"GET /", incomplete},
		{"GET / HTTP/1.1\r", incomplete},
		{"GET / HTTP/1.1\r\nHost: a\r\n", incomplete},
		{"GET / HTTP/1.1\r\nHost: a\r\n\r", incomplete},
		{"GET / HTTP/1.1\r\n" + host + "\r\n", plain},
		{"GET / HTTP/1.1\r\n" + host + "\r\nwhatever follows", plain},
		{"HEAD /a?b=%20 HTTP/1.1\r\nhOsT:a.example:80  \r\n\r\n", plain},
		{"GET /中文?b=中文 HTTP/1.1\r\n" + host + "\r\n", plain},
		{"GET / HTTP/1.1\r\n" + host + "Connection: Keep-Alive\r\nAccept:\r\nX: \"\xff\"\r\n\r\n", plain},
		{"OPTIONS / HTTP/1.1\r\n" + host + "\r\n", framed},
		{"GET /%41 HTTP/1.1\r\n" + host + "\r\n", framed},
		{"GET /a//b HTTP/1.1\r\n" + host + "\r\n", framed},
		{"GET / HTTP/1.1\r\n" + host + "Range: bytes=0-1\r\n\r\n", framed},
		{"GET / HTTP/1.1\r\n" + host + "Connection: close\r\n\r\n", framed},
		{"GET / HTTP/1.1\r\n" + host + "Accept: a\r\nACCEPT: b\r\n\r\n", framed},
		{"\r\nGET / HTTP/1.1\r\n", odd},
		{"get / HTTP/1.1\r\n", odd},
		{"GETS / HTTP/1.1\r\n", odd},
		{"POST / HTTP/1.1\r\n", odd},
		{"GET  / HTTP/1.1\r\n", odd},
		{"GET * HTTP/1.1\r\n", odd},
		{"GET http://a.example/ HTTP/1.1\r\n", odd},
		{"GET /#a HTTP/1.1\r\n", odd},
		{"GET /a\tb HTTP/1.1\r\n", odd},
		{"GET / HTTP/1.0\r\n", odd},
		{"GET / HTTP/2.0\r\n", odd},
		{"GET /\r\n", odd},
		{"GET / HTTP/1.1\n", odd},
		{"GET / HTTP/1.1 \r\n", odd},
		{"GET / HTTP/1.1\r\n\r\n", odd},
		{"GET / HTTP/1.1\r\nHost:\r\n\r\n", odd},
		{"GET / HTTP/1.1\r\nHost: a b\r\n", odd},
		{"GET / HTTP/1.1\r\nHost: a/b\r\n", odd},
		{"GET / HTTP/1.1\r\nHost: a@b\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + host, odd},
		{"GET / HTTP/1.1\r\n" + host + "Content-Length: 0\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "transfer-encoding: chunked\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "Transfer-Encoding : chunked\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "TE: trailers\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "Trailer: a\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "Expect: 100-continue\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "Upgrade: h2c\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "Connection: upgrade\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "Connection: close, keep-alive\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "Proxy-Connection: keep-alive\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + " folded: a\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "A: b\r\n\tc\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "A: b\tc\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "A: b\x00\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "A: b\x0bc\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "A: b\x7f\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "A: b\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "A: b\rc\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "A\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + ": b\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "A\xff: b\r\n", odd},
		{"GET / HTTP/1.1\r\n" + host + "\rA", odd},
	} {
		if got := newHead(t).parse([]byte(c.text)); got != c.want {
			t.Errorf("%q: verdict %d, want %d", c.text, got, c.want)
		}
	}
}

// TestIncompleteHeadsStayOpen: a verdict of the beginning of a head is final or that
// it is incomplete.
func TestIncompleteHeadsStayOpen(t *testing.T) {
	const text = "GET /a?b HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\nX-Other: 1\r\nConnection: keep-alive\r\n\r\n"
	h := newHead(t)
	for i := range text {
		if v := h.parse([]byte(text[:i])); v != incomplete {
			t.Errorf("%q: verdict %d", text[:i], v)
		}
	}
	if v := h.parse([]byte(text)); v != plain || h.size != len(text) {
		t.Errorf("verdict %d of %d bytes", v, h.size)
	}
}

func TestConfiguredFields(t *testing.T) {
	for _, fields := range [][]string{{"Host"}, {"Range"}, {"Content-Length"}, {"Accept", "accept"}, {""}, {"A_B"}, slices.Repeat([]string{"A"}, 65)} {
		if _, err := New(Config{Fields: fields}); err == nil {
			t.Errorf("%q can be configured", fields)
		}
	}
}

// seeds are heads from which fuzzing starts.
func seeds() []string {
	out := []string{hit, get("/a%20b"), get("/a?b=c&d=%zz"), get("//a"), get("/:a"), get("/a;b?c;d"), get("/\xff"), get("/?"), get("/??#")}
	for _, field := range fieldCorpus() {
		out = append(out, "GET /hit HTTP/1.1\r\nHost: a.example\r\n"+field+"\r\n", "HEAD /hit?a HTTP/1.1\r\n"+field+"\r\nHost: a.example:80\r\n\r\n")
	}
	return append(out, smuggling()...)
}

// FuzzHead: what the lane takes for a head of a request without a body is that for
// net/http as well, and both read the same from it.
func FuzzHead(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	h := newHead(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		v := h.parse(b)
		if v != plain && v != framed {
			return
		}
		source := bytes.NewReader(b)
		buffered := bufio.NewReaderSize(source, len(b)+16)
		r, err := http.ReadRequest(buffered)
		if err != nil && v == framed {
			return // net/http says so and closes the connection: nothing follows
		}
		if err != nil {
			t.Fatalf("net/http refuses %q: %v", b, err)
		}
		if consumed := len(b) - source.Len() - buffered.Buffered(); consumed != h.size {
			t.Fatalf("net/http reads %d of %q, the lane %d", consumed, b, h.size)
		}
		if body, err := io.ReadAll(r.Body); len(body) > 0 || err != nil || r.ContentLength != 0 || len(r.TransferEncoding) > 0 || len(r.Trailer) > 0 {
			t.Fatalf("%q has a body", b)
		}
		if v == plain {
			compareRequests(t, b, &h.request, r)
		}
	})
}

func compareRequests(t *testing.T, b []byte, q *Request, r *http.Request) {
	t.Helper()
	if method := map[bool]string{false: http.MethodGet, true: http.MethodHead}[q.Head]; r.Method != method {
		t.Errorf("%q: method %q", b, r.Method)
	}
	if q.Target != r.RequestURI || q.Path != r.URL.Path || q.Query != r.URL.RawQuery || q.Host != r.Host || r.Close || r.URL.Host != "" {
		t.Errorf("%q: the lane reads %q %q %q %q, net/http %q %q %q %q", b, q.Target, q.Path, q.Query, q.Host, r.RequestURI, r.URL.Path, r.URL.RawQuery, r.Host)
	}
	for i, name := range shopFields {
		values := r.Header[textproto.CanonicalMIMEHeaderKey(name)]
		if len(values) > 1 || q.Has(i) != (len(values) == 1) || q.Field(i) != strings.Join(values, "") {
			t.Errorf("%q: %s is %q for the lane, %q for net/http", b, name, q.Field(i), values)
		}
	}
}
