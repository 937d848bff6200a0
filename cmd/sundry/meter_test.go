package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/costtest"
	"sundry/upstreams/lib/longtest"
)

// Bounds of the processor time of one request with its response, on both sides and at the origin.
const (
	largeInput = 60 << 10 // near the limit of net/http, which is 64 KiB for all fields of a request
	smallInput = largeInput / 4
	maxCost    = 5 * time.Millisecond // where the machine is as fast as it was at its fastest
	maxFactor  = 50                   // of a plain request that goes to an origin
	maxGrowth  = 10                   // of the cost beyond a plain request, for four times the input: what is quadratic grows by 16
	noise      = 200 * time.Microsecond
	costTime   = 5 * time.Second // for all tries, of which the fastest counts: the machine may be busy
)

// pieces are what the input consists of: each is one for which some grammar needs much work. %d is another number each time.
func pieces() []string {
	return []string{
		",", " ", " ,", ";", "=", `"`, `\"`, `"",`, "a,", "a%d,", "%d,", "a;", "a=b;", `a="b",`, "a%d=1,", "a%d=b; ", "(a ", "a%d;q=0.%d,", "en-x%d;q=0.5,", "*;q=0.1,", "*,", "text/html;level=%d;q=0.%d,",
		"gzip;q=0.5,", "identity,", "0-0,", "%d-%d,", "1", "9", `"%d",`, `W/"a",`, "1.1.1.1,", "[::1]:80,", "for=1.1.1.1,", `for="[::1]:80";`, "::1,", "[", ":", "%%41", "%%25", "%%", "\xe9", "sundry-%d,", "-", "/", "/.", "/a/", "../", "a b ",
		"Mon, 01 Jan 2024 00:00:00 GMT,", "max-age=%d,", `no-cache="a%d",`, `private="a%d",`, `no-cache="a,a,a,a,a,a,a,a",`, "no-store,", "X-A%d,", "<", "<a>;rel=b,", "a/b;c=d,", "Bearer ", "QUFB",
	}
}

// input is a text of that many bytes that begins with a head.
func input(head, piece string, size int) string {
	text := head + strings.Repeat(piece, size/len(piece)+1)
	if strings.Contains(piece, "%") {
		b := make([]byte, 0, size+len(piece))
		b = append(b, head...)
		numbers := strings.Count(piece, "%d")
		for n := 0; len(b) < size; n++ {
			b = fmt.Appendf(b, piece, []any{n, n % 1000}[:numbers]...)
		}
		text = string(b)
	}
	return text[:size]
}

// repeated is a field of many lines.
func repeated(name, value string, size int) string {
	line := name + ": " + value + "\r\n"
	return strings.Repeat(line, size/len(line))
}

// meter measures requests.
type meter struct {
	t       *testing.T
	conns   map[string]net.Conn
	buf     []byte
	compare func() // sends a plain request
	plain   time.Duration
}

// newMeter measures on one processor: the time of a thread that runs on another one is not counted at once.
func newMeter(t *testing.T, addr string) *meter {
	if longtest.Race {
		t.Skip("the race detector takes most of the time")
	}
	processors := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(processors) })
	plain := request{addr, "GET /api/compared/hit", []string{`If-Match: "a"`}, ""}.with(0, "", "") // a precondition is for the origin
	m := &meter{t: t, conns: map[string]net.Conn{}, buf: make([]byte, 1<<20)}
	t.Cleanup(func() {
		for _, c := range m.conns {
			_ = c.Close()
		}
	})
	m.compare, m.plain = func() { m.send(addr, plain) }, time.Hour
	for range 20 {
		m.plain = min(m.plain, costtest.Process(m.compare))
	}
	return m
}

// send sends a request, and reads the response. It returns the status.
func (m *meter) send(addr, request string) string {
	for range 2 {
		c := m.conns[addr]
		if c == nil {
			var err error
			if c, err = net.Dial("tcp", strings.TrimPrefix(addr, "http://")); err != nil {
				m.t.Fatal(err)
			}
			m.conns[addr] = c
		}
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		_, err := io.WriteString(c, request)
		status, last := m.read(c, strings.HasPrefix(request, "HEAD "))
		if last {
			_ = c.Close()
			delete(m.conns, addr)
		}
		if status != "" {
			return status
		}
		if err == nil && !last {
			break
		}
	}
	return ""
}

// read reads a response, and reports whether it is the last one.
func (m *meter) read(c net.Conn, head bool) (status string, last bool) {
	n, end := 0, -1
	for end < 0 {
		more, err := c.Read(m.buf[n:])
		if n += more; err != nil {
			return "", true
		}
		end = bytes.Index(m.buf[:n], []byte("\r\n\r\n"))
	}
	fields := m.buf[:end+2]
	status = string(fields[len("HTTP/1.1 "):][:3])
	length, chunked := 0, bytes.Contains(fields, []byte("\r\nTransfer-Encoding: chunked\r\n"))
	if _, after, ok := bytes.Cut(fields, []byte("\r\nContent-Length: ")); ok {
		value, _, _ := bytes.Cut(after, []byte("\r\n"))
		length, _ = strconv.Atoi(string(value))
	}
	last = bytes.Contains(fields, []byte("\r\nConnection: close\r\n")) || status == "101"
	if head || status == "304" || status == "204" {
		return status, last
	}
	complete := func() bool {
		if chunked { // with its trailer
			return bytes.Contains(m.buf[end:n], []byte("\r\n0\r\n")) && bytes.HasSuffix(m.buf[:n], []byte("\r\n\r\n"))
		}
		return n >= end+len("\r\n\r\n")+length
	}
	for !complete() {
		more, err := c.Read(m.buf[n:])
		if n += more; err != nil {
			return status, true
		}
	}
	return status, last
}

// check fails the test if a request with largeInput bytes costs too much, or costs grow faster than the input.
func (m *meter) check(name, addr string, request func(size int) string) {
	m.t.Helper()
	cost := func(size int) time.Duration {
		text := request(size)
		return costtest.Process(func() { m.send(addr, text) })
	}
	plain, large, small := time.Hour, time.Hour, time.Hour
	for start := time.Now(); time.Since(start) < costTime; {
		if large = min(large, cost(largeInput)); large <= m.plain+noise {
			return
		}
		// Both in turn, since the speed of the machine changes.
		plain, small = min(plain, costtest.Process(m.compare)), min(small, cost(smallInput))
		m.plain = min(m.plain, plain)
		if large <= min(maxFactor*plain, maxCost*plain/m.plain) && large-plain <= maxGrowth*max(small-plain, noise) {
			return
		}
	}
	m.t.Errorf("%s: %v for %d KiB, %v for %d KiB, %v for a plain request", name, large, largeInput>>10, small, smallInput>>10, plain)
}

// writeCompared writes the API of the plain requests of a meter.
func writeCompared(t *testing.T, dir string) {
	t.Helper()
	o := newCannedOrigin(t)
	o.otherwise = response("200 OK", []string{"Content-Length: 2"}, "{}")
	write(t, dir, "compared.yaml", "version: 1\nname: compared\nproxy: {to: 'http://"+o.addr+"'}\n")
}

// serveCosts serves APIs and an endpoint whose origin answers in few instructions: with 50 variants of one URL.
func serveCosts(t *testing.T) (*instance, *cannedOrigin) {
	t.Helper()
	o := newCannedOrigin(t)
	dir := t.TempDir()
	write(t, dir, "plain.yaml", "version: 1\nname: plain\nproxy: {to: 'http://"+o.addr+"/plain'}\n")
	write(t, dir, "varied.yaml", "version: 1\nname: varied\nproxy: {to: 'http://"+o.addr+"/varied', cache: {drop: ['utm_*', '*x*y*'], sort: true}}\n")
	writeEndpoint(t, dir, "own", "http://"+o.addr, "ttl: 1h")
	writeCompared(t, dir)
	config := "cache: {warm: false}\nlimits: {rate: 0, queue_delay: 0s}\ntrusted_proxies: [127.0.0.0/8]\nmcp: true\n"
	p := serve(t, "--catalog", dir, "--config", write(t, t.TempDir(), "cost.yaml", config+only()))
	plain := []string{"Content-Length: 2", "Cache-Control: max-age=3600", `Etag: "a"`, "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT"}
	o.otherwise = response("200 OK", plain, "{}")
	o.set("varied", response("200 OK", append(plain, "Vary: Accept, Accept-Encoding, Accept-Language, Cookie, Origin, User-Agent, Range, X-Unknown"), "{}"))
	mustGet(t, p.public+"/api/plain/hit")
	mustGet(t, p.public+"/api/own?id=1")
	for n := range 50 {
		c := keep(t, p.public)
		if status, _, _ := c.send(fmt.Sprintf("GET /api/varied/hit HTTP/1.1\r\nHost: x\r\nAccept: a%d\r\nAccept-Encoding: a%[1]d;q=0.5, b\r\nAccept-Language: en-x%[1]d, de;q=0.5\r\nCookie: a=%[1]d\r\n\r\n", n)); status != 200 {
			t.Fatal(status)
		}
	}
	return p, o
}

func response(status string, fields []string, body string) string {
	return "HTTP/1.1 " + status + "\r\n" + strings.Join(fields, "\r\n") + "\r\n\r\n" + body
}
