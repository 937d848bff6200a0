package suitetest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// running is a test while it runs.
type running struct {
	*test
	uuid string
	mu   sync.Mutex
	seen []*seen
}

// seen is a request that the origin saw.
type seen struct {
	number   int
	method   string
	header   http.Header
	response []field // what the caller is to get
}

type field struct{ name, value string }

// origin answers as the tests say. It writes its answers by itself: net/http would mend them.
type origin struct {
	listener net.Listener
	mu       sync.Mutex
	tests    map[string]*running
	conns    map[net.Conn]bool
}

// Origin is the URL of what the cache is to be in front of.
func (o *origin) Origin() string { return "http://" + o.listener.Addr().String() }

func startOrigin(t *testing.T) *origin {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed below
	if err != nil {
		t.Fatal(err)
	}
	o := &origin{listener: l, tests: map[string]*running{}, conns: map[net.Conn]bool{}}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			o.mu.Lock()
			o.conns[c] = true
			o.mu.Unlock()
			all.Go(func() { o.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		o.mu.Lock()
		for c := range o.conns {
			_ = c.Close()
		}
		o.mu.Unlock()
		all.Wait()
	})
	return o
}

// begin has the origin know a test.
func (o *origin) begin(t *running) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tests[t.uuid] = t
}

func (o *origin) serve(c net.Conn) {
	defer func() {
		_ = c.Close()
		o.mu.Lock()
		defer o.mu.Unlock()
		delete(o.conns, c)
	}()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if !o.answer(c, r) {
			return
		}
	}
}

// answer answers one request; false ends the connection.
func (o *origin) answer(c net.Conn, r *http.Request) bool {
	uuid, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/test/"), "/")
	o.mu.Lock()
	t := o.tests[uuid]
	o.mu.Unlock()
	number, _ := strconv.Atoi(r.Header.Get("Req-Num"))
	if t == nil || number < 1 || number > len(t.Requests) {
		_, err := io.WriteString(c, "HTTP/1.1 409 Conflict\r\nContent-Length: 0\r\n\r\n")
		return err == nil
	}
	says := t.Requests[number-1]
	if says.ResponsePause > 0 {
		time.Sleep(time.Duration(says.ResponsePause * float64(time.Second)))
	}
	head, has := t.see(r, number, says)
	if says.Disconnect {
		return false
	}
	body := t.uuid
	if says.ResponseBody != nil && *says.ResponseBody != "" {
		body = *says.ResponseBody
	}
	_, err := c.Write(head.write(says.Interim, r.Method, body, has))
	return err == nil && !has["transfer-encoding"] && !has["content-length"]
}

// responseHead is that of an answer of the origin.
type responseHead struct {
	status int
	reason string
	fields []field
	now    time.Time
}

// see keeps a request, and is the head that it is answered with; has: the names that the test gives.
func (t *running) see(r *http.Request, number int, says *request) (h responseHead, has map[string]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h.now = time.Now()
	h.status, h.reason = t.status(r, number, says)
	h.fields = []field{{"Server-Base-Url", r.URL.RequestURI()}, {"Server-Request-Count", strconv.Itoa(len(t.seen) + 1)},
		{"Client-Request-Count", strconv.Itoa(number)}, {"Server-Now", strconv.FormatInt(h.now.UnixMilli(), 10)}}
	s := &seen{number: number, method: r.Method, header: r.Header}
	has = map[string]bool{}
	for _, f := range says.ResponseHeaders {
		name, value := f[0].(string), says.fixup(f, h.now, r.URL.RequestURI())
		f[1] = value // what a later request is compared with
		h.fields = append(h.fields, field{name, value})
		has[strings.ToLower(name)] = true
		if len(f) < 3 || f[2] == true {
			s.response = append(s.response, field{name, value})
		}
	}
	t.seen = append(t.seen, s)
	var numbers []string
	for _, s := range t.seen {
		numbers = append(numbers, strconv.Itoa(s.number))
	}
	h.fields = append(h.fields, field{"Request-Numbers", strings.Join(numbers, " ")})
	return h, has
}

// status is what a request is answered with: a validation that is as expected, with 304. The caller holds mu.
func (t *running) status(r *http.Request, number int, says *request) (int, string) {
	status, reason := 200, "OK"
	if len(says.Status) > 1 {
		status, reason = int(says.Status[0].(float64)), says.Status[1].(string)
	}
	if !strings.HasSuffix(says.ExpectedType, "validated") {
		return status, reason
	}
	before := t.Requests[number-2]
	for name, condition := range map[string]string{"last-modified": "If-Modified-Since", "etag": "If-None-Match"} {
		for _, f := range before.ResponseHeaders {
			if strings.EqualFold(f[0].(string), name) && f[1] == r.Header.Get(condition) {
				return 304, "Not Modified"
			}
		}
	}
	return notConditional, "304 Not Generated"
}

// notConditional is the status for a request that was to validate and does not.
const notConditional = 999

// fixup is the value of a field: dates are given as seconds from now, locations without the place of the test.
func (r *request) fixup(f []any, now time.Time, base string) string {
	name := strings.ToLower(f[0].(string))
	switch v := f[1].(type) {
	case float64:
		switch name {
		case "date", "expires", "last-modified", "if-modified-since", "if-unmodified-since":
			at := now.Add(time.Duration(v) * time.Second).UTC()
			if slices.Contains(r.RFC850, name) {
				return at.Format("Monday, 02-Jan-06 15:04:05 GMT")
			}
			return at.Format(http.TimeFormat)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		if r.MagicLocations && (name == "location" || name == "content-location") {
			if v == "" {
				return base
			}
			return base + "/" + v
		}
		return v
	}
	return ""
}

// write is the answer as it is sent.
func (h *responseHead) write(interim []json.RawMessage, method, body string, has map[string]bool) []byte {
	var out bytes.Buffer
	for _, raw := range interim {
		var one []any
		_ = json.Unmarshal(raw, &one)
		fmt.Fprintf(&out, "HTTP/1.1 %v Interim\r\n", one[0])
		if len(one) > 1 {
			for _, f := range one[1].([]any) {
				fmt.Fprintf(&out, "%v: %v\r\n", f.([]any)[0], f.([]any)[1])
			}
		}
		out.WriteString("\r\n")
	}
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", h.status, h.reason)
	for _, f := range h.fields {
		fmt.Fprintf(&out, "%s: %s\r\n", f.name, f.value)
	}
	if !has["content-type"] {
		out.WriteString("Content-Type: text/plain\r\n")
	}
	if !has["date"] {
		fmt.Fprintf(&out, "Date: %s\r\n", h.now.UTC().Format(http.TimeFormat))
	}
	noBody := h.status == http.StatusNoContent || h.status == http.StatusNotModified
	if !has["content-length"] && !has["transfer-encoding"] && !noBody {
		fmt.Fprintf(&out, "Content-Length: %d\r\n", len(body))
	}
	out.WriteString("\r\n")
	if !noBody && method != http.MethodHead {
		out.WriteString(body)
	}
	return out.Bytes()
}
