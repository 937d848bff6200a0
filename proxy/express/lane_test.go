//go:build linux

package express

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"sundry/upstreams/lib/waittest"
)

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }

const hit = "GET /hit?a=1 HTTP/1.1\r\nHost: shop.example\r\n\r\n"

func get(target string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: shop.example\r\n\r\n"
}

// expect reads an answer whose body begins with text.
func expect(t testing.TB, r *bufio.Reader, text string) {
	t.Helper()
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatalf("no answer that begins with %q: %v", text, err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil || !strings.HasPrefix(string(body), text) {
		t.Fatalf("answer %.80q and %v, want one that begins with %q", body, err, text)
	}
}

// TestBoundaryIsRegained: a request that net/http answered does not end the lane's
// work on the connection.
func TestBoundaryIsRegained(t *testing.T) {
	s := openSite(t)
	c := s.dial(t)
	r := bufio.NewReader(c)
	for i := range 20 {
		send(t, c, hit)
		expect(t, r, "/hit?a=1|/hit|a=1|shop.example|127.0.0.1")
		send(t, c, get(fmt.Sprintf("/other?%d", i)))
		expect(t, r, "miss /other?")
	}
	if answered, handled := s.answered.Load(), s.handled.Load(); answered != 20 || handled != 20 {
		t.Errorf("the lane answered %d, net/http %d, want 20 each", answered, handled)
	}
}

func TestPipeline(t *testing.T) {
	s := openSite(t)
	c := s.dial(t)
	r := bufio.NewReader(c)
	go io.WriteString(c, strings.Repeat(hit+hit+get("/other")+get("/big")+get("/100%25")+hit+get("/medium"), 50))
	for range 50 {
		for _, want := range []string{"/hit?a=1", "/hit?a=1", "miss /other", "0123456789abcdef", "miss /100%25", "/hit?a=1", "0123456789abcdef"} {
			expect(t, r, want)
		}
	}
	if s.answered.Load() != 250 {
		t.Errorf("the lane answered %d, want 250", s.answered.Load())
	}
}

// TestSmallerBuffersAreNetHTTPs: what does not fit into the buffer at a boundary is
// passed in its order.
func TestSmallerBuffersAreNetHTTPs(t *testing.T) {
	lane, err := New(Config{Answerer: newShop(), Fields: shopFields})
	if err != nil {
		t.Fatal(err)
	}
	client, server := connected(t)
	socket := openSocket(server)
	c := newConn(server, lane, &timeouts{})
	socket.conn, c.wire = c, socket
	followers := strings.Repeat(last, 20)
	go io.WriteString(client, get("/miss")+followers)
	p := make([]byte, 4096)
	if n, err := c.Read(p); err != nil || string(p[:n]) != get("/miss") {
		t.Fatalf("%q %v", p[:n], err)
	}
	c.changeState(http.StateIdle)
	var got []byte
	for len(got) < len(followers) {
		n, err := c.Read(p[:600])
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p[:n]...)
	}
	if string(got) != followers {
		t.Errorf("%q", got)
	}
}

// connected are the two ends of a connection.
func connected(t *testing.T) (client, server net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	client, err1 := net.Dial("tcp", ln.Addr().String())
	server, err2 := ln.Accept()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// TestPipelineOfALateReader: answers wait for who asks much before reading anything.
func TestPipelineOfALateReader(t *testing.T) {
	s := openSite(t)
	c := s.dial(t)
	r := bufio.NewReader(c)
	target := "/hit?" + strings.Repeat("a", 3000)
	const requests = 4000 // whose answers no buffer holds
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c, strings.Repeat(get(target), requests))
		sent <- err
	}()
	waittest.Until(t, "a writer", func() bool {
		answered := s.answered.Load()
		return answered > requests/10 && s.only(t).phase.Load() == phaseBusy
	})
	for range requests {
		expect(t, r, target)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
}

// TestNoConnectionIsForgotten: each of many connections is answered again and again,
// though nothing but what the client sends ever wakes the lane.
func TestNoConnectionIsForgotten(t *testing.T) {
	s := openSite(t, limits(0, 0, 0, 0))
	var clients sync.WaitGroup
	for i := range 64 {
		c := s.dial(t)
		clients.Go(func() {
			r := bufio.NewReader(c)
			for k := range 100 {
				send(t, c, strings.Repeat(hit, 1+(i+k)%3))
				for range 1 + (i+k)%3 {
					expect(t, r, "/hit?a=1")
				}
			}
		})
	}
	clients.Wait()
}
