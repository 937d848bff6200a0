package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"
)

// TestSlowMessagesOfAgents: who sends the messages of agents slowly takes neither the
// memory nor the places of the others, from one address or from many.
func TestSlowMessagesOfAgents(t *testing.T) {
	m := startSibling(t, "mcp: true\ntrusted_proxies: [127.0.0.1/32]\n"+only("qrcode"), "--replay")
	list := func() int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.public+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Forwarded-For", "203.0.113.9")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode
	}
	if status := list(); status != http.StatusOK {
		t.Fatalf("an agent gets %d", status)
	}
	heap := func() float64 { // what is in use
		mustGet(t, m.admin+"/debug/pprof/heap?gc=1")
		bytes, err := strconv.ParseFloat(m.metric("go_memstats_heap_alloc_bytes"), 64)
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	before := heap()
	for _, addresses := range []int{1, 200} {
		for i := range 600 {
			slowMessage(t, m.public, fmt.Sprintf("192.0.2.%d", i%addresses))
		}
		start := time.Now()
		waittest.Until(t, "an agent is answered", func() bool { return list() == http.StatusOK })
		if grown := heap() - before; grown > 48<<20 {
			t.Errorf("%d addresses: %.0f MiB more, an agent is answered after %v", addresses, grown/(1<<20), time.Since(start))
		}
	}
}

// slowMessage sends all of a large message but its end.
func slowMessage(t *testing.T, public, client string) {
	t.Helper()
	const size = 126 << 10
	c, err := net.Dial("tcp", strings.TrimPrefix(public, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetWriteDeadline(time.Now().Add(time.Second)) // it may not be read, and be cut off
	_, _ = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-Forwarded-For: %s\r\nContent-Length: %d\r\n\r\n%s", client, size, strings.Repeat(" ", size-1))
}
