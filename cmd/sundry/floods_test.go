package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"sundry/upstreams/lib/waittest"
)

// victim is a program that speaks TLS, for tests that measure it.
type victim struct {
	*sibling
	address string
	trust   *x509.CertPool
}

// attacked starts one with a limit of open files; 0 means that of the test.
func attacked(t *testing.T, files int, settings string, args ...string) *victim {
	t.Helper()
	dir := t.TempDir()
	a := &victim{trust: certificate(t, dir, secureHost)}
	pair := fmt.Sprintf("tls: {cert: %s, key: %s}\n", filepath.Join(dir, "fullchain.pem"), filepath.Join(dir, "privkey.pem"))
	a.sibling = startLimited(t, files, pair+settings, args...)
	a.address = strings.TrimPrefix(a.public, "http://")
	return a
}

// answers reports whether another client gets an answer.
func (a *victim) answers(t *testing.T, path string) {
	t.Helper()
	protocols := &http.Protocols{}
	protocols.SetHTTP2(true)
	c := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		Protocols: protocols, DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: a.trust, ServerName: secureHost},
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.9")}}).DialContext,
	}}
	resp, err := c.Get("https://" + a.address + path)
	if err != nil {
		t.Fatalf("another client: %v", err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("another client: status %d", resp.StatusCode)
	}
}

func (a *victim) number(series string) float64 {
	a.t.Helper()
	v, err := strconv.ParseFloat(a.metric(series), 64)
	if err != nil {
		a.t.Fatal(err)
	}
	return v
}

// live returns how many bytes of the heap are in use once garbage is collected.
func (a *victim) live() float64 {
	a.t.Helper()
	mustGet(a.t, a.admin+"/debug/pprof/heap?gc=1")
	return a.number("go_memstats_heap_alloc_bytes")
}

// rawHTTP2 is a client that writes frames as a test wants them.
type rawHTTP2 struct {
	*http2.Framer
	conn   *tls.Conn
	block  bytes.Buffer
	hpack  *hpack.Encoder
	stream uint32
}

// dialHTTP2 opens a connection, with the first settings sent.
func (a *victim) dialHTTP2(t *testing.T, settings ...http2.Setting) *rawHTTP2 {
	t.Helper()
	nc, err := net.Dial("tcp", a.address)
	if err != nil {
		t.Fatal(err)
	}
	_ = nc.(*net.TCPConn).SetReadBuffer(4 << 10) // what nobody reads soon fills it
	c := tls.Client(nc, &tls.Config{RootCAs: a.trust, ServerName: secureHost, NextProtos: []string{"h2"}})
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	h := &rawHTTP2{Framer: http2.NewFramer(c, c), conn: c, stream: 1}
	h.AllowIllegalWrites = true
	h.hpack = hpack.NewEncoder(&h.block)
	_, err = io.WriteString(c, http2.ClientPreface)
	if err == nil {
		err = h.WriteSettings(settings...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// headers encodes the fields of a request for a path.
func (h *rawHTTP2) headers(path string, more ...hpack.HeaderField) []byte {
	h.block.Reset()
	for _, f := range append([]hpack.HeaderField{{Name: ":method", Value: "GET"}, {Name: ":scheme", Value: "https"}, {Name: ":authority", Value: secureHost}, {Name: ":path", Value: path}}, more...) {
		_ = h.hpack.WriteField(f) // to a buffer
	}
	return h.block.Bytes()
}

// open sends a request, and returns its stream.
func (h *rawHTTP2) open(path string) (stream uint32, err error) {
	stream = h.stream
	h.stream += 2
	return stream, h.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: h.headers(path), EndHeaders: true, EndStream: true})
}

// discard reads what the server sends until it ends the connection.
func (h *rawHTTP2) discard() { _, _ = io.Copy(io.Discard, h.conn) }

// TestFloodsOfHTTP2 are tried against the running program. It ends the connection, or holds no more than the limits of one allow; other
// clients are served meanwhile.
func TestFloodsOfHTTP2(t *testing.T) {
	t.Parallel()
	const path = "/api/qrcode?text="
	const frames = 50_000
	large := strings.Repeat("x", 16<<10)
	floods := map[string]func(h *rawHTTP2) error{
		// CVE-2023-44487
		"rapid reset": func(h *rawHTTP2) error {
			go h.discard()
			for i := range frames {
				stream, err := h.open(path + strconv.Itoa(i))
				if err == nil {
					err = h.WriteRSTStream(stream, http2.ErrCodeCancel)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
		// CVE-2023-45288
		"continuation": func(h *rawHTTP2) error {
			go h.discard()
			err := h.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: h.headers(path), EndStream: true})
			for i := 0; i < frames && err == nil; i++ {
				h.block.Reset()
				_ = h.hpack.WriteField(hpack.HeaderField{Name: "x-" + strconv.Itoa(i), Value: large[:8<<10], Sensitive: true})
				err = h.WriteContinuation(1, false, h.block.Bytes())
			}
			return err
		},
		// A header of 64 MiB in 20 kB: an entry of the table is named again and again.
		"header list": func(h *rawHTTP2) error {
			go h.discard()
			bomb := append(bytes.Clone(h.headers(path, hpack.HeaderField{Name: "x", Value: large[:3<<10]})), bytes.Repeat([]byte{0x80 | 62}, 15<<10)...)
			var err error
			for stream := uint32(1); stream < 400 && err == nil; stream += 2 {
				err = h.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: bomb[:12<<10], EndStream: true})
				if err == nil {
					err = h.WriteContinuation(stream, true, bomb[12<<10:])
				}
				bomb = bytes.Repeat([]byte{0x80 | 62}, 15<<10)
			}
			return err
		},
		// The server reads no more until its answer to one is written.
		"settings, and nothing is read": func(h *rawHTTP2) error {
			_ = h.conn.SetWriteDeadline(time.Now().Add(time.Second))
			for range 20 * frames {
				if err := h.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 16}); err != nil {
					return err
				}
			}
			return nil
		},
		"pings, and nothing is read": func(h *rawHTTP2) error {
			_ = h.conn.SetWriteDeadline(time.Now().Add(2 * time.Second))
			for range 20 * frames {
				if err := h.WritePing(false, [8]byte{}); err != nil {
					return err
				}
			}
			return nil
		},
		"empty data frames": func(h *rawHTTP2) error {
			go h.discard()
			err := h.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: h.headers("/mcp"), EndHeaders: true})
			for i := 0; i < 2*frames && err == nil; i++ {
				err = h.WriteData(1, false, nil)
			}
			return err
		},
		"streams without a window": func(h *rawHTTP2) error {
			err := h.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
			for i := 0; i < 1000 && err == nil; i++ {
				_, err = h.open(path + "a")
			}
			return err
		},
		"responses that nobody reads": func(h *rawHTTP2) error {
			err := h.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<31 - 1})
			if err == nil {
				err = h.WriteWindowUpdate(0, 1<<31-1-65535)
			}
			for i := 0; i < 1000 && err == nil; i++ {
				_, err = h.open("/docs")
			}
			return err
		},
	}
	a := attacked(t, 0, only("qrcode"), "--replay")
	a.answers(t, path+"a")
	goroutines, memory := a.number("go_goroutines"), a.live()
	for name, flood := range floods {
		t.Run(name, func(t *testing.T) {
			var ended []error
			const attackers = 2
			for range attackers {
				h := a.dialHTTP2(t)
				ended = append(ended, flood(h))
				a.answers(t, path+"a")
			}
			now := a.number("go_goroutines")
			t.Logf("%s: %d goroutines more, the connections: %v", name, int(now-goroutines), ended)
			if name == "continuation" && slices.Contains(ended, nil) {
				t.Error("the connections were not ended")
			}
			const each = 2 // goroutines of a stream: its handler, and what fills the cache
			if now > goroutines+attackers*(100*each+10) {
				t.Errorf("%v goroutines, %v before", now, goroutines)
			}
			waittest.Until(t, "the memory of the requests to be given back", func() bool { return a.live() <= memory+attackers*(8<<20) })
		})
	}
	waittest.Until(t, "nothing is left of the attacks", func() bool { return a.number("go_goroutines") <= goroutines+10 })
}

// TestResetRequestsThatTakeLong: their work ends with their streams, whether or not net/http ends the connection because too many wait to
// begin.
func TestResetRequestsThatTakeLong(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	u.takes.Store(int64(time.Hour))
	a := attacked(t, 0, "", "--catalog", catalogDir(t, u, "ttl: 1h"))
	before := a.number("go_goroutines")
	h := a.dialHTTP2(t)
	reading := make(chan struct{})
	go func() { defer close(reading); h.discard() }()
	var err error
	for i := 0; i < 100_000 && err == nil; i++ {
		var stream uint32
		if stream, err = h.open("/api/own?id=" + strconv.Itoa(i)); err == nil {
			err = h.WriteRSTStream(stream, http2.ErrCodeCancel)
		}
	}
	t.Logf("the connection: %v", err)
	if now := a.number("go_goroutines"); now > before+2000 {
		t.Errorf("%v goroutines, %v before", now, before)
	}
	_ = h.conn.Close()
	<-reading
	waittest.Until(t, "nothing is left of the attack", func() bool { return a.number("go_goroutines") <= before+20 })
}

// TestStreamsShareTheRateOfTheirClient: a connection with many streams has no more requests than one client.
func TestStreamsShareTheRateOfTheirClient(t *testing.T) {
	t.Parallel()
	s := serveSecurely(t, "limits: {rate: 1, burst: 5, queue_delay: 0s}\n"+only("qrcode"), "--replay")
	c := s.client(t, true)
	statuses := make(chan int, 50)
	for i := range cap(statuses) {
		go func() {
			resp, err := c.Get("https://" + s.address() + "/api/qrcode?text=" + strconv.Itoa(i))
			if err != nil {
				statuses <- 0
				return
			}
			_ = resp.Body.Close()
			statuses <- resp.StatusCode
		}()
	}
	count := map[int]int{}
	for range cap(statuses) {
		count[<-statuses]++
	}
	// Some of the first may be refused because too many are drawn at once.
	if count[http.StatusOK] == 0 || count[http.StatusTooManyRequests] < cap(statuses)-10 || count[0] > 0 {
		t.Errorf("responses by status: %v", count)
	}
}

// TestHandshakesThatDoNotEnd count against the limit of connections, and are closed first: others are served.
func TestHandshakesThatDoNotEnd(t *testing.T) {
	t.Parallel()
	a := attacked(t, descriptors, only("qrcode"), "--replay")
	for i := range 300 {
		c := dialFrom(t, oneOf(i), a.public)
		if i%2 == 0 {
			_, _ = c.Write([]byte{22, 3, 1, 2, 0, 1, 0, 1, 252}) // the beginning of a handshake
		}
		if i%50 == 0 {
			a.answers(t, "/api/qrcode?text=a")
		}
	}
	if open, most := a.number("sundry_connections"), a.number("sundry_connections_limit"); open > most {
		t.Errorf("%v connections are open, the limit is %v", open, most)
	}
	if a.number("sundry_connection_evictions_total") == 0 {
		t.Error("none was closed to make room")
	}
	waittest.Until(t, "all are cut by the time for a handshake", func() bool { return a.number("sundry_connections") == 0 })
}

// TestOneClientsHandshakes are limited to its share of connections.
func TestOneClientsHandshakes(t *testing.T) {
	t.Parallel()
	a := attacked(t, descriptors, only("qrcode"), "--replay")
	for range 200 {
		dialFrom(t, "127.0.0.1", a.public)
	}
	if open, most := a.number("sundry_connections"), a.number("sundry_connections_limit"); open > most/2+1 {
		t.Errorf("one client has %v of %v connections", open, most)
	}
	a.answers(t, "/api/qrcode?text=a")
}
