package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"sundry/cache/far/redistest"
	told "sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// TestMain does not count go-redis' search for a Redis that is away: once its
// pool is closed it ends by itself, within a second.
func TestMain(m *testing.M) {
	if status, ok := isProgram(); ok {
		os.Exit(status)
	}
	longtest.WaitTogether()
	defer ballast(0)() // one for all instances: where memory is used again, each would be cleared
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

func TestReplayNeedsNothing(t *testing.T) {
	t.Parallel()
	p := serve(t, "--replay")
	header, body := mustGet(t, p.public+"/api/60s/index.php")
	if header.Get("Sundry-Source") != "replay:60s-mirror" || !strings.Contains(body, `"source":"60s"`) {
		t.Errorf("%v %s", header, body)
	}
	mustGet(t, p.public+"/readyz")
	if _, body = mustGet(t, p.admin+"/metrics"); !strings.Contains(body, `sundry_requests_total{class="2xx",endpoint="60s",outcome="miss"} 1`) {
		t.Error("the request is not counted")
	}
	if _, body = mustGet(t, p.admin+"/debug/pprof/heap"); body == "" {
		t.Error("no profiles")
	}
}

// TestBoundsOfFillsAreSettings, that of their memory too.
func TestBoundsOfFillsAreSettings(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	p := serveWith(t, onlyIn(t, "60s"), "--replay", "--replay-fault", "60s/60s-mirror=status:503")
	header, _ := mustGet(t, p.public+"/api/60s")
	if header.Get("Sundry-Source") != "replay:60s-static" {
		t.Errorf("source %s", header.Get("Sundry-Source"))
	}
}

// TestClientsAreLimitedByDefault, but not one that asks for what a page with
// twenty widgets does, ten times over.
func TestClientsAreLimitedByDefault(t *testing.T) {
	p := serve(t, "--config", write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\n"+only()), "--catalog", catalogDir(t, newUpstream(t), "ttl: 1h"))
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
					id += n / 10
				}
				status, header, body, err := get(fmt.Sprintf("%s/api/own?id=%d", p.public, id))
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
		reply, err := redis.Do("KEYS sundry:own:*")
		return err == nil && !strings.HasPrefix(reply, "*0")
	})
	stop()
	wg.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d of %d requests failed", failed.Load(), done.Load())
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestTwoInstancesShareRedis(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	u := newUpstream(t)
	dir := catalogDir(t, u, "ttl: 1h")
	one, two := serve(t, "--catalog", dir, "--redis", patient(redis.URL())), serve(t, "--catalog", dir, "--redis", patient(redis.URL()))
	mustGet(t, one.public+"/api/own")
	waittest.Until(t, "the write behind", func() bool {
		reply, err := redis.Do("KEYS sundry:own:*")
		return err == nil && strings.HasPrefix(reply, "*1\r\n")
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
	t.Parallel()
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

func TestFailuresTravelByKind(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"unavailable": &upstreams.Error{Kind: upstreams.Unavailable, Source: "one", Status: 503},
		"timeout":     fmt.Errorf("fill: %w", context.DeadlineExceeded),
		"limited":     &upstreams.Error{Kind: upstreams.Limited},
		"internal":    fmt.Errorf("load panicked"),
		"":            &upstreams.Error{Kind: upstreams.Invalid, Parameter: "n", Message: told.Name("for this caller")},
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
