package proxy

import (
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"sundry/cache"
	"sundry/cache/far"
	"sundry/cache/far/redistest"
	"sundry/cache/policy"
	"sundry/upstreams"
	"sundry/upstreams/replay"
)

// withRedis gives the server a cache with a far tier, and closes both at the end
// of the test.
func withRedis(t *testing.T, srv *redistest.Server) option {
	return func(cfg *Config, _ *upstreams.Environment) {
		tier, err := far.Open(far.Config{URL: srv.URL(), Timeout: 2 * time.Second}, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Cache, err = cache.New(cache.Config{Memory: 32 << 20, Far: tier}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := cfg.Cache.Close(); err != nil {
				t.Error(err)
			}
			if err := tier.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// dying replays with the same fault in every source of every endpoint.
func dying(fault replay.Fault) option {
	return func(_ *Config, env *upstreams.Environment) {
		faults := map[string]replay.Fault{}
		for _, x := range exchanges() {
			faults[x.Endpoint] = fault
		}
		network := replay.New(faults)
		network.Set(exchanges())
		env.Replay = network
	}
}

// holdings returns the answers in Redis.
func holdings(t *testing.T, srv *redistest.Server) map[string]string {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: srv.Addr})
	defer client.Close()
	held := map[string]string{}
	keys, err := client.Keys(t.Context(), "*").Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if strings.Contains(key, "lease:") || strings.Contains(key, "failed:") {
			continue
		}
		if held[key], err = client.Get(t.Context(), key).Result(); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
	}
	return held
}

// good returns the answers of the conformance calls that are cached in Redis.
func good(t *testing.T, f *front) map[string]answer {
	t.Helper()
	answers := map[string]answer{}
	for _, row := range conformance(t) {
		rt := f.server.current.Load().routes[row.Endpoint]
		for _, c := range row.Calls {
			path := "/api/" + row.Endpoint + "/index.php?" + strings.ReplaceAll(c.Query, " ", "%20")
			a := f.get(path)
			switch {
			case a.StatusCode >= http.StatusBadRequest, !rt.space.Policy().Stores(), rt.space.Policy().Local, !asks(rt, a):
				continue // negative, or computed here
			case rt.pictures != nil && strings.HasPrefix(a.Header.Get("Content-Type"), "image/"):
				continue // pictures behind a pool stay out of Redis
			}
			answers[path] = a
			for range 40 { // each category, where one is picked at random
				if rt.pictures != nil {
					f.get(path)
				}
			}
		}
	}
	return answers
}

// asks reports whether an answer came from an upstream.
func asks(rt *route, a answer) bool {
	return slices.ContainsFunc(rt.endpoint.Sources(), func(s *upstreams.Source) bool {
		return s.Remote() && s.Name == a.Header.Get("Sundry-Source")
	})
}

var ttlOf = regexp.MustCompile(`ttl=(-?\d+)`)

// stale reports whether an answer is marked as stale.
func (a answer) stale() bool {
	status := a.Header.Get("Cache-Status")
	ttl := ttlOf.FindStringSubmatch(status)
	return strings.Contains(status, "fwd=stale") || len(ttl) == 2 && (ttl[1] == "0" || ttl[1][0] == '-')
}

// TestWithEverySourceDeadAWarmRedisAnswers lets every source of every endpoint fail
// in every way: an instance that starts then answers everything that Redis has,
// marked as stale, and replaces none of it.
func TestWithEverySourceDeadAWarmRedisAnswers(t *testing.T) {
	t.Parallel()
	srv := redistest.Start(t)
	var warm map[string]answer
	t.Run("warm", func(t *testing.T) { warm = good(t, newFront(t, nil, replayed, withRedis(t, srv))) })
	held := holdings(t, srv)
	if len(warm) < 40 || len(held) < 30 {
		t.Fatalf("%d answers, %d entries in Redis", len(warm), len(held))
	}
	// Instances agree on the time to what a round trip takes; nothing good is fetched from now on.
	stale := map[string]policy.Purge{policy.AllEndpoints: {Soft: time.Now().Add(time.Minute)}}
	for name, fault := range map[string]replay.Fault{
		"404": {Error: 1, Status: 404}, "410": {Error: 1, Status: 410}, "403": {Error: 1, Status: 403}, "429": {Error: 1, Status: 429},
		"500": {Error: 1, Status: 500}, "empty": {Error: 1, Body: "empty"}, "HTML": {Error: 1, Body: "html"}, "refused": {Error: 1},
		"timeout": {Latency: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFront(t, nil, dying(fault), withRedis(t, srv))
			f.server.cfg.Cache.SetPurges(stale)
			var calls sync.WaitGroup
			for path, before := range warm {
				if (fault.Body != "" || fault.Status == http.StatusForbidden) && strings.HasPrefix(path, "/api/dwzrec/") {
					continue // short links are resolved whatever the page at their end answers
				}
				calls.Go(func() {
					staysStale(t, f, path, before)
					staysStale(t, f, path, before) // now from memory
				})
			}
			calls.Wait()
		})
		if now := holdings(t, srv); !maps.Equal(now, held) {
			t.Errorf("%s: what Redis holds was replaced: %v", name, changed(held, now))
		}
	}
}

// staysStale expects the answer of before, marked as stale. Where a pool is picked
// at random, it may be another source's.
func staysStale(t *testing.T, f *front, path string, before answer) {
	a, err := f.try(t.Context(), http.MethodGet, path)
	picked := strings.HasPrefix(path, "/api/sjbz/")
	switch {
	case err != nil:
		t.Error(err)
	case a.StatusCode != before.StatusCode, !a.stale(), !picked && a.Header.Get("Sundry-Source") != before.Header.Get("Sundry-Source"),
		strings.Contains(a.Header.Get("Cache-Status"), "last-resort"):
		t.Errorf("%s: %d from %q, %s; it was %d from %q", path, a.StatusCode, a.Header.Get("Sundry-Source"),
			a.Header.Get("Cache-Status"), before.StatusCode, before.Header.Get("Sundry-Source"))
	}
}

// changed returns the keys that were added, removed or changed.
func changed(before, after map[string]string) []string {
	var keys []string
	for key, v := range after {
		if before[key] != v {
			keys = append(keys, key)
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			keys = append(keys, key+" gone")
		}
	}
	return keys
}
