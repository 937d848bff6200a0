package proxy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/cache"
	"sundry/cache/entry"
	"sundry/cache/policy"
	"sundry/proxy/ratelimit"
	"sundry/upstreams/catalog"
)

// composed is what a reply is made of, for a row of a test.
type composed struct {
	name   string
	in     catalog.Input
	found  cache.Answer
	method string
	ifNone []string
	id     requestID
	low    bool // little of the client's burst remains
}

// everyReply has each form in each coding and each state, with everything that
// changes the header of an answer.
func everyReply() []composed {
	var all []composed
	add := func(name string, change func(*composed)) {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			c := composed{name: method + " " + name, in: inputOf("json"), found: foundWith("application/json; charset=utf-8", `"tag"`), method: method}
			change(&c)
			all = append(all, c)
		}
	}
	add("plain", func(*composed) {})
	for _, coding := range []entry.Coding{entry.Identity, entry.Gzip, entry.Zstd} {
		add("coding "+coding.String(), func(c *composed) { c.found.Rep.Coding, c.found.Rep.Varies = coding, true })
	}
	for _, kind := range []string{"json", "text", "markdown", "script", "redirect", "interstitial", "picture"} {
		add(kind, func(c *composed) { c.in = inputOf(kind) })
		add(kind+" of a pool", func(c *composed) { c.in = inputOf(kind); c.in.Form.Pool = true })
		add(kind+" with callback, tail and selector", func(c *composed) {
			c.in = inputOf(kind)
			c.in.Callback, c.in.Tail, c.in.Selector = "a.b", "the end", "#a > b"
		})
		for _, size := range []int{0, 1, 2047, 2048, 4096, 70_000} {
			add(kind+" of "+strconv.Itoa(size), func(c *composed) {
				c.in, c.found.Rep.Data = inputOf(kind), bytes.Repeat([]byte("x"), size)
				c.in.Callback, c.in.Tail = "cb", "tail"
			})
		}
	}
	for state := policy.Absent; state <= policy.Stale; state++ {
		for _, tier := range []cache.Tier{cache.Upstream, cache.Near, cache.Far} {
			add(fmt.Sprint("state ", state, tier), func(c *composed) { c.found.State, c.found.Tier = state, tier })
		}
	}
	add("fallback", func(c *composed) { c.found.State, c.found.Failed = policy.Stale, io.EOF })
	add("private", func(c *composed) { c.in.Private = true })
	add("svg", func(c *composed) { c.found.Rep.Type = contentSVG })
	add("last resort", func(c *composed) { c.found.Meta.LastResort = true })
	add("no source, no tag", func(c *composed) { c.found.Meta.Source, c.found.Rep.ETag = "", "" })
	add("not modified", func(c *composed) { c.ifNone = []string{`"tag"`} })
	add("not modified, in gzip", func(c *composed) { c.ifNone, c.found.Rep.Coding, c.found.Rep.Varies = []string{"*"}, entry.Gzip, true })
	add("modified", func(c *composed) { c.ifNone = []string{`"other"`} })
	add("redirect", func(c *composed) {
		c.in, c.found.Rep.Status, c.found.Rep.Location = inputOf("redirect"), http.StatusFound, "https://example.org/?a=b"
	})
	add("values that would break out", func(c *composed) {
		c.found.Rep.Location, c.found.Meta.Source = "\r\n https://example.org/\r\nSet-Cookie: a=b\n", " a\tsource \t"
	})
	add("id", func(c *composed) { c.id.given = "an-id" })
	add("low", func(c *composed) { c.low = true })
	add("everything at its longest", func(c *composed) {
		c.low, c.found.Left, c.found.Age = true, math.MaxInt64, math.MaxInt64
		c.found.Tier, c.found.Stored, c.found.Coalesced, c.found.Meta.LastResort = cache.Upstream, true, true, true
	})
	return all
}

func inputOf(kind string) catalog.Input {
	e := &catalog.Endpoint{Forms: []*catalog.Form{{Name: kind, Kind: kind}}, Policy: policy.Policy{Grace: 20 * time.Second, StaleIfError: time.Minute}}
	in, _ := e.Parse("", catalog.Caller{})
	return in
}

func foundWith(contentType, tag string) cache.Answer {
	return cache.Answer{
		State: policy.Fresh, Tier: cache.Near, Left: 50 * time.Second, Age: 10 * time.Second, Meta: entry.Meta{Source: "made"},
		Rep: entry.Rep{Status: http.StatusOK, Type: contentType, ETag: tag, Data: []byte(`{"data":"x"}`)},
	}
}

// raw is the reply as a writer of bytes writes it, with a Date after the fields.
func (c *composed) raw(limiter rateLimiter) string {
	var rp reply
	rp.compose(&c.in, &c.found, c.id, c.ifNone)
	limiter.describe(&rp.head, &ratelimit.Allowance{OK: true, Low: c.low, Remaining: 3, Next: time.Second})
	head, body := rp.appendTo(nil, "Date\r\n", c.method == http.MethodHead)
	return string(head) + string(body)
}

// TestRawBytesAreWhatNetHTTPSends: the two writers of a reply write the same bytes,
// but for the Date.
func TestRawBytesAreWhatNetHTTPSends(t *testing.T) {
	limiter := newRateLimiter(Limits{Rate: 1, Burst: 20})
	s := &Server{preset: newPresetHeaders()}
	rows := everyReply()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		row := &rows[i]
		req := &request{w: w, r: r, id: row.id, in: &row.in, answer: row.found, allowed: ratelimit.Allowance{OK: true, Low: row.low, Remaining: 3, Next: time.Second},
			route: &route{settings: &activeSettings{limiter: limiter}}}
		if err := s.respond(req); err != nil {
			t.Fatal(err)
		}
	}))
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	for i := range rows {
		fmt.Fprintf(conn, "%s /%d HTTP/1.1\r\nHost: test\r\n", rows[i].method, i)
		for _, tag := range rows[i].ifNone {
			fmt.Fprintf(conn, "If-None-Match: %s\r\n", tag)
		}
		fmt.Fprint(conn, "\r\n")
		if got, want := readRaw(t, in, rows[i].method), rows[i].raw(limiter); got != want {
			t.Errorf("%s: net/http sends\n%.2000q, raw\n%.2000q", rows[i].name, got, want)
		}
	}
}

// readRaw reads one response, without the value of its Date.
func readRaw(t *testing.T, in *bufio.Reader, method string) string {
	t.Helper()
	var all strings.Builder
	length := 0
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, _ = strconv.Atoi(strings.TrimSpace(value))
		}
		if strings.HasPrefix(line, "Date: ") {
			line = "Date\r\n"
		}
		if all.WriteString(line); line == "\r\n" {
			break
		}
	}
	if method == http.MethodHead {
		length = 0
	}
	if _, err := io.CopyN(&all, in, int64(length)); err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestFieldsAreInTheOrderOfTheirNames, which are canonical: net/http would write any
// other in another place.
func TestFieldsAreInTheOrderOfTheirNames(t *testing.T) {
	var names []string
	for f := range fields {
		if name := f.name(); name != http.CanonicalHeaderKey(name) {
			t.Errorf("%s is not canonical", name)
		}
		names = append(names, f.name())
	}
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %s", names)
	}
}

// TestAReplyIsWrittenWithoutAllocation into a buffer that is large enough.
func TestAReplyIsWrittenWithoutAllocation(t *testing.T) {
	c := composed{in: inputOf("json"), found: foundWith("application/json", `"tag"`)}
	c.in.Callback = "cb"
	b := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() {
		var rp reply
		rp.compose(&c.in, &c.found, c.id, nil)
		b, _ = rp.appendTo(b[:0], "Date\r\n", false)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	header := make(http.Header, 32)
	if n := testing.AllocsPerRun(100, func() {
		var rp reply
		rp.compose(&c.in, &c.found, c.id, nil)
		rp.head.setOn(header)
	}); n > 2 {
		t.Errorf("%v allocations for net/http", n)
	}
}

// TestAValueThatDoesNotFitIsKept: the text's size is no limit.
func TestAValueThatDoesNotFitIsKept(t *testing.T) {
	var h head
	long := strings.Repeat("a", len(h.text)-3)
	h.end(fieldAge, append(h.begin(), long...))
	h.end(fieldVary, append(h.begin(), "four"...))
	h.end(fieldETag, append(h.begin(), "abc"...))
	header := http.Header{}
	h.setOn(header)
	if header.Get("Age") != long || header.Get("Vary") != "four" || header.Get("Etag") != "abc" {
		t.Errorf("%v", header)
	}
	if got := string(h.appendTo(nil)); got != "Age: "+long+"\r\nEtag: abc\r\nVary: four\r\n" {
		t.Errorf("%q", got)
	}
}

// FuzzFieldValue: no value ends its line, and each is what net/http would write.
func FuzzFieldValue(f *testing.F) {
	for _, v := range []string{"", "a", " a ", "a\r\nSet-Cookie: b=c", "\r\n\t a\nb\rc \r\n", "\x00\x7f\xff", "\u00a0a\u2028"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, value string) {
		var want bytes.Buffer
		_ = http.Header{"Location": {value}}.Write(&want)
		var h head
		h.put(fieldLocation, value)
		if got := string(h.appendTo(nil)); got != want.String() {
			t.Errorf("%q, want %q", got, want.String())
		}
	})
}
