package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// cannedOrigin answers requests with bytes that were put together before: it adds little to what a request costs.
type cannedOrigin struct {
	addr      string
	otherwise string
	requests  atomic.Int64
	mu        sync.Mutex
	responses map[string]string // by the first segment of a path
}

func newCannedOrigin(t *testing.T) *cannedOrigin {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &cannedOrigin{addr: l.Addr().String(), responses: map[string]string{}}
	ctx, stop := context.WithCancel(context.Background()) //nolint:usetesting // t's own ends before the instance that asks
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			context.AfterFunc(ctx, func() { _ = c.Close() })
			serving.Go(func() { o.serve(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		stop()
		serving.Wait()
	})
	return o
}

// set answers requests for paths with that first segment.
func (o *cannedOrigin) set(segment, response string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.responses[segment] = response
}

func (o *cannedOrigin) responseTo(head []byte) string {
	_, path, _ := bytes.Cut(head[:min(len(head), 100)], []byte(" /"))
	segment, _, _ := bytes.Cut(path, []byte("/"))
	o.mu.Lock()
	defer o.mu.Unlock()
	if response, ok := o.responses[string(segment)]; ok {
		return response
	}
	return o.otherwise
}

// serve answers the requests of a connection. Bodies of requests are short, and arrive with them.
func (o *cannedOrigin) serve(c net.Conn) {
	defer c.Close()
	buf := make([]byte, 1<<20)
	for n := 0; ; {
		more, err := c.Read(buf[n:])
		if err != nil {
			return
		}
		n += more
		if end := bytes.Index(buf[:n], []byte("\r\n\r\n")); end >= 0 {
			o.requests.Add(1)
			if _, err := io.Copy(c, strings.NewReader(o.responseTo(buf[:end]))); err != nil {
				return
			}
			n = 0
		}
	}
}
