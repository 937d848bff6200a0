package proxy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/cache"
	"sundry/cache/far"
	"sundry/cache/far/redistest"
)

// An endpoint with an entry for each id. The body is about a kibibyte that does
// not compress to nothing.
const keyedCatalog = `version: 1
name: keyed
group: text
summary: {en: A benchmark., zh: 基准}
params: [{name: id, type: int, min: 1, max: 1000000, required: true, example: "7"}]
cache: {class: keyed, ttl: 24h, jitter: 0}
forms: [{name: json, json: '{words: [range(140) | . * 7919 % 104729 * 31]}'}]
sources:
  - name: made
    computed: {}
`

const (
	// benchKeys is how many keys Redis holds: many times what the near tier of
	// benchNear does, which evicts the oldest, so that keys asked for in turn are
	// never found there.
	benchKeys = 20_000
	benchNear = 16 << 20

	bareKey       = "bare:"
	redisChildEnv = "SUNDRY_BENCH_REDIS_CHILD" // kind and address
)

func redisServer(tb testing.TB, addr string) *Server {
	tb.Helper()
	tier, err := far.Open(far.Config{URL: "redis://" + addr + "/0", Timeout: 2 * time.Second}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = tier.Close(context.Background()) })
	return serverOn(tb, Limits{}, map[string]string{"keyed.yaml": keyedCatalog}, cache.Config{Memory: benchNear, Far: tier})
}

// bareRedis reads the body from Redis with one GET, by a client with go-redis' own
// settings, and writes the headers of a hit.
func bareRedis(addr string, like *httptest.ResponseRecorder) http.Handler {
	client := redis.NewClient(&redis.Options{Addr: addr})
	header := like.Header().Clone()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, id, _ := strings.Cut(r.URL.RawQuery, "=")
		body, err := client.Get(r.Context(), bareKey+id).Bytes()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		maps.Copy(w.Header(), header)
		_, _ = w.Write(body)
	})
}

// TestBenchRedisChild is not a test: it is the server that BenchmarkRedisHit starts.
func TestBenchRedisChild(t *testing.T) {
	kind, addr, ok := strings.Cut(os.Getenv(redisChildEnv), " ")
	if !ok {
		t.Skip("only as a child of BenchmarkRedisHit")
	}
	ballast := make([]byte, 64<<20) // as `sundry serve` has
	defer runtime.KeepAlive(ballast)
	server := redisServer(t, addr)
	var h http.Handler = server
	if kind == "bare" {
		h = bareRedis(addr, redisHit(t, server, 1))
	}
	serveChild(t, h, "/api/keyed?id=%d")
}

// redisHit asks a server whose near tier does not have it for an id.
func redisHit(tb testing.TB, h http.Handler, id int) *httptest.ResponseRecorder {
	tb.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, fmt.Sprintf("/api/keyed?id=%d", id), nil))
	if !fromRedis(rec.Header()) {
		tb.Fatalf("%d %v", rec.Code, rec.Header())
	}
	return rec
}

func fromRedis(h http.Header) bool { return strings.Contains(h.Get("Cache-Status"), "detail=redis") }

// fillRedis fills one key as a server does, and copies what it stored to all others.
func fillRedis(b *testing.B, addr string) {
	b.Helper()
	rec := httptest.NewRecorder()
	redisServer(b, addr).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/api/keyed?id=1", nil))
	if rec.Code != http.StatusOK {
		b.Fatal(rec.Code, rec.Body)
	}
	client := redis.NewClient(&redis.Options{Addr: addr})
	defer client.Close()
	ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
	defer cancel()
	var stored []string
	for len(stored) == 0 && ctx.Err() == nil { // it is written behind the answer
		stored, _ = client.Keys(ctx, "sundry:keyed*").Result()
	}
	const copyAll = `local stored = redis.call("get", KEYS[1])
		for i = 1, ARGV[2] do
			redis.call("set", ARGV[3] .. i .. ARGV[4], stored)
			redis.call("set", KEYS[2] .. i, ARGV[1])
		end`
	at := strings.LastIndex(stored[0], "1")
	if err := client.Eval(ctx, copyAll, []string{stored[0], bareKey}, rec.Body.Bytes(), benchKeys, stored[0][:at], stored[0][at+1:]).Err(); err != nil && !errors.Is(err, redis.Nil) {
		b.Fatal(err)
	}
	b.ReportMetric(float64(rec.Body.Len()), "body-bytes")
}

// startRedisServer starts a server of a kind, which is asked for one key after another.
func startRedisServer(b *testing.B, kind, addr string) *child {
	b.Helper()
	c := startServer(b, "TestBenchRedisChild", redisChildEnv, kind+" "+addr)
	path, asked := c.path(), new(atomic.Int64)
	c.path = func() string { return fmt.Sprintf(path, asked.Add(1)%benchKeys+1) }
	return c
}

// BenchmarkRedisHit measures the CPU time of a server process per request over real
// connections: a bare net/http handler that makes one GET by go-redis and writes the
// same headers and body, and an entry that only Redis holds. They run in turns; the
// median of the rounds counts.
func BenchmarkRedisHit(b *testing.B) {
	addr := redistest.Start(b).Addr
	fillRedis(b, addr)
	bare, hit := startRedisServer(b, "bare", addr), startRedisServer(b, "hit", addr)
	hit.expect = fromRedis
	for _, conns := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("connections=%d", conns), func(b *testing.B) {
			n := 3000 / conns
			bare.loadOver(b, conns, n)
			hit.loadOver(b, conns, n)
			for b.Loop() {
				var bares, hits []time.Duration
				for range 21 {
					bares, hits = append(bares, bare.loadOver(b, conns, n)), append(hits, hit.loadOver(b, conns, n))
				}
				base := median(bares)
				b.ReportMetric(float64(base.Nanoseconds()), "bare-cpu-ns")
				b.ReportMetric(float64(median(hits))/float64(base), "hit/bare")
			}
		})
	}
}
