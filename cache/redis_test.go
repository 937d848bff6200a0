package cache

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"sundry/cache/entry"
	"sundry/cache/far"
	"sundry/cache/far/redistest"
	"sundry/cache/policy"
)

// instances are caches with tiers of their own on one real Redis.
func instances(t *testing.T, server *redistest.Server, p policy.Policy) (one, two *Space) {
	t.Helper()
	open := func() *Space {
		tier, err := far.Open(far.Config{URL: server.URL(), Timeout: time.Second}, nil, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := tier.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
		return newCache(t, Config{Far: tier}).Space("story", p) // closed before the tier
	}
	return open(), open()
}

// inRedis waits until the key exists, or does not.
func inRedis(t *testing.T, server *redistest.Server, key string, want bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for {
		reply, err := server.Do("EXISTS sundry:" + key)
		if err == nil && strings.HasPrefix(reply, ":1") == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s in Redis: want %v; %q %v", key, want, reply, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestInstancesOnARealRedis(t *testing.T) {
	server := redistest.Start(t)
	p := usual()
	p.Pause, p.PauseMax = time.Minute, time.Minute
	one, two := instances(t, server, p)

	t.Run("one fill for both", func(t *testing.T) {
		l := &script{takes: 300 * time.Millisecond}
		together(2, func(i int) { wantText(t, mustFetch(t, []*Space{one, two}[i], "fill", l), "answer 1") })
		wantCalls(t, l, 1)
		inRedis(t, server, "lease:fill", false)
	})
	t.Run("one failure for both", func(t *testing.T) {
		l := &script{takes: 300 * time.Millisecond, err: errDown}
		start := time.Now()
		together(2, func(i int) {
			if h, err := []*Space{one, two}[i].Get(t.Context(), "failure", Want{}, l); err == nil || err.Error() != errDown.Error() {
				t.Errorf("%+v, %v", h, err)
			}
		})
		if took := time.Since(start); took > leaseWait {
			t.Errorf("the one that waited did so for %v", took)
		}
		wantCalls(t, l, 1)
	})
	t.Run("a no takes no copy's place", func(t *testing.T) {
		l := &script{}
		mustFetch(t, one, "copy", l)
		inRedis(t, server, "copy", true)
		before, err := server.Do("GET sundry:copy")
		if err != nil {
			t.Fatal(err)
		}
		two.writeFar("copy", made(t, one, "copy", entry.Content{Source: "x", Negative: "no"}, time.Now())) // as one that could not look
		two.cache.far.Fail("copy", []byte("after it"), time.Minute)
		inRedis(t, server, "failed:copy", true)
		if now, err := server.Do("GET sundry:copy"); err != nil || now != before {
			t.Errorf("%q became %q (%v)", before, now, err)
		}
	})
	t.Run("a purge during a fill", func(t *testing.T) {
		l := &script{takes: 300 * time.Millisecond}
		time.AfterFunc(100*time.Millisecond, func() { one.PurgeKey("purged", time.Now()) })
		wantText(t, mustFetch(t, one, "purged", l), "answer 2")
		inRedis(t, server, "purged", true)
		wantText(t, mustFetch(t, two, "purged", l), "answer 2")
	})
	t.Run("closed in mid-fill", func(t *testing.T) {
		l := stubborn(func() (entry.Content, error) { return negativeContent(), nil }, time.Minute)
		time.AfterFunc(100*time.Millisecond, one.cache.flights.stop)
		if _, err := one.Get(t.Context(), "closed", Want{}, l); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		inRedis(t, server, "lease:closed", false)
		inRedis(t, server, "closed", false)
		inRedis(t, server, "failed:closed", false)
	})
}
