//go:build linux

package express

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

func limits(header, read, write, idle time.Duration) siteOption {
	return func(_ *site, srv *http.Server) {
		srv.ReadHeaderTimeout, srv.ReadTimeout, srv.WriteTimeout, srv.IdleTimeout = header, read, write, idle
	}
}

// only returns the lane's end of the only connection.
func (s *site) only(t testing.TB) *conn {
	t.Helper()
	var c *conn
	waittest.Until(t, "the connection", func() bool {
		if open := s.lane.open(); len(open) == 1 {
			c = open[0]
		}
		return c != nil
	})
	return c
}

// expectEnd reads the orderly end of a connection on which nothing more comes.
func expectEnd(t testing.TB, r io.Reader) {
	t.Helper()
	if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
		t.Fatalf("%.100q and %v in the place of the end", rest, err)
	}
}

const (
	soon = 50 * time.Millisecond
	long = time.Hour
)

var ports = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// TestSilentConnectionsAreClosed as net/http closes them.
func TestSilentConnectionsAreClosed(t *testing.T) {
	longtest.NotShort(t, "it takes a second")
	for name, test := range map[string]struct {
		first, answer, then string
	}{
		"new":                                {},
		"in the first line":                  {then: "GET /hi"},
		"in the first head":                  {then: "GET /hit HTTP/1.1\r\nHo"},
		"between lines":                      {then: "GET /hit HTTP/1.1\r\n"},
		"in a head behind an answer":         {hit, "/hit", hit[:20]},
		"between lines behind an answer":     {hit, "/hit", "GET /hit HTTP/1.1\r\n"},
		"in a head that came with another":   {hit + hit[:20], "/hit", ""},
		"in a head behind net/http's answer": {get("/miss"), "miss", hit[:20]},
		"in a head behind both answers":      {get("/miss") + hit + hit[:20], "miss", ""},
		"in a head that is not plain":        {hit, "/hit", "POST / HT"},
		"in a body":                          {hit, "/hit", "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell"},
	} {
		t.Run(name, func(t *testing.T) {
			w := twins{openSite(t, limits(soon, 2*soon, long, long)), openPlainSite(t, limits(soon, 2*soon, long, long))}
			var rests [2]string
			for i, s := range []*site{w.lane, w.plain} {
				c := s.dial(t)
				r := bufio.NewReader(c)
				send(t, c, test.first)
				if test.first != "" {
					expect(t, r, test.answer)
				}
				send(t, c, test.then)
				rest, err := io.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				rests[i] = ports.ReplaceAllString(date.ReplaceAllString(string(rest), ""), "")
			}
			if rests[0] != rests[1] {
				t.Errorf("%q, without the lane %q", rests[0], rests[1])
			}
		})
	}
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	for name, target := range map[string]string{"answer": "/hit", "miss": "/miss"} {
		t.Run(name, func(t *testing.T) {
			s := openSite(t, limits(long, 0, long, soon))
			c := s.dial(t)
			r := bufio.NewReader(c)
			send(t, c, get("/miss"))
			expect(t, r, "miss")
			send(t, c, get(target))
			expect(t, r, "")
			expectEnd(t, r)
		})
	}
}

// TestIdleTimeIsKeptWhereNetHTTPWaitsLonger for the first request of a connection, or
// for ever.
func TestIdleTimeIsKeptWhereNetHTTPWaitsLonger(t *testing.T) {
	for name, header := range map[string]time.Duration{"longer": long, "for ever": 0} {
		t.Run(name, func(t *testing.T) {
			s := openSite(t, limits(header, 0, long, soon))
			c := s.dial(t)
			r := bufio.NewReader(c)
			send(t, c, hit)
			expect(t, r, "/hit")
			expectEnd(t, r)
		})
	}
}

// TestIdleTimeIsThatOfTheLastAnswer: the deadline that net/http set is moved on.
func TestIdleTimeIsThatOfTheLastAnswer(t *testing.T) {
	s := openSite(t, limits(soon, 0, long, long))
	c := s.dial(t)
	r := bufio.NewReader(c)
	send(t, c, hit)
	expect(t, r, "/hit")
	s.outliveDeadline(t)
	send(t, c, hit)
	expect(t, r, "/hit")
}

// outliveDeadline waits until the first deadline of the only connection has passed,
// and has been moved on by about an hour.
func (s *site) outliveDeadline(t testing.TB) {
	t.Helper()
	c := s.only(t)
	waittest.Until(t, "another deadline", func() bool { return instant(c.armed.Load()) > instant(long/2) })
}

// TestTimeForABodyBeginsWithItsRequest, though net/http has waited for that since the
// connection began.
func TestTimeForABodyBeginsWithItsRequest(t *testing.T) {
	longtest.NotShort(t, "it takes a second")
	s := openSite(t, limits(soon, 20*soon, long, long))
	c := s.dial(t)
	r := bufio.NewReader(c)
	begun := time.Now()
	for time.Since(begun) < 21*soon {
		send(t, c, hit)
		expect(t, r, "/hit")
	}
	there := s.only(t)
	send(t, c, "POST /read HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhel")
	waittest.Until(t, "the request", func() bool { return !there.unseen.Load() })
	send(t, c, "lo")
	expect(t, r, `miss /read|/read||a.example|127.0.0.1|||||"hello"|<nil>`)
}

// TestEndOfRequestsIsSeen: a client that ends its requests together with the last one
// gets the answer and the end at once.
func TestEndOfRequestsIsSeen(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		t.Run(network, func(t *testing.T) {
			s := openSite(t, limits(0, 0, 0, 0), func(s *site, _ *http.Server) { s.network = network })
			for range 100 {
				c := s.dial(t)
				send(t, c, hit)
				if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
					t.Fatal(err)
				}
				r := bufio.NewReader(c)
				expect(t, r, "/hit")
				expectEnd(t, r)
			}
			if s.answered.Load() != 100 {
				t.Errorf("the lane answered %d", s.answered.Load())
			}
		})
	}
}

func TestHandlersLearnThatClientsHaveGone(t *testing.T) {
	reset := func(c net.Conn) { c.(*net.TCPConn).SetLinger(0); c.Close() }
	for name, test := range map[string]struct {
		sent string
		part func(net.Conn)
	}{
		"closed":                               {get("/wait"), func(c net.Conn) { c.Close() }},
		"reset":                                {get("/wait"), reset},
		"reset behind a request":               {get("/wait") + hit, reset},
		"reset behind a request sent later":    {get("/wait"), func(c net.Conn) { send(t, c, hit); reset(c) }},
		"closed behind an answer and requests": {hit + get("/wait"), func(c net.Conn) { c.Close() }},
	} {
		t.Run(name, func(t *testing.T) {
			s := openSite(t)
			c := s.dial(t)
			send(t, c, test.sent)
			<-s.enter
			test.part(c)
			if err := <-s.leave; !errors.Is(err, context.Canceled) {
				t.Errorf("the handler ended with %v", err)
			}
		})
	}
}

// stuck returns a connection whose client reads nothing of an answer that no buffer
// holds.
func stuck(t testing.TB, s *site) (*bufio.Reader, *conn) {
	t.Helper()
	c := s.dial(t)
	r := bufio.NewReader(c)
	send(t, c, hit)
	expect(t, r, "/hit")
	there := s.only(t)
	waittest.Until(t, "the lane waits", func() bool { return there.phase.Load() == phaseOpen })
	send(t, c, get("/huge"))
	if _, err := r.Peek(1); err != nil {
		t.Fatal(err)
	}
	return r, there
}

func TestShutdownLetsAnAnswerBeWritten(t *testing.T) {
	for name, closes := range map[string]bool{"new to net/http": false, "idle to net/http": true} {
		t.Run(name, func(t *testing.T) {
			s := openSite(t)
			r, there := stuck(t, s)
			ended := make(chan error)
			go func() { ended <- s.server.Shutdown(t.Context()) }()
			waittest.Until(t, "the end of the connection has begun", func() bool { return there.phase.Load() == phaseEnding })
			if closes { // as Shutdown does
				if err := there.Close(); err != nil {
					t.Error(err)
				}
			}
			expect(t, r, "0123456789abcdef")
			expectEnd(t, r)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			waittest.Until(t, "the end of the connection", func() bool { return len(s.lane.open()) == 0 })
		})
	}
}

func TestClosingTwiceClosesAtOnce(t *testing.T) {
	s := openSite(t)
	r, there := stuck(t, s)
	if err := errors.Join(there.Close(), there.Close()); err != nil {
		t.Error(err)
	}
	if answer, err := http.ReadResponse(r, nil); err == nil {
		if body, err := io.ReadAll(answer.Body); err == nil {
			t.Errorf("the answer of %d bytes is complete", len(body))
		}
	}
}

// TestSlowReadersAreGivenUp: the time for writing is that of the server.
func TestSlowReadersAreGivenUp(t *testing.T) {
	s := openSite(t, limits(long, 0, soon, long))
	r, there := stuck(t, s)
	waittest.Until(t, "the end of the connection", func() bool { return len(s.lane.open()) == 0 })
	if rest, _ := io.ReadAll(r); bytes.Contains(rest, []byte("Bad Request")) {
		t.Error("net/http wrote into the answer")
	}
	if phase := there.phase.Load(); phase != phaseClosed {
		t.Errorf("phase %d", phase)
	}
}

// TestShutdownDoesNotWaitForAnsweredConnections, which net/http takes for new ones.
func TestShutdownDoesNotWaitForAnsweredConnections(t *testing.T) {
	s := openSite(t)
	answered := s.dial(t)
	send(t, answered, hit)
	expect(t, bufio.NewReader(answered), "/hit")
	s.lane.shutDown()
	expectEnd(t, answered)
}

func TestDrainedRequestsGoToNetHTTP(t *testing.T) {
	s := openSite(t)
	c := s.dial(t)
	r := bufio.NewReader(c)
	send(t, c, hit)
	expect(t, r, "/hit")
	s.lane.Drain()
	send(t, c, hit+hit)
	expect(t, r, "/hit")
	expect(t, r, "/hit")
	if s.answered.Load() != 1 || s.handled.Load() != 2 {
		t.Errorf("the lane answered %d, net/http %d", s.answered.Load(), s.handled.Load())
	}
}

func TestAPanicEndsItsConnectionAlone(t *testing.T) {
	s := openSite(t)
	other := s.dial(t)
	r := bufio.NewReader(other)
	send(t, other, hit)
	expect(t, r, "/hit")
	s.panics.Store(true)
	c := s.dial(t)
	send(t, c, hit)
	expectEnd(t, c)
	s.panics.Store(false)
	send(t, other, hit)
	expect(t, r, "/hit")
	if open := len(s.lane.open()); open != 1 {
		t.Errorf("%d connections are open", open)
	}
}

// TestSecureConnectionsAreLeftToNetHTTP, wherever TLS is.
func TestSecureConnectionsAreLeftToNetHTTP(t *testing.T) {
	for name, attach := range map[string]func(l *Lane, ts *httptest.Server){
		"TLS behind the lane": func(l *Lane, ts *httptest.Server) {
			ts.Listener = l.Attach(ts.Config, ts.Listener)
			ts.StartTLS()
		},
		"TLS in front of the lane": func(l *Lane, ts *httptest.Server) {
			ts.StartTLS() // for its certificate
			ln, err := tls.Listen("tcp", "127.0.0.1:0", ts.TLS)
			if err != nil {
				t.Fatal(err)
			}
			ended := make(chan error)
			srv := &http.Server{Handler: ts.Config.Handler}
			ts.URL = "https://" + ln.Addr().String()
			go func() { ended <- srv.Serve(l.Attach(srv, ln)) }()
			t.Cleanup(func() { srv.Close(); <-ended })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop()
			lane, err := New(Config{Answerer: s, Fields: shopFields})
			if err != nil {
				t.Fatal(err)
			}
			ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.TLS == nil {
					t.Error("net/http knows nothing of TLS")
				}
				s.ServeHTTP(w, r)
			}))
			attach(lane, ts)
			t.Cleanup(ts.Close)
			for range 3 {
				answer, err := ts.Client().Get(ts.URL + "/hit")
				if err != nil {
					t.Fatal(err)
				}
				io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
			ts.Client().CloseIdleConnections()
			if s.answered.Load() != 0 || s.handled.Load() != 3 {
				t.Errorf("the lane answered %d, net/http %d", s.answered.Load(), s.handled.Load())
			}
		})
	}
}

// sizes is a connection that notes the sizes of the buffers it reads into.
type sizes struct {
	net.Conn
	mu   sync.Mutex
	seen []int
}

func (s *sizes) Read(p []byte) (int, error) {
	s.mu.Lock()
	s.seen = append(s.seen, len(p))
	s.mu.Unlock()
	return s.Conn.Read(p)
}

// TestNetHTTPReadsAsTheLaneExpects: for requests without a body, into a buffer at the
// boundary, and a single byte while a request is handled.
func TestNetHTTPReadsAsTheLaneExpects(t *testing.T) {
	noted := make(chan *sizes, 1)
	s := openPlainSite(t, func(s *site, _ *http.Server) {
		s.wrap = func(c net.Conn) net.Conn {
			n := &sizes{Conn: c}
			noted <- n
			return n
		}
	})
	c := s.dial(t)
	r := bufio.NewReader(c)
	for range 3 {
		send(t, c, get("/miss"))
		expect(t, r, "miss")
	}
	c.Close()
	n := <-noted
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, size := range n.seen {
		if size != 1 && size < leastBuffer {
			t.Errorf("read %d is into %d bytes", i, size)
		}
	}
	if !slices.Contains(n.seen, 1) {
		t.Errorf("no read of one byte among %d", n.seen)
	}
}

// TestPieces: requests that arrive in two pieces, cut anywhere.
func TestPieces(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	w := openTwins(t)
	for _, text := range []string{
		hit + last, get("/miss?a") + last, "POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" + last,
		get("/close") + last, "\r\n" + last, "HEAD /hit HTTP/1.1\nHost: a\n\n" + last,
	} {
		for cut := 1; cut < len(text); cut += longtest.Every(5) {
			w.compare(t, text[:cut], text[cut:])
		}
		w.compare(t, strings.Split(text, "")...)
	}
}
