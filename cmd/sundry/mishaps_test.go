package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

const (
	loadRate = 2000
	// farTimeout is the budget of a read from Redis, and upstreamTakes that of a call.
	farTimeout    = 100 * time.Millisecond
	upstreamTakes = 10 * time.Millisecond
	// A hit of a typical instance may take, in the worst half second of a mishap, as long as
	// in the worst before it, or unnoticed times as long as those of an instance without
	// Redis at that time. Below atLeast there is no difference but chance, on two busy processors. Beside
	// that, it may take patience: for as long an instance asks a Redis that is slow whether a copy is
	// still the newest one. What waits for a Redis that does not answer takes more than both together.
	unnoticed = 3
	atLeast   = 20 * time.Millisecond
	patience  = 30 * time.Millisecond
	window    = 500 * time.Millisecond
)

// stage is a fleet of three processes under load, in which something happens to Redis.
type stage struct {
	fleet  []*sibling
	load   *steadyLoad
	up     *editions
	before time.Duration // p99 of hits in the worst window before
	probes int
}

// editions is an upstream whose answers have an id and an edition.
type editions struct {
	*httptest.Server
	edition atomic.Int64
}

func newEditions(t testing.TB) *editions {
	t.Helper()
	u := &editions{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-time.After(upstreamTakes)
		fmt.Fprintf(w, `{"id":%q,"edition":%d}`, r.URL.Query().Get("id"), u.edition.Load())
	}))
	t.Cleanup(u.Close)
	return u
}

// newStage begins the load on a fleet with this Redis, and observes it for a while.
func newStage(t *testing.T, redis string) *stage {
	t.Helper()
	s := &stage{up: newEditions(t)}
	dir := t.TempDir()
	for name, rule := range map[string]string{"own": "ttl: 1h", "news": "ttl: 1s, grace: 1h, stale_if_error: 1h", "daily": "ttl: 1h"} {
		writeEndpoint(t, dir, name, s.up.URL, rule)
	}
	for range 3 {
		s.fleet = append(s.fleet, newSibling(t, "", "--catalog", dir, "--redis", redis))
	}
	s.load = newSteadyLoad(t, loadRate, s.fleet, startSibling(t, "", "--catalog", dir))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); s.load.run(ctx) }()
	t.Cleanup(func() {
		stop()
		<-ended
		s.expectNoFailure(t)
		http.DefaultClient.CloseIdleConnections()
		if s.load.pace.lowest < loadRate {
			t.Logf("at times, this machine could not make more than %.0f requests a second", s.load.pace.lowest)
		}
	})
	s.goOn(window) // connections are made
	from := time.Now()
	s.goOn(spanOf(2))
	s.before = s.worst(hits, from, time.Now())
	s.expectNoFailure(t)
	return s
}

// spanOf is shorter where everything is slow.
func spanOf(n float64) time.Duration {
	if longtest.Race {
		n = max(n/2, 1)
	}
	return time.Duration(n * float64(time.Second))
}

// goOn returns when the load has gone on for a while.
func (s *stage) goOn(span time.Duration) { sleepUntil(context.Background(), time.Now().Add(span)) }

// worst is the p99 in the worst window.
func (s *stage) worst(kind string, from, to time.Time) (p99 time.Duration) {
	for ; from.Before(to); from = from.Add(window) {
		p99 = max(p99, s.load.quantile(0.99, kind, from, from.Add(window)))
	}
	return p99
}

// endure lets something happen to Redis, and waits until the fleet is whole again. Nobody
// may have noticed.
func (s *stage) endure(t *testing.T, event func()) {
	t.Helper()
	before, from := s.counters(t), time.Now()
	event()
	happened := time.Now()
	s.awaitWhole(t)
	to := time.Now()
	s.goOn(window) // all that was due until then is answered
	s.expectNoFailure(t)
	s.expectHitsUnchanged(t, from, to)
	s.expectMissesBounded(t, from, to)
	t.Logf("whole again after %v; %s", to.Sub(happened).Round(time.Millisecond), difference(before, s.counters(t)))
	s.expectInSync(t)
}

func (s *stage) expectNoFailure(t *testing.T) {
	t.Helper()
	if first, all := s.load.failures(); all > 0 {
		t.Errorf("%d requests failed:\n%s", all, strings.Join(first, "\n"))
	}
}

func (s *stage) expectHitsUnchanged(t *testing.T, from, to time.Time) {
	t.Helper()
	for _, kind := range []string{hits, refreshed} {
		for at := from; at.Before(to); at = at.Add(window) {
			got, noise := s.load.typical(0.99, kind, at, at.Add(window)), s.load.quantile(0.99, control, at.Add(-window), at.Add(2*window))
			// The race detector makes of a mishap's little work much, beside that of other packages.
			if allowed := patience + max(s.before, unnoticed*noise, atLeast); got > allowed && !longtest.Race {
				t.Errorf("%s: p99 was %v, %v after the beginning: it was %v before, and %v without Redis", kind, got, at.Sub(from), s.before, noise)
			}
		}
		t.Logf("%s: p50 %v, p99 %v (worst half second %v); before %v, without Redis %v (worst %v)", kind, s.load.quantile(0.5, kind, from, to), s.load.quantile(0.99, kind, from, to),
			s.worst(kind, from, to), s.before, s.load.quantile(0.99, control, from, to), s.worst(control, from, to))
	}
}

// expectMissesBounded: a look into Redis, the lease, and a wait for the instance that held
// it, each for no longer than a read may take.
func (s *stage) expectMissesBounded(t *testing.T, from, to time.Time) {
	t.Helper()
	p99, most := s.load.quantile(0.99, misses, from, to), s.load.quantile(1, misses, from, to)
	noise := unnoticed * s.load.quantile(1, control, from, to)
	if allowed := 3*farTimeout + upstreamTakes + noise; p99 > allowed {
		t.Errorf("p99 of misses was %v: expected at most %v", p99, allowed)
	}
	if allowed := 10*farTimeout + upstreamTakes + noise; most > allowed {
		t.Errorf("a miss took %v: expected at most %v", most, allowed)
	}
	t.Logf("misses: p50 %v, p99 %v, max %v", s.load.quantile(0.5, misses, from, to), p99, most)
}

// awaitWhole waits until each instance gets from Redis what another one has filled.
func (s *stage) awaitWhole(t *testing.T) {
	t.Helper()
	for i, m := range s.fleet {
		other := s.fleet[(i+1)%len(s.fleet)]
		waittest.Until(t, "the instances share what they fill", func() bool {
			s.probes++
			path := fmt.Sprintf("/api/own?id=%d", 900_000_000+s.probes)
			mustGet(t, other.public+path)
			header, _ := mustGet(t, m.public+path)
			return strings.Contains(header.Get("Cache-Status"), "detail=redis")
		})
		waittest.Until(t, "it hears the others", func() bool { return m.metric("sundry_far_listening") == "1" })
	}
}

// expectInSync purges, and changes a TTL, which all instances have to learn.
func (s *stage) expectInSync(t *testing.T) {
	t.Helper()
	serves := func(m *sibling, edition int64) bool {
		_, body := mustGet(t, m.public+"/api/daily")
		return strings.Contains(body, fmt.Sprintf(`"edition":%d`, edition))
	}
	for _, m := range s.fleet {
		if !serves(m, s.up.edition.Load()) {
			t.Fatal("it does not serve the edition of before")
		}
	}
	one, next, at := s.fleet[0].instance(t), s.up.edition.Add(1), time.Now()
	one.mustAsk(http.MethodPost, "purge", `{"endpoint":"daily","mode":"hard"}`)
	for _, m := range s.fleet {
		waittest.Until(t, "the purge", func() bool { return serves(m, next) })
	}
	t.Logf("a purge was carried out everywhere after %v", time.Since(at).Round(time.Millisecond))
	ttl := (30*time.Minute + time.Duration(next)*time.Second).String()
	one.mustAsk(http.MethodPut, "endpoints/daily/cache", fmt.Sprintf(`{"set":{"ttl":%q}}`, ttl))
	for _, m := range s.fleet {
		waittest.Until(t, "the ttl", func() bool { return m.instance(t).ttl("daily") == ttl })
	}
}

// instance is the sibling for the admin API.
func (m *sibling) instance(t *testing.T) *instance {
	return &instance{t: t, public: m.public, admin: m.admin}
}

var farCounter = regexp.MustCompile(`(?m)^sundry_far_((?:reads|writes)_total\{result="\w+"\}) (\d+)$`)

// counters are those of the far tier, over all instances.
func (s *stage) counters(t *testing.T) map[string]int {
	t.Helper()
	sums := map[string]int{}
	for _, m := range s.fleet {
		_, body := mustGet(t, m.admin+"/metrics")
		for _, found := range farCounter.FindAllStringSubmatch(body, -1) {
			var n int
			_, _ = fmt.Sscan(found[2], &n)
			sums[found[1]] += n
		}
	}
	return sums
}

func difference(before, after map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if n := after[name] - before[name]; n > 0 {
			all = append(all, fmt.Sprintf("%s +%d", name, n))
		}
	}
	return strings.Join(all, ", ")
}

// TestRedisMishapsUnderLoad: nobody notices what happens to a Redis. It is a long story, as are those
// of its fleets: TestRedisComesAndGoesUnderLoad has the one instance, which fails no request either.
func TestRedisMishapsUnderLoad(t *testing.T) {
	longtest.Story(t)
	redis := redistest.Start(t)
	s := newStage(t, redis.URL())
	for _, row := range []struct {
		name       string
		span       time.Duration
		begin, end func()
	}{
		{"killed and restarted empty", spanOf(2), redis.Stop, redis.Restart},
		{"frozen", spanOf(5), redis.Freeze, redis.Thaw},
		{"full", spanOf(2), func() { redis.Must("CONFIG SET maxmemory 1") }, func() { redis.Must("CONFIG SET maxmemory 0") }},
		{"read-only", spanOf(2), func() { redis.Must("REPLICAOF 127.0.0.1 1") }, func() { redis.Must("REPLICAOF NO ONE") }},
		{"without its replicas", spanOf(2), func() { redis.Must("CONFIG SET min-replicas-to-write 1") }, func() { redis.Must("CONFIG SET min-replicas-to-write 0") }},
	} {
		t.Run(row.name, func(t *testing.T) {
			s.endure(t, func() { row.begin(); s.goOn(row.span); row.end() })
		})
	}
}

// TestAFailoverUnderLoad: the master dies, Sentinel makes a replica the master.
func TestAFailoverUnderLoad(t *testing.T) {
	longtest.Story(t)
	master := redistest.Start(t)
	replica := redistest.StartReplica(t, master)
	sentinel := redistest.StartSentinel(t, master, "sentinel down-after-milliseconds main 500", "sentinel failover-timeout main 5000")
	s := newStage(t, "redis://"+sentinel.Addr+"?master_name=main")
	s.endure(t, func() {
		at := time.Now()
		master.Stop()
		waittest.Until(t, "the replica is the master", func() bool {
			reply, err := replica.Do("ROLE")
			return err == nil && strings.Contains(reply, "master")
		})
		t.Logf("Sentinel took %v", time.Since(at).Round(time.Millisecond))
	})
}

// TestASlotMovesUnderLoad: it has a key that is refreshed meanwhile, and all keys never
// seen are in it.
func TestASlotMovesUnderLoad(t *testing.T) {
	longtest.Story(t)
	nodes := redistest.StartCluster(t, 3)
	s := newStage(t, nodes.URL())
	news, own := aKey(t, nodes, "news"), aKey(t, nodes, "own")
	slot := redistest.Slot(news)
	ids, next := idsIn(slot, own), (nodes.Owner(slot)+1)%len(nodes)
	s.load.newKeys(func(n int) int { return ids[n%len(ids)] })
	s.endure(t, func() { nodes.MoveSlot(slot, next, func() { s.goOn(spanOf(1)) }) })
	if reply := nodes[next].Must(fmt.Sprintf("CLUSTER COUNTKEYSINSLOT %d", slot)); len(reply) < len(":10\r\n") {
		t.Errorf("keys in the slot afterwards: %s", reply)
	}
}

// aKey is what lies between the braces of the name of an endpoint's key in Redis.
func aKey(t *testing.T, nodes redistest.Cluster, endpoint string) (key string) {
	t.Helper()
	name := regexp.MustCompile(`sundry:\{(` + endpoint + `:[^}]*)\}`)
	waittest.Until(t, "a key of "+endpoint, func() bool {
		for _, n := range nodes {
			if found := name.FindStringSubmatch(n.Must("RANDOMKEY")); found != nil {
				key = found[1]
			}
		}
		return key != ""
	})
	return key
}

// idsIn are ids whose keys, which otherwise are like this one, are in a slot.
func idsIn(slot int, key string) (ids []int) {
	id := regexp.MustCompile(`\d+\|$`)
	prefix := key[:id.FindStringIndex(key)[0]]
	for n := 1000; len(ids) < 200; n++ {
		if redistest.Slot(fmt.Sprintf("%s%d|", prefix, n)) == slot {
			ids = append(ids, n-1) // they are asked for as the next number
		}
	}
	return ids
}
