package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"github.com/redis/go-redis/v9"

	"sundry/cache/far/redistest"
)

// caller is a client that keeps its connection, never sends a request twice,
// and leaves the connection when it is told to. Unlike http.Client it hides
// nothing.
type caller struct {
	addr string
	tls  *tls.Config // nil means none
	conn net.Conn
	in   *bufio.Reader
}

// errRefused means that nobody listens any more, which costs no request.
var errRefused = errors.New("nobody listens")

func (c *caller) ask(ctx context.Context, path string) (resp *http.Response, err error) {
	if c.conn == nil {
		if c.conn, err = c.dial(ctx); errors.Is(err, syscall.ECONNREFUSED) || ctx.Err() != nil {
			return nil, errRefused
		}
		if err != nil {
			return nil, err
		}
		c.in = bufio.NewReader(c.conn)
	}
	if _, err := fmt.Fprintf(c.conn, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path); err != nil {
		return nil, fmt.Errorf("send: %w", err)
	}
	if resp, err = http.ReadResponse(c.in, nil); err != nil {
		return nil, fmt.Errorf("receive: %w", err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	if resp.Close {
		c.leave()
	}
	return resp, nil
}

func (c *caller) dial(ctx context.Context) (net.Conn, error) {
	if c.tls != nil {
		return (&tls.Dialer{Config: c.tls}).DialContext(ctx, "tcp", c.addr)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", c.addr)
}

func (c *caller) leave() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// crowd is what keep-alive clients saw until the server was gone.
type crowd struct {
	path                     string // "": of the test's own endpoint, a third of it new
	tls                      *tls.Config
	wg                       sync.WaitGroup
	answers, closed, refused atomic.Int64
	answersOf                [drained]atomic.Int64
}

// call sends requests one after the other until nobody listens, or the client
// was told to leave after balancer said so. Every third request is one that
// nothing is cached for.
func (c *crowd) call(ctx context.Context, t *testing.T, addr string, n int, balancer func() (away bool)) {
	one := &caller{addr: addr, tls: c.tls}
	defer one.leave()
	for i := 0; one.conn != nil || !balancer(); i++ {
		path := cmp.Or(c.path, "/api/own")
		if c.path == "" && i%3 == 0 {
			path = fmt.Sprintf("/api/own?id=%d", n*1000+i+1)
		}
		resp, err := one.ask(ctx, path)
		switch {
		case errors.Is(err, errRefused):
			c.refused.Add(1)
			return
		case err != nil || resp.StatusCode != http.StatusOK:
			t.Errorf("client %d, request %d: %v %v", n, i, resp, err)
			return
		}
		c.answers.Add(1)
		c.answersOf[n].Add(1)
		if resp.Close {
			c.closed.Add(1)
		}
		if n%4 == 0 { // now and then a connection rests
			time.Sleep(time.Duration(n+i%7) * time.Millisecond)
		}
	}
}

const drained = 40

// waitForAll waits until each client has got answers again: one whose attempt to connect
// got lost tries again after a second.
func (c *crowd) waitForAll(t *testing.T) {
	t.Helper()
	var before [drained]int64
	for n := range before {
		before[n] = c.answersOf[n].Load()
	}
	waittest.Until(t, "answers for every client", func() bool {
		for n := range before {
			if c.answersOf[n].Load() < before[n]+3 {
				return t.Failed()
			}
		}
		return true
	})
}

// gather starts the crowd and waits until it is at work.
func gather(ctx context.Context, t *testing.T, p *instance, balancer func() bool) *crowd {
	t.Helper()
	c := &crowd{}
	c.gather(ctx, t, p, balancer)
	return c
}

// gather starts the crowd and waits until it is at work.
func (c *crowd) gather(ctx context.Context, t *testing.T, p *instance, balancer func() bool) {
	t.Helper()
	for n := range drained {
		c.wg.Go(func() { c.call(ctx, t, strings.TrimPrefix(p.public, "http://"), n, balancer) })
	}
	waittest.Until(t, "the load", func() bool { return c.answers.Load() > 20*drained || t.Failed() })
}

// TestDrainFailsNobody ends the server in the middle of load, behind a balancer
// that asks for its readiness: no request is lost, none refused.
func TestDrainFailsNobody(t *testing.T) {
	u := newUpstream(t)
	u.takes.Store(int64(5 * time.Millisecond))
	p := serveWith(t, map[string]string{"SUNDRY_DRAIN_DELAY": "700ms"}, "--catalog", catalogDir(t, u, "ttl: 1h"))
	var away atomic.Bool
	c := gather(t.Context(), t, p, away.Load)
	p.stop()
	for _, base := range []string{p.public, p.admin} {
		waittest.Until(t, "not ready", func() bool {
			status, _, body, err := get(base + "/readyz")
			if err != nil {
				t.Fatalf("nobody answers any more: %v", err)
			}
			return status == http.StatusServiceUnavailable && body == "draining\n"
		})
	}
	before := c.answers.Load()
	waittest.Until(t, "requests are answered while draining", func() bool { return c.answers.Load() > before+drained })
	if status, _, _, err := get(p.public + "/healthz"); err != nil || status != http.StatusOK {
		t.Errorf("while draining it lives: %d %v", status, err)
	}
	away.Store(true)
	c.wg.Wait()
	http.DefaultClient.CloseIdleConnections()
	p.end()
	if c.refused.Load() > 0 || c.closed.Load() < drained {
		t.Errorf("%d answers, %d connections refused, %d closed with notice", c.answers.Load(), c.refused.Load(), c.closed.Load())
	}
}

// TestStopWithoutDelayFailsNobody: clients that nothing keeps from coming back
// are refused in the end, and lose no request before.
func TestStopWithoutDelayFailsNobody(t *testing.T) {
	u := newUpstream(t)
	u.takes.Store(int64(5 * time.Millisecond))
	p := serve(t, "--catalog", catalogDir(t, u, "ttl: 1h"))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	c := gather(ctx, t, p, func() bool { return false })
	p.end()
	stop() // whoever still waits for a connection
	c.wg.Wait()
	if c.refused.Load() != drained {
		t.Errorf("%d of %d clients were refused in the end", c.refused.Load(), drained)
	}
}

// rest is a connection on which nothing happens for now.
func rest(t *testing.T, p *instance, path string) *caller {
	t.Helper()
	c := &caller{addr: strings.TrimPrefix(p.public, "http://")}
	t.Cleanup(c.leave)
	if resp, err := c.ask(t.Context(), path); err != nil || resp.StatusCode != http.StatusOK || resp.Close {
		t.Fatalf("%v %v", resp, err)
	}
	return c
}

// TestConnectionsThatRestGetALastCall: what is sent on them after the listener
// closed is answered, and only those that go on resting are closed.
func TestConnectionsThatRestGetALastCall(t *testing.T) {
	t.Parallel()
	p := serveWith(t, onlyIn(t, "60s"), "--replay")
	wakes, sleeps := rest(t, p, "/healthz"), rest(t, p, "/healthz")
	p.stop()
	waittest.Until(t, "the listener is closed", func() bool {
		conn, err := net.DialTimeout("tcp", wakes.addr, time.Second)
		if err == nil {
			conn.Close()
		}
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	if resp, err := wakes.ask(t.Context(), "/api/60s"); err != nil || resp.StatusCode != http.StatusOK || !resp.Close {
		t.Errorf("the last call: %v %v", resp, err)
	}
	if _, err := sleeps.in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("of a connection that rests: %v", err)
	}
	p.end()
}

// TestDrainIsBounded: a request that takes longer than drain_timeout is cut
// off, and the end is an error.
func TestDrainIsBounded(t *testing.T) {
	u := newUpstream(t)
	u.takes.Store(int64(3 * time.Second))
	p := serveWith(t, map[string]string{"SUNDRY_DRAIN_TIMEOUT": "1500ms"}, "--catalog", catalogDir(t, u, "ttl: 1h"))
	go func() { _, _, _, _ = get(p.public + "/api/own") }()
	waittest.Until(t, "the call", func() bool { return u.calls.Load() == 1 })
	begun := time.Now()
	p.stop()
	err := <-p.done
	close(p.done)
	if took := time.Since(begun); err == nil || !strings.Contains(err.Error(), "drain_timeout exceeded: 1 connections with requests in flight were cut off") || took > 2500*time.Millisecond {
		t.Errorf("%v after %s", err, took)
	}
}

// TestSecondSignalEndsAtOnce sends the program, a process of its own, SIGTERM
// twice: it ends with status 1, and says why.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	u.takes.Store(int64(time.Minute))
	dir := catalogDir(t, u, "ttl: 1h")
	cfg := write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\n"+only())
	cmd, log := start(t, "serve --listen 127.0.0.1:0 --admin 127.0.0.1:0 --config "+cfg+" --catalog "+dir)
	cmd.Env = append(cmd.Env, "SUNDRY_DRAIN_DELAY=1m")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the server listens", func() bool { return listening.MatchString(log.String()) })
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		_, _, _, _ = get("http://" + listening.FindStringSubmatch(log.String())[1] + "/api/own")
	}()
	waittest.Until(t, "the call", func() bool { return u.calls.Load() == 1 })
	for _, sign := range []string{"msg=draining", "second signal"} {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		waittest.Until(t, sign, func() bool { return strings.Contains(log.String(), sign) })
	}
	_ = cmd.Wait()
	<-asked
	if status := cmd.ProcessState.ExitCode(); status != 1 || !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("exit status %d\n%s", status, log)
	}
}

// redisKeys are the keys of the endpoint own that Redis holds, and of those the
// records of failures.
func redisKeys(t *testing.T, srv *redistest.Server) (entries, failures, leases []string) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: srv.Addr})
	defer client.Close()
	keys, err := client.Keys(context.Background(), "*own:*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		switch {
		case strings.Contains(key, "lease:"):
			leases = append(leases, key)
		case strings.Contains(key, "failed:"):
			failures = append(failures, key)
		default:
			entries = append(entries, key)
		}
	}
	return entries, failures, leases
}

// TestStoppedWhileItWaitsForALease: an instance that is stopped while another
// one fills has asked nobody. That is no answer, and no failure either.
func TestStoppedWhileItWaitsForALease(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	u := newUpstream(t)
	dir := catalogDir(t, u, "ttl: 1h, negative: 1h, stale_if_error: 1d")
	config := write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\nlimits: {queue_delay: 0s}\ndrain_timeout: 100ms\n"+only())
	settings := []string{"--config", config, "--catalog", dir, "--redis", patient(srv.URL())}
	u.takes.Store(int64(1500 * time.Millisecond))
	one, two := serve(t, settings...), serve(t, settings...)
	var calls sync.WaitGroup
	calls.Go(func() { _, _, _, _ = get(one.public + "/api/own?id=1") })
	waittest.Until(t, "the lease of the first", func() bool { _, _, leases := redisKeys(t, srv); return len(leases) == 1 && u.calls.Load() == 1 })
	calls.Go(func() { _, _, _, _ = get(two.public + "/api/own?id=1") })
	waittest.Until(t, "the second waits", func() bool {
		_, body := mustGet(t, two.admin+"/metrics")
		return strings.Contains(body, "\nsundry_cache_fills_running 1\n")
	})
	two.kill(t)
	if entries, failures, _ := redisKeys(t, srv); len(entries)+len(failures) > 0 {
		t.Errorf("left in Redis: %v %v", entries, failures)
	}
	calls.Wait()
	waittest.Until(t, "the entry of the first", func() bool { entries, _, _ := redisKeys(t, srv); return len(entries) == 1 })
	if u.calls.Load() != 1 {
		t.Errorf("%d calls upstream, want one", u.calls.Load())
	}
	_, body := mustGet(t, one.public+"/api/own?id=1")
	if !strings.Contains(body, `"id":"1"`) {
		t.Error(body)
	}
}

// TestStoppedAtAnyMomentOfAFill leaves nothing wrong in Redis: what the next
// instance finds there is an answer that the upstream gave, or nothing.
func TestStoppedAtAnyMomentOfAFill(t *testing.T) {
	srv := redistest.Start(t)
	u := newUpstream(t)
	dir := catalogDir(t, u, "ttl: 1h, negative: 1h, stale_if_error: 1d")
	config := write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\nlimits: {rate: 0, queue_delay: 0s}\ndrain_timeout: 1ms\n"+only())
	settings := []string{"--config", config, "--catalog", dir, "--redis", patient(srv.URL())}
	const rounds, each = 12, 8
	u.takes.Store(int64(20 * time.Millisecond))
	for round := range rounds {
		p := serve(t, settings...)
		var calls sync.WaitGroup
		for i := range each {
			calls.Go(func() { _, _, _, _ = get(fmt.Sprintf("%s/api/own?id=%d", p.public, round*each+i+1)) })
		}
		moment := time.NewTimer(time.Duration(rand.Int64N(int64(40 * time.Millisecond))))
		<-moment.C
		p.kill(t)
		calls.Wait()
	}
	if _, failures, _ := redisKeys(t, srv); len(failures) > 0 {
		t.Errorf("records of failures: %v", failures)
	}
	u.takes.Store(0)
	before := u.calls.Load()
	p := serve(t, settings...)
	fromRedis := 0
	for id := range rounds * each {
		status, header, body, err := get(fmt.Sprintf("%s/api/own?id=%d", p.public, id+1))
		if err != nil || status != http.StatusOK || !strings.Contains(body, fmt.Sprintf(`"id":"%d"`, id+1)) {
			t.Errorf("id %d: %d %s %v", id+1, status, body, err)
		}
		if strings.Contains(header.Get("Cache-Status"), "detail=redis") {
			fromRedis++
		}
	}
	if asked := u.calls.Load() - before; asked+int64(fromRedis) != rounds*each {
		t.Errorf("%d were asked for, %d came from Redis, of %d", asked, fromRedis, rounds*each)
	}
	t.Logf("%d of %d fills had landed before the end", fromRedis, rounds*each)
}

func TestDrain(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	u.takes.Store(int64(300 * time.Millisecond))
	p := serve(t, "--catalog", catalogDir(t, u, "ttl: 1m"))
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if status, _, body, err := get(fmt.Sprintf("%s/api/own?id=%d", p.public, i+1)); err != nil || status != 200 {
				t.Errorf("a request in flight ended with %d %s %v", status, body, err)
			}
		})
	}
	waittest.Until(t, "all calls are on their way", func() bool { return u.calls.Load() == 20 })
	p.end()
	wg.Wait()
	if _, _, _, err := get(p.public + "/api/own"); err == nil {
		t.Error("a stopped server answers")
	}
}

// TestADrainingInstanceKeepsUpWithOperators: it still answers clients, so that what operators have set for a time ends then.
func TestADrainingInstanceKeepsUpWithOperators(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	p := serveWith(t, map[string]string{"SUNDRY_DRAIN_DELAY": "4s"}, "--catalog", catalogDir(t, u, "ttl: 1h"))
	host := strings.TrimPrefix(u.URL, "http://")
	held := func() any {
		for _, h := range p.mustAsk(http.MethodGet, "upstreams", "")["hosts"].([]any) {
			if h := h.(map[string]any); h["name"] == host {
				return h["force"]
			}
		}
		return nil
	}
	p.mustAsk(http.MethodPost, "upstreams/"+host, `{"do":"closed","for":"1s"}`)
	if was := held(); was != "closed" {
		t.Fatalf("held %v", was)
	}
	p.stop()
	waittest.Until(t, "the end of the hold", func() bool { return held() == "auto" })
	p.end()
}
