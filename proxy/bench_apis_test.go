package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sundry/cache/web"
	"sundry/upstreams"
)

// BenchmarkAPIHit measures one response of an API that is reused, over a connection: on the express lane and through net/http, with
// and without Vary.
func BenchmarkAPIHit(b *testing.B) {
	for name, vary := range map[string]string{"plain": "", "coding": "Accept-Encoding", "cookie": "Cookie", "three": "Accept, Accept-Encoding, Accept-Language"} {
		for _, way := range []string{"lane", "net-http"} {
			b.Run(name+"/"+way, func(b *testing.B) {
				w := newAPIWays(b, vary)
				to := w.lane
				if way == "net-http" {
					to = w.plain
				}
				conn := dial(b, to)
				const request = "GET /api/api/x HTTP/1.1\r\nHost: a\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.8\r\nAccept-Encoding: gzip, deflate, br\r\nAccept-Language: en-US,en;q=0.9\r\nCookie: session=0123456789abcdef\r\n\r\n"
				conn.ask(b, request)
				answer := []byte(conn.ask(b, request))
				if !strings.Contains(string(answer), "; hit") {
					b.Fatalf("%s", answer)
				}
				text := []byte(request)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := conn.Write(text); err != nil {
						b.Fatal(err)
					}
					if _, err := io.ReadFull(conn.Conn, answer); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// newAPIWays serves an API whose responses vary.
func newAPIWays(b *testing.B, vary string) *twoWays {
	b.Helper()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		if vary != "" {
			w.Header().Set("Vary", vary)
		}
		_, _ = fmt.Fprint(w, strings.Repeat("x", 1000))
	}))
	b.Cleanup(origin.Close)
	store, err := web.NewStore(web.StoreConfig{Memory: 16 << 20, Variants: 50})
	if err != nil {
		b.Fatal(err)
	}
	w := newTwoWays(b, map[string]string{"api": "version: 1\nname: api\nproxy: {to: '" + origin.URL + "'}\n"}, func(c *Config, _ *upstreams.Environment) {
		c.Store, c.Dial = store, (&net.Dialer{}).DialContext
		c.Calls = func(string, string) func(error, time.Duration) { return nil }
	})
	b.Cleanup(w.server.CloseIdle)
	return w
}
