package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sundry/upstreams/waittest"

	"go.uber.org/goleak"

	"sundry/cache/far/redistest"

	"sundry/upstreams"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// output collects what a command prints while it runs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func noEnv(string) (string, bool) { return "", false }

// instance is `sundry serve` running in this process.
type instance struct {
	t      testing.TB
	stderr *output
	public string
	admin  string
	stop   context.CancelFunc
	done   chan error
}

var listening = regexp.MustCompile(`msg=serving public=(\S+) admin=(\S+)`)

func serve(t testing.TB, args ...string) *instance {
	t.Helper()
	return serveWith(t, nil, args...)
}

// serveWith adds variables. Nobody is in front of the server that had to hear
// of its end first.
func serveWith(t testing.TB, env map[string]string, args ...string) *instance {
	t.Helper()
	getenv := func(name string) (string, bool) {
		if v, ok := env[name]; ok || name != "SUNDRY_DRAIN_DELAY" {
			return v, ok
		}
		return "0s", true
	}
	return launch(t, &process{getenv: getenv}, args...)
}

// launch serves with a process that gets its end and its outputs here.
func launch(t testing.TB, w *process, args ...string) *instance {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	p := &instance{t: t, stderr: &output{}, stop: stop, done: make(chan error, 1)}
	w.ctx, w.urgent, w.stdout, w.stderr = ctx, context.Background(), io.Discard, p.stderr
	if !slices.Contains(args, "--replay") && !slices.Contains(args, "--config") {
		// Nothing here may ask a real upstream, and warming would. All clients of a
		// test have one address, and share the processors with the server.
		args = append(args, "--config", write(t, t.TempDir(), "cold.yaml", "cache: {warm: false}\nlimits: {rate: 0, queue_delay: 0s}\n"))
	}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)
	go func() { p.done <- execute(w, args) }()
	waittest.Until(t, "the server listens", func() bool {
		m := listening.FindStringSubmatch(p.stderr.String())
		if m == nil {
			return false
		}
		p.public, p.admin = "http://"+m[1], "http://"+m[2]
		return true
	})
	t.Cleanup(p.end)
	return p
}

func (p *instance) end() {
	http.DefaultClient.CloseIdleConnections()
	p.stop()
	select {
	case err, ok := <-p.done:
		if ok && err != nil {
			p.t.Errorf("serve: %v\n%s", err, p.stderr)
		}
		if ok {
			close(p.done)
		}
	case <-time.After(30 * time.Second):
		p.t.Error("the server does not stop")
	}
	http.DefaultClient.CloseIdleConnections()
}

func get(url string) (status int, header http.Header, body string, err error) {
	resp, err := http.Get(url)
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b), err
}

func mustGet(t testing.TB, url string) (http.Header, string) {
	t.Helper()
	status, header, body, err := get(url)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s %v", url, status, body, err)
	}
	return header, body
}

// upstream is a source for catalog files of the tests.
type upstream struct {
	*httptest.Server
	calls atomic.Int64
	takes atomic.Int64
}

func newUpstream(t testing.TB) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.calls.Add(1)
		select {
		case <-time.After(time.Duration(u.takes.Load())):
		case <-r.Context().Done():
		}
		fmt.Fprintf(w, `{"id":%q}`, r.URL.Query().Get("id"))
	}))
	t.Cleanup(u.Close)
	return u
}

// catalogDir holds one endpoint, "own", with the given cache rule.
func catalogDir(t testing.TB, u *upstream, rule string) string {
	t.Helper()
	dir := t.TempDir()
	writeOwn(t, dir, u, rule)
	return dir
}

func writeOwn(t testing.TB, dir string, u *upstream, rule string) {
	t.Helper()
	write(t, dir, "own.yaml", `version: 1
name: own
group: lookups
summary: {en: Own., zh: 自己的}
params: [{name: id, type: int, min: 1, max: 100000, default: "1", example: "1"}]
cache: {class: keyed, `+rule+`}
forms: [{name: json, json: .}]
sources: [{name: up, timeout: 3s, http: {url: "`+u.URL+`/", query: {id: "{id}"}}}]
`)
}

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestReplayNeedsNothing(t *testing.T) {
	p := serve(t, "--replay")
	header, body := mustGet(t, p.public+"/api/60s/index.php")
	if header.Get("Sundry-Source") != "replay:60s-static" || !strings.Contains(body, `"is_today":true`) {
		t.Errorf("%v %s", header, body)
	}
	mustGet(t, p.public+"/readyz")
	if _, body = mustGet(t, p.admin+"/metrics"); !strings.Contains(body, `sundry_requests_total{class="2xx",endpoint="60s",outcome="miss"} 1`) {
		t.Error("the request is not counted")
	}
	if _, body = mustGet(t, p.admin+"/debug/pprof/cmdline"); body == "" {
		t.Error("no profiles")
	}
}

// TestBoundsOfFillsAreSettings, that of their memory too.
func TestBoundsOfFillsAreSettings(t *testing.T) {
	var budget int64
	env := map[string]string{"SUNDRY_LIMITS_FILLS": "7", "SUNDRY_LIMITS_REPLY_MEMORY": "32MiB"}
	p := launch(t, &process{
		getenv:        func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		onEnvironment: func(env *upstreams.Environment) { budget = env.Budget.Limit },
	}, "--replay")
	if _, body := mustGet(t, p.admin+"/metrics"); !strings.Contains(body, "\nsundry_cache_fills_limit 7\n") || budget != 32<<20 {
		t.Errorf("the budget is %d, and of fills the metrics say\n%s", budget, body)
	}
}

func TestReplayFault(t *testing.T) {
	p := serve(t, "--replay", "--replay-fault", "60s/60s-static=status:503")
	header, _ := mustGet(t, p.public+"/api/60s")
	if header.Get("Sundry-Source") != "replay:60s-github" {
		t.Errorf("source %s", header.Get("Sundry-Source"))
	}
}

func TestDrain(t *testing.T) {
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

func TestReload(t *testing.T) {
	u := newUpstream(t)
	dir := catalogDir(t, u, "ttl: 1h, jitter: 0")
	p := serve(t, "--catalog", dir)
	mustGet(t, p.public+"/api/own")
	hup := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	maxAge := func(want string) func() bool {
		return func() bool {
			h, _ := mustGet(t, p.public+"/api/own")
			return strings.Contains(h.Get("Cache-Control"), want) && strings.Contains(h.Get("Cache-Status"), "hit")
		}
	}
	writeOwn(t, dir, u, "ttl: 10m, jitter: 0")
	hup()
	waittest.Until(t, "the new TTL", maxAge("max-age=5"))
	writeOwn(t, dir, u, "ttl: soon")
	hup()
	waittest.Until(t, "the mistake is logged", func() bool {
		return strings.Contains(p.stderr.String(), "own.yaml:6") && strings.Contains(p.stderr.String(), "reload failed")
	})
	if !maxAge("max-age=5")() {
		t.Error("the set before was not kept")
	}
	if _, body := mustGet(t, p.admin+"/metrics"); !strings.Contains(body, "sundry_config_last_reload_successful 0") {
		t.Error("the failed reload is not in the metrics")
	}
	writeOwn(t, dir, u, "ttl: 2h, jitter: 0")
	hup()
	waittest.Until(t, "the next TTL", maxAge("max-age=7"))
	if u.calls.Load() != 1 {
		t.Errorf("%d calls", u.calls.Load())
	}
}

// TestClientsAreLimitedByDefault, but not one that asks for what a page with
// twenty widgets does, ten times over.
func TestClientsAreLimitedByDefault(t *testing.T) {
	p := serve(t, "--config", write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\n"), "--catalog", catalogDir(t, newUpstream(t), "ttl: 1h"))
	for i := range 100_000 {
		status, header, body, err := get(p.public + "/api/own")
		if err == nil && status == http.StatusOK {
			continue
		}
		if i < 200 || status != http.StatusTooManyRequests || header.Get("Retry-After") != "1" ||
			header.Get("RateLimit") != `"default";r=0;t=1` || header.Get("RateLimit-Policy") != `"default";q=200;w=4` {
			t.Errorf("request %d: %d %v %s %v", i, status, header, body, err)
		}
		return
	}
	t.Error("one client is never refused")
}

// TestRedisComesAndGoesUnderLoad stops, freezes, flushes and restarts Redis
// while requests run: none fails, hits go on, and Redis is used again.
func TestRedisComesAndGoesUnderLoad(t *testing.T) {
	redis := redistest.Start(t)
	u := newUpstream(t)
	p := serve(t, "--catalog", catalogDir(t, u, "ttl: 1h"), "--redis", redis.URL())
	mustGet(t, p.public+"/api/own")
	var failed, done atomic.Int64
	var next atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for ctx.Err() == nil {
				id := int64(1) // a hit, and now and then a key never seen
				if n := next.Add(1); n%10 == 0 {
					id = n % 100_000
				}
				status, header, body, err := get(fmt.Sprintf("%s/api/own?id=%d", p.public, max(id, 1)))
				if err != nil || status != http.StatusOK || id == 1 && !strings.Contains(header.Get("Cache-Status"), "hit") {
					failed.Add(1)
					t.Errorf("%d %s %v", status, body, err)
				}
				done.Add(1)
			}
		})
	}
	during := func(what string, event func()) {
		event()
		from := done.Load()
		waittest.Until(t, what, func() bool { return done.Load() > from+300 || failed.Load() > 0 })
	}
	during("served while frozen", redis.Freeze)
	during("served after the thaw", redis.Thaw)
	during("served while stopped", redis.Stop)
	during("served after the restart", redis.Restart)
	during("served after a flush", func() {
		if _, err := redis.Do("FLUSHALL"); err != nil {
			t.Error(err)
		}
	})
	waittest.Until(t, "Redis is written to again", func() bool {
		reply, err := redis.Do("DBSIZE")
		return err == nil && !strings.HasPrefix(reply, ":0")
	})
	stop()
	wg.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d of %d requests failed", failed.Load(), done.Load())
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestTwoInstancesShareRedis(t *testing.T) {
	redis := redistest.Start(t)
	u := newUpstream(t)
	dir := catalogDir(t, u, "ttl: 1h")
	one, two := serve(t, "--catalog", dir, "--redis", redis.URL()), serve(t, "--catalog", dir, "--redis", redis.URL())
	mustGet(t, one.public+"/api/own")
	waittest.Until(t, "the write behind", func() bool {
		reply, err := redis.Do("EXISTS nothing")
		if err != nil || !strings.HasPrefix(reply, ":0") {
			return false
		}
		reply, err = redis.Do("DBSIZE")
		return err == nil && strings.HasPrefix(reply, ":1")
	})
	header, _ := mustGet(t, two.public+"/api/own")
	if !strings.Contains(header.Get("Cache-Status"), "hit; ttl=") || !strings.Contains(header.Get("Cache-Status"), "detail=redis") {
		t.Errorf("Cache-Status %s", header.Get("Cache-Status"))
	}
	if u.calls.Load() != 1 {
		t.Errorf("%d calls", u.calls.Load())
	}
}

func TestAllowedTargets(t *testing.T) {
	dir := t.TempDir()
	cfg := write(t, dir, "sundry.yaml", "allow_targets: [127.0.0.0/8]\ncache: {warm: false}\n")
	open, closed := serve(t, "--config", cfg), serve(t)
	// Nobody listens there, which is an answer; elsewhere it is not even asked.
	if _, body := mustGet(t, open.public+"/api/gamestatus?host=127.0.0.1:25999"); !strings.Contains(body, `"online":false`) {
		t.Error(body)
	}
	if status, _, _, _ := get(closed.public + "/api/gamestatus?host=127.0.0.1:25999"); status != http.StatusForbidden {
		t.Errorf("status %d", status)
	}
}

// TestListenersWaitForNoHeader: who sends a request slowly, or one whose header has
// no end, is cut off, on both listeners.
func TestListenersWaitForNoHeader(t *testing.T) {
	p := serve(t, "--replay")
	var conns []net.Conn
	for _, base := range []string{p.public, p.admin} {
		for _, sent := range []string{"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ", "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: " + strings.Repeat("x", 80<<10) + "\r\n\r\n"} {
			c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if _, err := io.WriteString(c, sent); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
		}
	}
	for i, c := range conns {
		_ = c.SetReadDeadline(time.Now().Add(15 * time.Second))
		if answer, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(string(answer), " 200 ") {
			t.Errorf("connection %d: %v %s", i, err, answer)
		}
	}
}

func TestFailuresTravelByKind(t *testing.T) {
	for name, err := range map[string]error{
		"unavailable": &upstreams.Error{Kind: upstreams.Unavailable, Source: "one", Status: 503},
		"timeout":     fmt.Errorf("fill: %w", context.DeadlineExceeded),
		"limited":     &upstreams.Error{Kind: upstreams.Limited},
		"internal":    fmt.Errorf("load panicked"),
		"":            &upstreams.Error{Kind: upstreams.Invalid, Parameter: "n", Message: "for this caller"},
	} {
		if got := describeFailure(err); got != name {
			t.Errorf("%v: %q, want %q", err, got, name)
		}
		if name != "" && upstreams.KindOf(restoreFailure(name)) != upstreams.KindOf(err) {
			t.Errorf("%s came back as %v", name, restoreFailure(name))
		}
	}
	for _, text := range []string{"invalid", "forbidden", "unknown", "anything"} {
		if err := restoreFailure(text); err != nil {
			t.Errorf("%q became %v", text, err)
		}
	}
}
