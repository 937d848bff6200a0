package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// attacker and bystander are the addresses of two clients.
const (
	attacker  = "127.0.0.2"
	bystander = "127.0.0.3"
)

// dialFrom opens a connection of the client with an address. It skips the test where loopback has but one.
func dialFrom(t *testing.T, client, public string) kept {
	t.Helper()
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}, Timeout: 5 * time.Second}
	c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(public, "http://"))
	if err != nil && strings.Contains(err.Error(), "assign requested address") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return kept{c, bufio.NewReader(c)}
}

// getFrom requests a path as a client with an address, and returns the response and its body.
func getFrom(t *testing.T, client, public, path string) (*http.Response, string) {
	t.Helper()
	k := dialFrom(t, client, public)
	defer k.Close()
	_ = k.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = fmt.Fprintf(k, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, clientName)
	resp, err := http.ReadResponse(k.answers, nil)
	if err != nil {
		t.Fatalf("%s for %s: %v", path, client, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s for %s: %v", path, client, err)
	}
	return resp, string(body)
}

// wantServed requires that a client gets what takes a slot of the origin, and that operators get theirs.
func wantServed(t *testing.T, client, public, admin string, paths ...string) {
	t.Helper()
	for _, path := range append(paths, "/healthz") {
		if resp, body := getFrom(t, client, public, path); resp.StatusCode != http.StatusOK {
			t.Errorf("%s for another client: %d %s", path, resp.StatusCode, body)
		}
	}
	for range 3 {
		mustGet(t, admin+"/metrics")
	}
}

// echo is an origin that changes to the protocol echo, and answers all else with a body that may be stored.
func echo(t *testing.T) string {
	t.Helper()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "echo" {
			w.Header().Set("Cache-Control", "max-age=60")
			_, _ = io.Copy(w, io.MultiReader(strings.NewReader("plain"), r.Body))
			return
		}
		conn, in, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		_, _ = io.Copy(conn, in)
	}))
	t.Cleanup(origin.Close)
	return origin.URL
}

// upgrade is a request for the protocol echo.
const upgrade = "GET /echo HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n"

// openTunnel opens a tunnel, and reports whether it could.
func openTunnel(t *testing.T, client, public string) (k kept, ok bool) {
	t.Helper()
	k = dialFrom(t, client, public)
	_ = k.SetDeadline(time.Now().Add(5 * time.Second))
	fmt.Fprint(k, upgrade+"\r\n")
	resp, err := http.ReadResponse(k.answers, nil)
	return k, err == nil && resp.StatusCode == http.StatusSwitchingProtocols
}

// TestTunnelsOfOneClient take no descriptor that others need, and are counted until they end.
func TestTunnelsOfOneClient(t *testing.T) {
	t.Parallel()
	m := startLimited(t, descriptors, "", "--to", echo(t))
	var open []kept
	for range descriptors / 2 {
		if k, ok := openTunnel(t, attacker, m.public); ok {
			open = append(open, k)
		}
	}
	counted, _ := strconv.Atoi(m.metric("sundry_connections"))
	if len(open) == 0 || counted < len(open) {
		t.Errorf("%d connections are counted, %d tunnels are open", counted, len(open))
	}
	wantServed(t, bystander, m.public, m.admin, "/a", "/b", "/c")
	if _, ok := openTunnel(t, bystander, m.public); !ok {
		t.Error("another client gets no tunnel")
	}
	for _, k := range open {
		_ = k.Close()
	}
	waittest.Until(t, "the tunnels to be gone", func() bool {
		n, _ := strconv.Atoi(m.metric("sundry_connections"))
		return n < 5
	})
	if _, ok := openTunnel(t, attacker, m.public); !ok {
		t.Error("the client gets no tunnel after it has closed the others")
	}
}

// TestIdleTunnelsEnd, on both sides, and those in use do not.
func TestIdleTunnelsEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "echo.yaml", "version: 1\nname: echo\nproxy: {to: '"+echo(t)+"', hosts: [localhost], timeouts: {tunnel: 300ms}}\n")
	p := serve(t, "--catalog", dir)
	used, ok := openTunnel(t, attacker, p.public)
	idle, ok2 := openTunnel(t, attacker, p.public)
	if !ok || !ok2 {
		t.Fatal("no tunnel")
	}
	ended := make(chan error, 1)
	go func() {
		_, err := idle.answers.ReadByte()
		ended <- err
	}()
	for n := 0; ; n++ {
		select {
		case err := <-ended:
			if !errors.Is(err, io.EOF) || n < 2 {
				t.Errorf("after %d messages on another tunnel, an idle one ended with %v", n, err)
			}
			if n < 100 { // for some while longer
				ended <- err
				break
			}
			return
		default:
		}
		fmt.Fprintln(used, n)
		if line, err := used.answers.ReadString('\n'); err != nil || line != fmt.Sprintln(n) {
			t.Fatalf("%q, %v on a tunnel in use", line, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestBytesBeforeTheSwitch reach the origin: some clients do not wait for the 101.
func TestBytesBeforeTheSwitch(t *testing.T) {
	t.Parallel()
	p := serve(t, "--to", echo(t))
	for _, early := range []string{"E", "EARLY", strings.Repeat("long", 10_000)} {
		k := dialFrom(t, attacker, p.public)
		_ = k.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprint(k, upgrade+"\r\n"+early)
		resp, err := http.ReadResponse(k.answers, nil)
		if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
			t.Fatal(resp, err)
		}
		fmt.Fprint(k, "LATER")
		got := make([]byte, len(early)+len("LATER"))
		if n, err := io.ReadFull(k.answers, got); err != nil || string(got) != early+"LATER" {
			t.Errorf("%d bytes of %d: %.20q…, %v", n, len(got), got, err)
		}
	}
}

// TestAnUpgradeWithABody is a request like another one: its body is read, and no tunnel is made.
func TestAnUpgradeWithABody(t *testing.T) {
	t.Parallel()
	p := serve(t, "--to", echo(t))
	for _, framing := range []string{"Content-Length: 4\r\n\r\nbody", "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"} {
		k := dialFrom(t, attacker, p.public)
		_ = k.SetDeadline(time.Now().Add(5 * time.Second))
		fmt.Fprint(k, upgrade+framing)
		resp, err := http.ReadResponse(k.answers, nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(framing, resp, err)
		}
		if body, err := io.ReadAll(resp.Body); string(body) != "plainbody" {
			t.Errorf("%q: %q %v", framing, body, err)
		}
	}
}

// smallLimits let 40 requests wait.
const smallLimits = "limits: {rate: 0, queue_delay: 0s, in_flight: 40, in_flight_share: 1}\ncache: {warm: false}\n"

// slowOrigin answers paths that begin with /slow, and ids from 1000 on, when the test ends, and others at once.
func slowOrigin(t *testing.T) (url string, asked *atomic.Int64) {
	t.Helper()
	asked = &atomic.Int64{}
	end := make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if strings.HasPrefix(r.URL.Path, "/slow") || len(r.URL.Query().Get("id")) >= 4 {
			asked.Add(1)
			select {
			case <-end:
			case <-r.Context().Done():
			}
		}
		w.Header().Set("Cache-Control", "no-store")
		fmt.Fprint(w, `{"data": "ok"}`)
	}))
	t.Cleanup(origin.Close)
	t.Cleanup(func() { close(end) })
	return origin.URL, asked
}

// TestSlowRequestsOfOneClient leave places for those of others, be they for an API, the same URL or many, or for an endpoint.
func TestSlowRequestsOfOneClient(t *testing.T) {
	t.Parallel()
	origin, asked := slowOrigin(t)
	p := serve(t, "--config", write(t, t.TempDir(), "small.yaml", smallLimits), "--to", origin)
	for i := range 100 {
		path := [...]string{"/slow", fmt.Sprint("/slow/", i)}[i%2]
		fmt.Fprintf(dialFrom(t, attacker, p.public), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	}
	waittest.Until(t, "some to reach the origin", func() bool { return asked.Load() > 3 })
	wantServed(t, bystander, p.public, p.admin, "/a", "/b", "/c")
}

// TestSlowFillsOfOneClient leave slots of the upstream host for others.
func TestSlowFillsOfOneClient(t *testing.T) {
	t.Parallel()
	origin, asked := slowOrigin(t)
	dir := t.TempDir()
	writeSources(t, dir, "own", "ttl: 1h", `sources: [{name: up, timeout: 20s, http: {url: "`+origin+`/", query: {id: "{id}"}}}]`)
	p := serve(t, "--catalog", dir)
	for i := range 300 {
		fmt.Fprintf(dialFrom(t, attacker, p.public), "GET /api/own?id=%d HTTP/1.1\r\nHost: localhost\r\n\r\n", 1000+i)
	}
	waittest.Until(t, "some to reach the upstream", func() bool { return asked.Load() > 10 })
	wantServed(t, bystander, p.public, p.admin, "/api/own?id=1", "/api/own?id=2")
}

// TestUploadsOfOneClient: a body that has hardly begun to arrive takes no place, whatever its method and its fields, and one
// that arrives too slowly ends.
func TestUploadsOfOneClient(t *testing.T) {
	t.Parallel()
	for name, head := range map[string]string{
		"POST":     "POST /up HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n",
		"chunked":  "PUT /up HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n100\r\n",
		"upgrade":  upgrade + "Content-Length: 5\r\n\r\n",
		"expected": "POST /up HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			origin, _ := slowOrigin(t)
			write(t, dir, "own.yaml", "version: 1\nname: own\nproxy: {to: '"+origin+"', hosts: [localhost], timeouts: {idle: 1s}}\n")
			p := serve(t, "--config", write(t, t.TempDir(), "small.yaml", smallLimits+only()), "--catalog", dir)
			var all []kept
			for range 60 {
				k := dialFrom(t, attacker, p.public)
				fmt.Fprint(k, head+"x")
				all = append(all, k)
			}
			first := all[0]
			stop := make(chan struct{})
			defer close(stop)
			go func() { // for longer than a body may stand still
				for {
					select {
					case <-stop:
						return
					case <-time.After(100 * time.Millisecond):
						fmt.Fprint(first, "x")
					}
				}
			}()
			for i := range 3 {
				if resp, body := getFrom(t, bystander, p.public, fmt.Sprint("/", i)); resp.StatusCode != http.StatusOK {
					t.Errorf("another client: %d %s", resp.StatusCode, body)
				}
			}
			_ = first.SetDeadline(time.Now().Add(10 * time.Second))
			resp, err := http.ReadResponse(first.answers, nil)
			if err == nil && resp.StatusCode == http.StatusContinue {
				resp, err = http.ReadResponse(first.answers, nil)
			}
			if name == "upgrade" || name == "expected" { // the body of five bytes is complete
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Errorf("%v %v", resp, err)
				}
				return
			}
			if err != nil || resp.StatusCode != http.StatusRequestTimeout && resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%v %v, not 408", resp, err)
			}
		})
	}
}

// TestSlowReadersLeaveMemory: what clients read slowly once it is stored keeps nothing from being stored.
func TestSlowReadersLeaveMemory(t *testing.T) {
	t.Parallel()
	const length = 8 << 20
	var asked atomic.Int64
	body := strings.Repeat("0123456789abcdef", length/16)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Cache-Control", "max-age=600")
		if strings.HasPrefix(r.URL.Path, "/large") {
			w.Header().Set("Content-Length", strconv.Itoa(length))
			_, _ = io.WriteString(w, body)
			return
		}
		_, _ = io.WriteString(w, body[:100<<10])
	}))
	t.Cleanup(origin.Close)
	p := serve(t, "--to", origin.URL)
	for i := range 20 {
		fmt.Fprintf(dialFrom(t, fmt.Sprint("127.0.1.", i+1), p.public), "GET /large/%d HTTP/1.1\r\nHost: localhost\r\n\r\n", i)
	}
	waittest.Until(t, "all to reach the origin", func() bool { return asked.Load() == 20 })
	waittest.Until(t, "a response to be stored", func() bool {
		resp, _ := getFrom(t, bystander, p.public, "/small")
		return strings.HasPrefix(resp.Header.Get("Cache-Status"), "sundry; hit")
	})
}

// TestSlowReadersOfOneClient: stored responses that it lets wait are in memory for a quarter of that of the cache, whether or not they are
// stored any more. Others get theirs. Those that have to be requested again arrive as the client reads them: TestSlowReadersLeaveMemory.
func TestSlowReadersOfOneClient(t *testing.T) {
	t.Parallel()
	const length, share = 8 << 20, 64 << 20 / 4
	body := strings.Repeat("0123456789abcdef", length/16)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=600")
		w.Header().Set("Content-Length", strconv.Itoa(length))
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(origin.Close)
	for name, fields := range map[string]string{"fast path": "", "net/http": "Range: bytes=0-\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serveWith(t, map[string]string{"SUNDRY_CACHE_MEMORY": "64MiB"}, "--to", origin.URL)
			var slow []kept
			for i := range 12 {
				path := fmt.Sprint("/", i)
				getFrom(t, bystander, p.public, path) // so that it is stored
				slow = append(slow, dialFrom(t, attacker, p.public))
				fmt.Fprintf(slow[i], "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, fields)
				if _, err := slow[i].answers.Peek(1); err != nil {
					t.Fatal(err)
				}
			}
			if _, got := getFrom(t, bystander, p.public, "/0"); len(got) != length {
				t.Errorf("a bystander gets %d bytes", len(got))
			}
			hits := 0
			for _, k := range slices.Backward(slow) { // those that began first hold the memory until the end
				resp, err := http.ReadResponse(k.answers, nil)
				if err != nil {
					t.Fatal(err)
				}
				n, _ := io.Copy(io.Discard, resp.Body)
				if n == length && strings.HasPrefix(resp.Header.Get("Cache-Status"), "sundry; hit") {
					hits++
				}
			}
			if hits == 0 || hits*length > share {
				t.Errorf("one client gets %d stored bodies of %d bytes, which it does not read", hits, length)
			}
		})
	}
}

// TestLongKeysInRedis: a URL as long as can be sent takes no more memory of Redis than another one.
func TestLongKeysInRedis(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	p := serve(t, "--to", echo(t), "--redis", redis.URL())
	k := dialFrom(t, attacker, p.public)
	const posts = 50
	for i := range posts {
		_ = k.SetDeadline(time.Now().Add(5 * time.Second))
		fmt.Fprintf(k, "POST /%d?%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\nx", i, strings.Repeat("x", 60_000))
		resp, err := http.ReadResponse(k.answers, nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatal(resp, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
	}
	client := goredis.NewClient(&goredis.Options{Addr: redis.Addr})
	t.Cleanup(func() { _ = client.Close() })
	var keys []string
	waittest.Until(t, "the purges to be in Redis", func() bool {
		keys = client.Keys(t.Context(), "*/web:*").Val()
		return len(keys) == posts
	})
	for _, key := range keys {
		if n := client.MemoryUsage(t.Context(), key).Val(); len(key) > 1000 || n > 2000 {
			t.Fatalf("a key of %d bytes takes %d", len(key), n)
		}
	}
}
