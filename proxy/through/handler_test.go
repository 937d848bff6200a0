package through

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"sundry/cache/clients"
	"sundry/cache/web"
	"sundry/upstreams/host"
	"sundry/upstreams/lib/waittest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stand is a handler in front of an origin, both on connections of their own.
type stand struct {
	counter
	front  *httptest.Server
	client *http.Client
	store  *web.Store
}

// newStand serves an origin. One that is not given its number of callers answers with it.
func newStand(t *testing.T, origin http.HandlerFunc, change ...func(*Settings)) *stand {
	t.Helper()
	s := &stand{counter: counter{t: t}}
	back := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		origin(w, r)
	}))
	h := newHandler(t, back.Listener.Addr().String(), true, (&net.Dialer{}).DialContext, change...)
	s.store, s.front = h.store, httptest.NewServer(h)
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}
	s.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		s.front.Close()
		back.CloseClientConnections()
		back.Close()
	})
	return s
}

// do makes a request, with fields as "name: value".
func (s *stand) do(method, path, body string, lines ...string) (*http.Response, error) {
	r, err := newRequest(s.t.Context(), method, s.front.URL+path, body, lines)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.client.Do(r)
}

// get reads a whole answer.
func (s *stand) get(path string, lines ...string) (*http.Response, string) {
	s.t.Helper()
	resp, err := s.do(http.MethodGet, path, "", lines...)
	if err != nil {
		s.t.Error(err)
		return &http.Response{Header: http.Header{}}, ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Error(err)
	}
	return resp, string(b)
}

func TestOneCallForAThousandCallers(t *testing.T) {
	hold := make(chan struct{})
	var waiting, collapsed atomic.Int64
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		<-hold
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(w, "answer")
	}, func(s *Settings) {
		s.Admit, s.Leave = func(clients.ID, time.Time) bool { return waiting.Add(1) > 0 }, func(clients.ID) {}
	})
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			resp, body := s.get("/a")
			if body != "answer" {
				t.Errorf("%d %q", resp.StatusCode, body)
			}
			if strings.Contains(resp.Header.Get("Cache-Status"), "collapsed") {
				collapsed.Add(1)
			}
		})
	}
	waittest.Until(t, "the call, and others who wait for it", func() bool { return s.calls.Load() == 1 && waiting.Load() > 100 })
	close(hold)
	all.Wait()
	s.wantCalls(1)
	if resp, _ := s.get("/a"); !strings.HasPrefix(resp.Header.Get("Cache-Status"), "sundry; hit; ttl=") || collapsed.Load() == 0 {
		t.Errorf("%v, %d collapsed", resp.Header, collapsed.Load())
	}
}

// TestTheFirstByteReachesEverybodyAsItComes, though the body is long in coming, and one caller does not read.
func TestTheFirstByteReachesEverybodyAsItComes(t *testing.T) {
	step := make(chan string)
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		for text := range step {
			fmt.Fprintln(w, text)
			_ = http.NewResponseController(w).Flush()
		}
	})
	deaf, err := net.Dial("tcp", s.front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	fmt.Fprintf(deaf, "GET /a HTTP/1.1\r\nHost: %s\r\n\r\n", s.front.Listener.Addr())
	waittest.Until(t, "the call", func() bool { return s.calls.Load() == 1 })
	step <- "one"
	var readers []*bufio.Reader
	for range 5 {
		resp, err := s.do(http.MethodGet, "/a", "")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		readers = append(readers, bufio.NewReader(resp.Body))
	}
	read := func(want string) {
		for i, r := range readers {
			if line, err := r.ReadString('\n'); err != nil || line != want+"\n" {
				t.Errorf("reader %d: %q %v", i, line, err)
			}
		}
	}
	read("one")
	step <- "two"
	read("two")
	close(step)
	for _, r := range readers {
		if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("%v", err)
		}
	}
	s.wantCalls(1)
}

// TestWhatIsNotSharedWaitsForNobody: once its head is known, the followers go on their own, all together, and for a while
// nobody waits.
func TestWhatIsNotSharedWaitsForNobody(t *testing.T) {
	var first sync.Once
	hold, inside := make(chan struct{}), make(chan struct{}, 100)
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		first.Do(func() { <-hold })
		inside <- struct{}{}
		w.Header().Set("Cache-Control", "private")
		fmt.Fprint(w, r.Header.Get("X-Who"))
	})
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if _, body := s.get("/a", fmt.Sprint("X-Who: ", i)); body != fmt.Sprint(i) {
				t.Errorf("caller %d got %q", i, body)
			}
		})
	}
	waittest.Until(t, "the call", func() bool { return s.calls.Load() == 1 })
	close(hold)
	all.Wait()
	s.wantCalls(20)
	if resp, _ := s.get("/a", "X-Who: 7"); !strings.Contains(resp.Header.Get("Cache-Status"), "unshared") {
		t.Errorf("%v", resp.Header)
	}
}

func TestNothingTruncatedIsKeptOrSentAsWhole(t *testing.T) {
	for name, length := range map[string]string{"with a length": "Content-Length: 100\r\n", "chunked": "Transfer-Encoding: chunked\r\n"} {
		t.Run(name, func(t *testing.T) {
			s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n%s\r\n5\r\nhello\r\n", length)
				_ = conn.Close()
			})
			for n := range int64(3) {
				resp, err := s.do(http.MethodGet, "/a", "")
				if err == nil {
					_, err = io.ReadAll(resp.Body)
					_ = resp.Body.Close()
				}
				if err == nil {
					t.Error("it counts as whole")
				}
				s.wantCalls(n + 1)
			}
		})
	}
}

// TestTheFirstCallerMayLeave without harm to the others.
func TestTheFirstCallerMayLeave(t *testing.T) {
	hold := make(chan struct{})
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		<-hold
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(w, "answer")
	})
	first, err := net.Dial("tcp", s.front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(first, "GET /a HTTP/1.1\r\nHost: %s\r\n\r\n", s.front.Listener.Addr())
	waittest.Until(t, "the call", func() bool { return s.calls.Load() == 1 })
	var all sync.WaitGroup
	all.Go(func() {
		if _, body := s.get("/a"); body != "answer" {
			t.Errorf("%q", body)
		}
	})
	_ = first.Close()
	close(hold)
	all.Wait()
	if n := s.calls.Load(); n > 2 {
		t.Errorf("%d calls", n)
	}
}

// TestAMoveInvalidatesWhereItLeads: clients of WebDAV save a file under another name, and move it over the old one.
func TestAMoveInvalidatesWhereItLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Cache-Control", "max-age=60") })
		for _, destination := range []string{"/b", "http://api.test/b", "http://origin.test/b"} {
			for range 2 {
				s.get("/b")
			}
			s.ask("MOVE", "/a", "", "Destination: "+destination)
			time.Sleep(time.Second)
		}
		s.wantCalls(6)
	})
}

// TestWhatIsBelowIsInvalidated where a collection is removed, moved, or replaced (RFC 4918, sections 9.6, 9.8 and 9.9).
func TestWhatIsBelowIsInvalidated(t *testing.T) {
	for name, row := range map[string]struct {
		method, path, destination string
		status                    int
		gone                      bool
	}{
		"DELETE":                 {http.MethodDelete, "/f/", "", http.StatusNoContent, true},
		"DELETE without a slash": {http.MethodDelete, "/f", "", http.StatusNoContent, false},
		"MOVE without a slash":   {"MOVE", "/f", "/g", http.StatusCreated, true},
		"MOVE":                   {"MOVE", "/f/", "/g/", http.StatusCreated, true},
		"MOVE over it":           {"MOVE", "/g/", "http://origin.test/f/", http.StatusNoContent, true},
		"COPY over it":           {"COPY", "/g/", "http://api.test/f/", http.StatusNoContent, true},
		"COPY":                   {"COPY", "/f/", "/g/", http.StatusCreated, false},
		"PUT":                    {http.MethodPut, "/f/", "", http.StatusNoContent, false},
		"DELETE that fails":      {http.MethodDelete, "/f/", "", http.StatusForbidden, false},
		"DELETE of another":      {http.MethodDelete, "/f/b/", "", http.StatusNoContent, false},
		"MOVE over another host": {"MOVE", "/g/", "http://other.test/f/", http.StatusCreated, false},
		"DELETE of all":          {http.MethodDelete, "/", "", http.StatusNoContent, true},
		"DELETE of a part":       {http.MethodDelete, "/f/", "", http.StatusMultiStatus, true},
		// What follows is said by applications that ignore the method, to anybody.
		"DELETE, page":               {http.MethodDelete, "/", "", http.StatusOK, false},
		"DELETE, redirect to log in": {http.MethodDelete, "/", "", http.StatusFound, false},
		"MOVE, page":                 {"MOVE", "/f", "/", http.StatusOK, false},
		"COPY, redirect":             {"COPY", "/a", "/", http.StatusMovedPermanently, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodGet {
						w.WriteHeader(row.status)
					}
					w.Header().Set("Cache-Control", "max-age=60")
				})
				s.get("/f/a")
				time.Sleep(time.Second)
				var lines []string
				if row.destination != "" {
					lines = append(lines, "Destination: "+row.destination)
				}
				s.ask(row.method, row.path, "", lines...)
				time.Sleep(time.Second)
				if hit := strings.Contains(s.get("/f/a").header.Get("Cache-Status"), "hit"); hit == row.gone {
					t.Errorf("hit: %v", hit)
				}
			})
		})
	}
}

func TestAnUnsafeMethodInvalidates(t *testing.T) {
	var n atomic.Int64
	hold, reached := make(chan struct{}), make(chan struct{})
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		version := n.Add(1)
		if r.Header.Get("X-Slow") != "" {
			close(reached)
			<-hold
		}
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(w, "version ", version)
	})
	s.get("/a")
	resp, err := s.do(http.MethodPut, "/a", "new")
	if err != nil || resp.StatusCode != http.StatusNoContent {
		t.Fatal(resp, err)
	}
	if _, body := s.get("/a"); body != "version 2" {
		t.Errorf("%q is served after a PUT", body)
	}
	var all sync.WaitGroup
	all.Go(func() { s.get("/b", "X-Slow: 1") })
	<-reached
	if _, err := s.do(http.MethodDelete, "/b", ""); err != nil {
		t.Error(err)
	}
	close(hold)
	all.Wait()
	if _, body := s.get("/b"); body != "version 4" {
		t.Errorf("%q: what was asked for before the DELETE is served after it", body)
	}
}

// TestTheAnswerToAPost is what a GET gets from then on only where it says that it is that, and for how long.
func TestTheAnswerToAPost(t *testing.T) {
	for name, row := range map[string]struct {
		method, control, location, body string
		kept                            bool
	}{
		"is the target's content":   {"POST", "max-age=60", "/a", "8 bytes!", true},
		"is larger than what fits":  {"POST", "max-age=60", "/a", "9 bytes!!", false},
		"does not say of what":      {"POST", "max-age=60", "", "x", false},
		"is of another URI":         {"POST", "max-age=60", "/b", "x", false},
		"is of another host":        {"POST", "max-age=60", "http://other.test/a", "x", false},
		"is of the origin's host":   {"POST", "max-age=60", "http://origin.test/a", "x", true},
		"is of the Host it is sent": {"POST", "max-age=60", "http://sent.test/a", "x", true},
		"does not say for how long": {"POST", "public", "/a", "x", false},
		"is not to be stored":       {"POST", "no-store", "/a", "x", false},
		"is to a PUT":               {"PUT", "max-age=60", "/a", "x", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
					if row.location != "" {
						w.Header().Set("Content-Location", row.location)
					}
					answers(http.StatusOK, row.control, row.body)(w, nil)
				}, func(s *Settings) { s.Most = 8 })
				s.h.origin.targets[0].Sent = "sent.test"
				s.ask(row.method, "/a", "x")
				if a := s.get("/a"); a.body != row.body || (s.calls.Load() == 1) != row.kept {
					t.Errorf("%q after %d calls", a.body, s.calls.Load())
				}
			})
		})
	}
}

// TestALargeBodyIsSharedAndNotKept: a hundred callers of one that is too large to keep cost one call.
func TestALargeBodyIsSharedAndNotKept(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 1<<20/16)
	var waiting atomic.Int64
	there := make(chan struct{})
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		<-there
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body)
	}, func(s *Settings) {
		s.Most, s.Leave = 256<<10, func(clients.ID) {}
		s.Admit = func(clients.ID, time.Time) bool {
			if waiting.Add(1) == 50 {
				close(there)
			}
			return true
		}
	})
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, got := s.get("/a"); got != string(body) {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
	all.Wait()
	if n := s.calls.Load(); n > 3 { // who came when the others had read it all
		t.Errorf("%d calls", n)
	}
	if s.store.Get("/a") != nil {
		t.Error("it is kept")
	}
}

func TestRangesOfWhatIsStored(t *testing.T) {
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Etag", `"a"`)
		if r.URL.Path != "/empty" {
			fmt.Fprint(w, "0123456789")
		}
	})
	for range 2 { // clients ask for the beginning of everything, and take 416 for an error
		if resp, _ := s.get("/empty", "Range: bytes=0-99"); resp.StatusCode != http.StatusOK {
			t.Errorf("%d for a range of nothing", resp.StatusCode)
		}
	}
	s.get("/a")
	for _, row := range []struct {
		lines  []string
		status int
		body   string
		says   string
	}{
		{[]string{"Range: bytes=2-4"}, 206, "234", "bytes 2-4/10"},
		{[]string{"Range: bytes=-3"}, 206, "789", "bytes 7-9/10"},
		{[]string{"Range: bytes=20-"}, 416, "", "bytes */10"},
		{[]string{"Range: bytes=0-1,4-5"}, 200, "0123456789", ""},
		{[]string{"Range: bytes=2-4", `If-Range: "a"`}, 206, "234", "bytes 2-4/10"},
		{[]string{"Range: bytes=2-4", `If-Range: "b"`}, 200, "0123456789", ""},
		{[]string{`If-None-Match: "a"`}, 304, "", ""},
	} {
		resp, body := s.get("/a", row.lines...)
		if resp.StatusCode != row.status || body != row.body || resp.Header.Get("Content-Range") != row.says {
			t.Errorf("%v: %d %q %v", row.lines, resp.StatusCode, body, resp.Header)
		}
	}
	s.wantCalls(2)
}

func TestBodiesGoBothWaysWithTrailers(t *testing.T) {
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, "plain")
			return
		}
		w.Header().Set("Trailer", "X-Sum")
		_ = http.NewResponseController(w).EnableFullDuplex()
		n, err := io.Copy(w, r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("X-Sum", fmt.Sprint(n))
		w.Header().Set(http.TrailerPrefix+"X-Removed", "secret")
	}, func(s *Settings) {
		s.Response = func(h http.Header) {
			h.Del("X-Removed")
			h.Set("X-Set", "once")
		}
	})
	body := strings.Repeat("x", 3<<20)
	resp, err := s.do(http.MethodPost, "/echo?a=1", body)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || string(got) != body || len(resp.Trailer) != 1 || resp.Trailer.Get("X-Sum") != fmt.Sprint(len(body)) {
		t.Errorf("%d bytes, %v, trailer %v", len(got), err, resp.Trailer)
	}
	if resp, got := s.get("/plain"); got != "plain" || resp.Header.Get("X-Set") != "once" || len(resp.Trailer) > 0 {
		t.Errorf("%q %v, trailer %v", got, resp.Header, resp.Trailer)
	}
}

func TestAnotherProtocolOnTheConnection(t *testing.T) {
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		conn, in, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
		line, _ := in.ReadString('\n')
		fmt.Fprint(conn, line)
	})
	conn, err := net.Dial("tcp", s.front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
	in := bufio.NewReader(conn)
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(resp, err)
	}
	fmt.Fprintln(conn, "ping")
	if line, err := in.ReadString('\n'); err != nil || line != "ping\n" {
		t.Errorf("%q %v", line, err)
	}
}

// TestTheOriginIsAway: what is stored may stand in, and where nothing is, the error says so.
func TestTheOriginIsAway(t *testing.T) {
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		conn, _, _ := http.NewResponseController(w).Hijack()
		_ = conn.Close()
	})
	resp, body := s.get("/a")
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(body, "the origin gave no answer") || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %q %v", resp.StatusCode, body, resp.Header)
	}
}

// TestWhyTheOriginIsNotAsked: each reason has its status, and says when to ask again where that is known.
func TestWhyTheOriginIsNotAsked(t *testing.T) {
	h := newHandler(t, "127.0.0.1:1", true, (&net.Dialer{}).DialContext)
	for _, row := range []struct {
		err        error
		status     int
		retryAfter string
		says       string
	}{
		{fmt.Errorf("host x: %w", host.ErrRejected), http.StatusServiceUnavailable, "10", "the origin has failed, and is not asked for a while"},
		{fmt.Errorf("host x: %w", host.ErrBusy), http.StatusServiceUnavailable, "10", "the origin gave no answer"},
		{&host.ThrottledError{Quota: "x", Wait: 1500 * time.Millisecond}, http.StatusServiceUnavailable, "2", "as often as it may be for now"},
		{ErrShed, http.StatusServiceUnavailable, "10", "too many requests"},
		{context.DeadlineExceeded, http.StatusGatewayTimeout, "", "did not answer in time"},
		{io.ErrUnexpectedEOF, http.StatusBadGateway, "", "the origin gave no answer"},
	} {
		w := httptest.NewRecorder()
		c := &call{Handler: h, w: recorder{ResponseWriter: w}, r: httptest.NewRequest(http.MethodGet, "/a", http.NoBody)}
		c.failOrigin(&answer{err: row.err})
		if w.Code != row.status || w.Header().Get("Retry-After") != row.retryAfter || !strings.Contains(w.Body.String(), row.says) {
			t.Errorf("%v: %d %q %q", row.err, w.Code, w.Header().Get("Retry-After"), w.Body)
		}
	}
}
