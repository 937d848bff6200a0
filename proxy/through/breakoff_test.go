package through

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"sundry/cache/web"
	"sundry/upstreams/lib/longtest"
)

// resettable is a connection whose other end may end it with a reset.
type resettable struct {
	net.Conn
	reset *atomic.Bool
}

// Read implements net.Conn.
func (c resettable) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if errors.Is(err, io.EOF) && c.reset.Load() {
		return n, &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	}
	return n, err
}

// dialFragile connects to an origin whose answers break off where the field X-Break of a request says: after so many bytes,
// with a reset where an r follows.
func dialFragile(context.Context, string, string) (net.Conn, error) {
	near, distant := net.Pipe()
	reset := &atomic.Bool{}
	go serveFragile(distant, reset)
	return resettable{near, reset}, nil
}

// serveFragile answers the requests on a connection until one is to break off.
func serveFragile(c net.Conn, reset *atomic.Bool) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		answer := fragileAnswer(r)
		text := r.Header.Get("X-Break")
		at, err := strconv.Atoi(strings.TrimSuffix(text, "r"))
		breaks := err == nil && at < len(answer)
		if breaks {
			answer = answer[:at]
			reset.Store(strings.HasSuffix(text, "r"))
		}
		if _, err := c.Write(answer); err != nil || breaks {
			return
		}
	}
}

// fragileBody is the body of a path such as /7/1000c: of 1000 bytes, sent in chunks.
func fragileBody(path string) (body []byte, chunked bool) {
	text, chunked := strings.CutSuffix(path[strings.LastIndexByte(path, '/')+1:], "c")
	n, _ := strconv.Atoi(text)
	return bytes.Repeat([]byte(path+" "), n/len(path)+1)[:n], chunked
}

// fragileAnswer is the whole answer to a request.
func fragileAnswer(r *http.Request) []byte {
	body, chunked := fragileBody(r.URL.Path)
	status, says := "200 OK", ""
	if wanted, ranged := web.WantedRange(r.Header); ranged {
		if span, ok := wanted.Of(int64(len(body))); ok {
			status, says = "206 Partial Content", "Content-Range: "+span.ContentRange(int64(len(body)))+"\r\n"
			body = body[span.First : span.Last+1]
		}
	}
	var b bytes.Buffer
	if r.Header.Get("If-None-Match") != "" {
		fmt.Fprint(&b, "HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\nEtag: \"a\"\r\n\r\n")
		return b.Bytes()
	}
	fmt.Fprintf(&b, "HTTP/1.1 %s\r\nCache-Control: max-age=60\r\nEtag: \"a\"\r\n%s", status, says)
	if !chunked {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	} else {
		fmt.Fprint(&b, "Transfer-Encoding: chunked\r\n\r\n")
	}
	switch {
	case r.Method == http.MethodHead:
	case chunked:
		for len(body) > 0 {
			n := min(len(body), 1000)
			fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
			body = body[n:]
		}
		fmt.Fprint(&b, "0\r\n\r\n")
	default:
		b.Write(body)
	}
	return b.Bytes()
}

// wholeOf checks an answer that did not break off: it is what the origin has, or says that the origin failed.
func wholeOf(path, method string, a asked) error {
	body, _ := fragileBody(path)
	var first, last, total int
	switch {
	case a.status == 502:
		return nil
	case method == http.MethodHead && a.status == 200 && a.body == "":
		return nil
	case a.status == 200 && a.body == string(body):
		return nil
	case a.status == 416 && a.header.Get("Content-Range") == fmt.Sprintf("bytes */%d", len(body)):
		return nil
	case a.status == 206:
		_, err := fmt.Sscanf(a.header.Get("Content-Range"), "bytes %d-%d/%d", &first, &last, &total)
		if err == nil && total == len(body) && first <= last && last < total && a.body == string(body[first:last+1]) {
			return nil
		}
	}
	return fmt.Errorf("%s %s: %d %v with %d of %d bytes counts as whole", method, path, a.status, a.header, len(a.body), len(body))
}

// TestOriginsThatBreakOff anywhere, in the head or the body: nothing truncated is kept, or sent as whole. With
// SUNDRY_TEST_LONG there are many more of them.
func TestOriginsThatBreakOff(t *testing.T) {
	t.Parallel()
	requests, workers := 3000, 8
	if longtest.Stories() {
		requests = 120_000 / longtest.Every(5)
	}
	s := serveWorld(t, dialFragile)
	var all sync.WaitGroup
	var broken, whole atomic.Int64
	for worker := range workers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(worker)))
			for range requests / workers / 2 {
				path, own := breakPath(rng, worker)
				method, lines := breakRequest(rng)
				if a := s.ask(method, path, "", lines...); a.err != nil || a.status == 502 {
					broken.Add(1)
				} else if err := wholeOf(path, method, a); err != nil {
					t.Error(lines, err)
				} else {
					whole.Add(1)
				}
				a := s.get(path)
				if err := wholeOf(path, http.MethodGet, a); err != nil && a.err == nil {
					t.Error("after", method, lines, err)
				}
				if own && (a.err != nil || a.status != 200) {
					t.Errorf("%s after %s %v: %d %v", path, method, lines, a.status, a.err)
				}
				if rng.IntN(2) == 0 {
					s.store.Purge(web.Purge{At: s.h.now(), Key: s.h.Name + path})
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d broke off, %d were whole", broken.Load(), whole.Load())
	if broken.Load() < int64(requests/20) || whole.Load() < int64(requests/20) {
		t.Error("that tells nothing")
	}
}

// breakPath is a path, and whether only this worker asks for it.
func breakPath(rng *rand.Rand, worker int) (path string, own bool) {
	sizes := [...]int{0, 1, 10, 999, 1000, 5000, 70_000}
	whose := worker
	if own = rng.IntN(4) > 0; !own {
		whose = -1
	}
	path = fmt.Sprintf("/%d/%d/%d", whose, rng.IntN(4), sizes[rng.IntN(len(sizes))])
	if rng.IntN(2) == 0 {
		path += "c"
	}
	return path, own
}

// breakRequest is a request that asks for an answer which breaks off, at a byte that it may have or not.
func breakRequest(rng *rand.Rand) (method string, lines []string) {
	method = http.MethodGet
	at := rng.IntN(200)
	if rng.IntN(2) == 0 {
		at = rng.IntN(6000)
	}
	lines = []string{fmt.Sprint("X-Break: ", at, [...]string{"", "r"}[rng.IntN(2)])}
	switch first := rng.IntN(1200); rng.IntN(8) {
	case 0:
		method = http.MethodHead
	case 1:
		lines = append(lines, fmt.Sprintf("Range: bytes=%d-", first))
	case 2:
		lines = append(lines, fmt.Sprintf("Range: bytes=0-%d", first))
	case 3:
		lines = append(lines, fmt.Sprintf("Range: bytes=%d-%d", first, first+rng.IntN(1200)))
	case 4:
		lines = append(lines, fmt.Sprintf("Range: bytes=-%d", first))
	case 5:
		lines = append(lines, "Cache-Control: no-cache")
	}
	return method, lines
}
