package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/cache/far/redistest"
)

// kept are the keys of the endpoint own that Redis holds, and of those the
// records of failures.
func kept(t *testing.T, srv *redistest.Server) (entries, failures, leases []string) {
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
	srv := redistest.Start(t)
	u := newUpstream(t)
	dir := catalogDir(t, u, "ttl: 1h, negative: 1h, stale_if_error: 1d")
	config := write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\ndrain_timeout: 100ms\n")
	settings := []string{"--config", config, "--catalog", dir, "--redis", srv.URL()}
	u.takes.Store(int64(1500 * time.Millisecond))
	one, two := serve(t, settings...), serve(t, settings...)
	var calls sync.WaitGroup
	calls.Go(func() { _, _, _, _ = get(one.public + "/api/own?id=1") })
	eventually(t, "the lease of the first", func() bool { _, _, leases := kept(t, srv); return len(leases) == 1 && u.calls.Load() == 1 })
	calls.Go(func() { _, _, _, _ = get(two.public + "/api/own?id=1") })
	eventually(t, "the second waits", func() bool {
		_, body := mustGet(t, two.admin+"/metrics")
		return strings.Contains(body, "\nsundry_cache_fills_running 1\n")
	})
	two.kill(t)
	if entries, failures, _ := kept(t, srv); len(entries)+len(failures) > 0 {
		t.Errorf("left in Redis: %v %v", entries, failures)
	}
	calls.Wait()
	eventually(t, "the entry of the first", func() bool { entries, _, _ := kept(t, srv); return len(entries) == 1 })
	if u.calls.Load() != 1 {
		t.Errorf("%d calls upstream, want one", u.calls.Load())
	}
	_, body := mustGet(t, one.public+"/api/own?id=1")
	if !strings.Contains(body, `"id":"1"`) {
		t.Error(body)
	}
}

// kill stops the process, whose requests under way may be cut off.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.stop()
	select {
	case <-p.done:
		close(p.done)
	case <-time.After(10 * time.Second):
		t.Error("the server does not stop")
	}
}

// TestStoppedAtAnyMomentOfAFill leaves nothing wrong in Redis: what the next
// instance finds there is an answer that the upstream gave, or nothing.
func TestStoppedAtAnyMomentOfAFill(t *testing.T) {
	srv := redistest.Start(t)
	u := newUpstream(t)
	dir := catalogDir(t, u, "ttl: 1h, negative: 1h, stale_if_error: 1d")
	config := write(t, t.TempDir(), "sundry.yaml", "cache: {warm: false}\ndrain_timeout: 1ms\n")
	settings := []string{"--config", config, "--catalog", dir, "--redis", srv.URL()}
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
	if _, failures, _ := kept(t, srv); len(failures) > 0 {
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
