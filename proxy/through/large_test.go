package through

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sundry/proxy/express"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// TestManyCallersOfALargeBody cost one call, and no memory each: a hundred of them, and a thousand as a long story.
func TestManyCallersOfALargeBody(t *testing.T) {
	callers := 100
	if longtest.Stories() {
		callers = 1000 / longtest.Every(3)
	}
	body, hold := bytes.Repeat([]byte("0123456789abcdef"), 10<<20/16), make(chan struct{})
	s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		<-hold
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = w.Write(body)
	})
	defer debug.SetGCPercent(debug.SetGCPercent(20)) // what is garbage counts as well
	conns := make([]net.Conn, callers)
	for i := range conns {
		c, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns[i] = c
	}
	before := inUse()
	var all sync.WaitGroup
	var waiting atomic.Int64
	for _, c := range conns {
		all.Go(func() {
			fmt.Fprint(c, "GET /a HTTP/1.1\r\nHost: api.test\r\n\r\n")
			waiting.Add(1)
			if n, err := readAnswer(c); err != nil || n != int64(len(body)) {
				t.Errorf("%d bytes: %v", n, err)
			}
		})
	}
	waittest.Until(t, "all to ask", func() bool { return waiting.Load() == int64(callers) && s.calls.Load() == 1 })
	waittest.Until(t, "all to wait for one flight", func() bool { return s.h.flights.waiting() == callers })
	close(hold)
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	most := watch(done, before)
	t.Logf("%d callers: %d MiB more", callers, most>>20)
	s.wantCalls(1)
	if most > 64<<20 {
		t.Errorf("%d MiB more", most>>20)
	}
}

// readAnswer reads the answer on a connection, and returns how long its body is.
func readAnswer(c net.Conn) (n int64, err error) {
	in := bufio.NewReaderSize(c, 4<<10)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, errors.New(resp.Status)
	}
	buf := make([]byte, 4<<10)
	for {
		m, err := resp.Body.Read(buf)
		n += int64(m)
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// inUse is the memory of the heap and of stacks.
func inUse() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// watch returns how much more memory there was at most until done.
func watch(done <-chan struct{}, before int64) (most int64) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return most
		case <-tick.C:
			most = max(most, inUse()-before)
		}
	}
}

// TestASlowReaderOfALargeBody gets all of it, however far ahead another one is: the rest by its tag, else by a call of its own.
func TestASlowReaderOfALargeBody(t *testing.T) {
	t.Parallel()
	body := bytes.Repeat([]byte("0123456789abcdef"), 24<<20/16)
	for _, tag := range []string{`"a"`, `W/"a"`, ""} {
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			w.Header().Set("Etag", tag)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
		})
		ask := func() net.Conn {
			c, err := s.front.dial(t.Context(), "", "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			fmt.Fprint(c, "GET /a HTTP/1.1\r\nHost: api.test\r\n\r\n")
			return c
		}
		fast, slow := ask(), ask()
		for i, c := range []net.Conn{fast, slow} {
			if n, err := readAnswer(c); err != nil || n != int64(len(body)) {
				t.Errorf("tag %s, reader %d: %d bytes: %v", tag, i, n, err)
			}
		}
	}
}

// TestASlowReaderOfALargeCompressedBody gets all of it, too: nobody can ask for the rest of that.
func TestASlowReaderOfALargeCompressedBody(t *testing.T) {
	t.Parallel()
	raw := make([]byte, 36<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(raw) // never fails
	body := base64.StdEncoding.AppendEncode(nil, raw)
	s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Content-Type", "text/plain")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	}, compressing)
	var callers []net.Conn
	for range 2 {
		c, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET /a HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
		callers = append(callers, c)
	}
	for i, c := range callers {
		if n, err := readAnswer(c); err != nil || n < int64(len(raw)) {
			t.Errorf("reader %d: %d bytes: %v", i, n, err)
		}
	}
}

// TestASlowReaderOfABodyOfUnknownLength may be as far behind as one of a body whose length is said.
func TestASlowReaderOfABodyOfUnknownLength(t *testing.T) {
	t.Parallel()
	const length = 14 << 20
	hold := make(chan struct{})
	s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
		<-hold
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = io.CopyN(w, zeros{}, length)
	})
	var callers []net.Conn
	for range 2 {
		c, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET /a HTTP/1.1\r\nHost: api.test\r\n\r\n")
		callers = append(callers, c)
	}
	waittest.Until(t, "both to wait for one flight", func() bool { return s.h.flights.waiting() == len(callers) })
	close(hold)
	for i, c := range callers {
		if n, err := readAnswer(c); err != nil || n != length {
			t.Errorf("reader %d: %d bytes: %v", i, n, err)
		}
	}
}

// TestARestThatIsTooShort is not taken for all of it, where nothing but its Content-Range says how long it is.
func TestARestThatIsTooShort(t *testing.T) {
	t.Parallel()
	const length = 24 << 20
	s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Accept-Ranges", "bytes")
		w.Header().Set("Etag", `"a"`)
		n := int64(length)
		if first, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %s%d/%d", first, length-1, length))
			w.WriteHeader(http.StatusPartialContent)
			n = 1000
		}
		_ = http.NewResponseController(w).Flush() // no length
		_, _ = io.CopyN(w, zeros{}, n)
	})
	var callers []net.Conn
	for range 2 {
		c, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprint(c, "GET /a HTTP/1.1\r\nHost: api.test\r\n\r\n")
		callers = append(callers, c)
	}
	if n, err := readAnswer(callers[0]); err != nil || n != length {
		t.Errorf("%d bytes: %v", n, err)
	}
	if n, err := readAnswer(callers[1]); err == nil || n == length {
		t.Errorf("%d bytes were taken for all", n)
	}
	s.wantCalls(2)
}

// TestCallersWhoReadNothing take the memory that spools share, and a segment each; others get their answers meanwhile.
func TestCallersWhoReadNothing(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 4<<20/16)
	s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
	s.h.Unsent = express.NewUnsent(16 << 20)
	before := inUse()
	for i := range 100 {
		c, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /%d HTTP/1.1\r\nHost: api.test\r\n\r\n", i)
	}
	waittest.Until(t, "all to be asked for", func() bool { return s.calls.Load() == 100 })
	for i := range 3 {
		if a := s.get(fmt.Sprint("/a", i)); a.err != nil || a.body != string(body) {
			t.Errorf("%d bytes: %v", len(a.body), a.err)
		}
	}
	runtime.GC()                                  // callers hold nothing of the bodies that nothing refers to
	if more := inUse() - before; more > 128<<20 { // 400 MiB of bodies, each here and in the test
		t.Errorf("%d MiB more", more>>20)
	}
}

// TestABodyIsCountedThatIsStoredWhileItsReaderWaits: the reader is in the middle of a write then, or has not begun.
func TestABodyIsCountedThatIsStoredWhileItsReaderWaits(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("0123456789abcdef", 4<<20/16)
	for _, first := range []int{0, 1 << 20} { // bytes of the body before the reader reads the head
		s := newWorld(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Cache-Control", "max-age=60")
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
		})
		s.h.Unsent = express.NewUnsent(6 << 20)
		s.get("/b")
		c, err := s.front.dial(t.Context(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, "GET /a HTTP/1.1\r\nHost: api.test\r\n\r\n")
		if _, err := io.CopyN(io.Discard, c, int64(first)); err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, "the body to be stored", func() bool { return s.calls.Load() == 2 && s.h.flights.len() == 0 })
		if a := s.get("/a"); a.status != http.StatusOK || a.body != body {
			t.Errorf("the same body: %d, %d bytes, %v", a.status, len(a.body), a.err)
		}
		if a := s.get("/b"); a.status != http.StatusServiceUnavailable {
			t.Errorf("another body, for which there is no memory: %d", a.status)
		}
		if a := s.get("/c"); a.status != http.StatusOK || a.body != body {
			t.Errorf("a body that arrives: %d, %d bytes, %v", a.status, len(a.body), a.err)
		}
		_ = c.Close()
		waittest.Until(t, "the memory to be given back", func() bool { return s.get("/b").status == http.StatusOK })
	}
}

// len is how many flights others can join.
func (s *flights) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byKey)
}

// waiting is how many callers all flights have.
func (s *flights) waiting() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.byKey {
		f.mu.Lock()
		n += f.readers.N()
		f.mu.Unlock()
	}
	return n
}

// TestTheFirstByteForAFollower of a body that is slow in coming is there within five milliseconds.
func TestTheFirstByteForAFollower(t *testing.T) {
	longtest.Story(t)
	end := make(chan struct{})
	s := newStand(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprint(w, "first")
		_ = http.NewResponseController(w).Flush()
		<-end
	})
	var took []time.Duration
	for range 101 {
		began := time.Now()
		resp, err := s.do(http.MethodGet, "/a", "")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	close(end)
	took = took[1:]
	slices.Sort(took)
	t.Logf("first byte: median %s, most %s", took[len(took)/2], took[len(took)-1])
	if took[len(took)/2] > 5*time.Millisecond {
		t.Errorf("the first byte after %s", took[len(took)/2])
	}
	s.wantCalls(1)
}

// TestARangeOfALargeBodyThatComesWhole, as from an origin that has no ranges: up to there nobody reads it.
func TestARangeOfALargeBodyThatComesWhole(t *testing.T) {
	for _, control := range []string{"max-age=60", "private"} {
		synctest.Test(t, func(t *testing.T) {
			const length = 24 << 20
			s := newWorld(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Cache-Control", control)
				w.Header().Set("Content-Length", fmt.Sprint(length))
				_, _ = io.CopyN(w, zeros{}, length)
			})
			for range 2 {
				if a := s.get("/a", fmt.Sprintf("Range: bytes=%d-", length-10)); a.err != nil || len(a.body) != 10 {
					t.Errorf("%s: %d bytes after %v: %v", control, len(a.body), a.took, a.err)
				}
			}
		})
	}
}
