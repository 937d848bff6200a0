package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
)

// halfCloses is how one asks who ends its side at once, and may be taken for one
// who left.
const halfCloses = "half-closes"

// software is what all callers say they are: the key of some answers holds it.
const software = "Go-http-client/1.1"

// client makes calls in all the ways that clients have.
type client struct {
	*chaos
	rnd  *rand.Rand
	http *http.Client
	tags map[string]string // last ETag by URL
}

// drive makes calls until the context ends.
func (c *client) drive(ctx context.Context) {
	for ctx.Err() == nil {
		c.once(ctx, c.pick(c.rnd))
		time.Sleep(time.Duration(c.rnd.IntN(int(c.rest))))
	}
}

func (c *client) errand() *errand {
	if c.rnd.IntN(4) == 0 {
		return c.errands[c.rnd.IntN(12)*len(c.errands)/12] // some are asked for by everybody
	}
	return c.errands[c.rnd.IntN(len(c.errands))]
}

func (c *client) once(ctx context.Context, i *member) {
	switch n := c.rnd.IntN(100); {
	case n < 70:
		c.get(ctx, i, http.MethodGet)
	case n < 74:
		c.get(ctx, i, http.MethodHead)
	case n < 80:
		c.conditional(ctx, i)
	case n < 85:
		c.disconnect(i)
	case n < 89:
		c.raw(i, halfCloses, 1, func(conn *net.TCPConn) { _ = conn.CloseWrite() }, 0)
	case n < 91:
		c.raw(i, "reads slowly", 1, func(conn *net.TCPConn) { _ = conn.SetReadBuffer(4 << 10) }, 3*time.Millisecond)
	case n < 95:
		c.raw(i, "pipelines", 2+c.rnd.IntN(4), nil, 0)
	default:
		c.garbage(i)
	}
}

func (c *client) get(ctx context.Context, i *member, method string) {
	e := c.errand()
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), method, "http://"+i.addr+e.path(), http.NoBody)
	if err != nil {
		c.t.Error(err)
		return
	}
	c.do(req, e, i)
}

// do makes a call whose answer is awaited.
func (c *client) do(req *http.Request, e *errand, i *member) *observation {
	s := &observation{of: e, by: req.Method, instance: i.name, from: time.Now()}
	resp, err := c.http.Do(req)
	if err == nil {
		defer resp.Body.Close()
		s.status, s.header = resp.StatusCode, resp.Header
		s.body, err = io.ReadAll(resp.Body)
	}
	s.to = time.Now()
	switch {
	case err != nil:
		c.oracle.fault(s, err)
		return nil
	case req.Method == http.MethodHead:
		c.head(s)
	case s.status != http.StatusNotModified:
		c.oracle.judge(s)
	}
	return s
}

// head has no body to look at, and a script's status is in the body.
func (c *client) head(s *observation) {
	if len(s.body) > 0 {
		c.oracle.fault(s, errors.New("a HEAD with a body"))
	}
	if s.status == s.of.rule.status {
		c.oracle.count("as wanted")
		return
	}
	c.oracle.count(fmt.Sprint("HEAD ", s.status))
	if err := c.oracle.excused(s, s.status); err != nil {
		c.oracle.fault(s, err)
	}
}

// conditional asks for what it has.
func (c *client) conditional(ctx context.Context, i *member) {
	e := c.errand()
	for range 2 {
		if i != c.one && i != c.two.Load() {
			return // it was told to end while it answered
		}
		req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, "http://"+i.addr+e.path(), http.NoBody)
		if err != nil {
			c.t.Error(err)
			return
		}
		tag := c.tags[e.path()]
		if tag != "" {
			req.Header.Set("If-None-Match", tag)
		}
		s := c.do(req, e, i)
		if s == nil {
			return
		}
		if s.status == http.StatusNotModified {
			c.oracle.count("not modified")
			if tag == "" || s.header.Get("Etag") != tag {
				c.oracle.fault(s, fmt.Errorf("not modified since %q", tag))
			}
			continue
		}
		c.tags[e.path()] = s.header.Get("Etag")
	}
}

func (c *client) dial(i *member) *net.TCPConn {
	conn, err := net.Dial("tcp", i.addr)
	if err != nil {
		c.t.Errorf("seed %d: connect to %s: %v", c.seed, i.name, err)
		return nil
	}
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	return conn.(*net.TCPConn)
}

func ask(e *errand) string {
	return "GET " + parsed(e.path()).RequestURI() + " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: " + software + "\r\n"
}

// disconnect closes the connection in the middle of an answer.
func (c *client) disconnect(i *member) {
	conn := c.dial(i)
	if conn == nil {
		return
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, ask(c.errand())+"\r\n")
	if c.rnd.IntN(2) == 0 {
		_, _ = io.CopyN(io.Discard, conn, c.rnd.Int64N(300))
	}
	time.Sleep(time.Duration(c.rnd.IntN(int(20 * time.Millisecond))))
	if c.rnd.IntN(2) == 0 {
		_ = conn.SetLinger(0) // with a reset
	}
	c.oracle.count("left")
}

// raw makes calls on a connection of their own, all of them at once.
func (c *client) raw(i *member, by string, n int, then func(*net.TCPConn), slow time.Duration) {
	conn := c.dial(i)
	if conn == nil {
		return
	}
	defer conn.Close()
	var text strings.Builder
	var all []*errand
	for k := range n {
		e := c.errand()
		all = append(all, e)
		text.WriteString(ask(e))
		if k == n-1 {
			text.WriteString("Connection: close\r\n")
		}
		text.WriteString("\r\n")
	}
	from := time.Now()
	_, err := io.WriteString(conn, text.String())
	if then != nil {
		then(conn)
	}
	in := bufio.NewReader(&slowly{conn, slow})
	for _, e := range all {
		s := &observation{of: e, by: by, instance: i.name, from: from}
		var resp *http.Response
		if err == nil {
			resp, err = http.ReadResponse(in, nil)
		}
		if err == nil {
			s.status, s.header = resp.StatusCode, resp.Header
			s.body, err = io.ReadAll(resp.Body)
		}
		s.to = time.Now()
		if by == halfCloses && err != nil && s.to.Sub(s.from) > halfClosed {
			c.oracle.count("not waited for")
			return
		}
		if err != nil {
			c.oracle.fault(s, err)
			return
		}
		c.oracle.judge(s)
		if resp.Close {
			return // a draining instance ends pipelines
		}
	}
}

type slowly struct {
	io.Reader
	rest time.Duration
}

func (s *slowly) Read(p []byte) (int, error) {
	if s.rest > 0 {
		time.Sleep(s.rest)
		p = p[:min(len(p), 8<<10)]
	}
	return s.Reader.Read(p)
}

// garbage is what no client should send.
func (c *client) garbage(i *member) {
	conn := c.dial(i)
	if conn == nil {
		return
	}
	defer conn.Close()
	noise := make([]byte, 1+c.rnd.IntN(200))
	for k := range noise {
		noise[k] = byte(c.rnd.IntN(256))
	}
	text := []string{
		string(noise) + "\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /api/ip HTTP/1.1\r\n\r\n", "POST /api/ip HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
		"GET /api/ip HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"GET /api/nothing?" + strings.Repeat("&", 2000) + " HTTP/1.1\r\nHost: x\r\n\r\n", "GET /api/ip?ip=%zz HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /api/ip HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("y", 70<<10) + "\r\n\r\n", "GET /api/ip HTTP/1.1\r\nHo",
		"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
	}[c.rnd.IntN(10)]
	_, _ = io.WriteString(conn, text)
	_ = conn.CloseWrite()
	_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		if resp.StatusCode >= 500 && resp.StatusCode != http.StatusHTTPVersionNotSupported && resp.StatusCode != http.StatusServiceUnavailable {
			c.t.Errorf("seed %d: %.60q is answered with %d", c.seed, text, resp.StatusCode)
		}
	}
	c.oracle.count("garbage")
}
