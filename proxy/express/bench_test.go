//go:build linux

package express

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"sundry/upstreams/lib/longtest"
)

// still answers every request with the same bytes.
type still struct{ head, body []byte }

func (s *still) Answer(_ *Request, r *Response) bool {
	r.Buf = append(r.Buf, s.head...)
	r.Body = s.body
	return true
}

func newStill(size int) *still {
	return &still{fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size), bytes.Repeat([]byte("a"), size)}
}

// browser is a head as a browser sends it.
const browser = "GET /hit?a=1 HTTP/1.1\r\nHost: shop.example\r\nConnection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"130\", \"Not?A_Brand\";v=\"99\"\r\n" +
	"sec-ch-ua-mobile: ?0\r\nsec-ch-ua-platform: \"Linux\"\r\nUpgrade-Insecure-Requests: 1\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36\r\n" +
	"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8\r\nSec-Fetch-Site: none\r\n" +
	"Sec-Fetch-Mode: navigate\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n\r\n"

func BenchmarkHead(b *testing.B) {
	for name, text := range map[string]string{"curl": "GET /hit?a=1 HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n", "browser": browser} {
		b.Run(name, func(b *testing.B) {
			h, buf := newHead(b), []byte(text)
			b.SetBytes(int64(len(buf)))
			for b.Loop() {
				if h.parse(buf) != plain {
					b.Fatal("not plain")
				}
			}
		})
	}
}

// client asks on one connection, without allocating.
type client struct {
	conn    net.Conn
	request []byte
	answer  []byte // a buffer of the size of the answer
}

func newClient(t testing.TB, s *site, request string) *client {
	c := &client{conn: s.dial(t), request: []byte(request)}
	if _, err := c.conn.Write(c.request); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c.conn)
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	c.answer = make([]byte, len("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n")+len(fmt.Sprint(len(body)))+len(body))
	return c
}

func (c *client) ask(t testing.TB) {
	if _, err := c.conn.Write(c.request); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c.conn, c.answer); err != nil {
		t.Fatal(err)
	}
}

func openStill(t testing.TB, size int) *site {
	lane, err := New(Config{Answerer: newStill(size), Fields: shopFields})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{shop: newShop(), lane: lane, accepted: make(chan net.Conn, 1), serving: make(chan error, 1)}
	s.open(t)
	return s
}

// TestAnAnswerAllocatesNothing counts what client and lane allocate together.
func TestAnAnswerAllocatesNothing(t *testing.T) {
	if longtest.Race {
		t.Skip("a sync.Pool drops what it is given at random, for the race detector's sake")
	}
	for _, size := range []int{1 << 10, 8 << 10, 64 << 10} {
		c := newClient(t, openStill(t, size), browser)
		if allocs := testing.AllocsPerRun(2000, func() { c.ask(t) }); allocs > 0 {
			t.Errorf("%d bytes: %v allocations per answer", size, allocs)
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	for _, size := range []int{1 << 10, 8 << 10, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			c := newClient(b, openStill(b, size), browser)
			b.ReportAllocs()
			for b.Loop() {
				c.ask(b)
			}
		})
	}
}
