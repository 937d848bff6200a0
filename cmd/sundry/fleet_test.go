package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"sundry/cache/far/redistest"
)

// TestChangesArriveWhateverIsLost: two instances on a real Redis; one of them
// loses a notice, a read, its connections. A TTL and a purge reach it all the
// same.
func TestChangesArriveWhateverIsLost(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	wire := newRelay(t, redis.Addr)
	one, two := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", redis.URL()), serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", wire.url())
	for i, row := range []struct {
		name string
		lose func()
		heal func()
	}{
		{"nothing", func() {}, func() {}},
		{"the notice", func() { wire.set(false, notices) }, func() {}},
		{"the read after the notice", func() { wire.set(false, reads(1, cut)) }, func() {}},
		{"three reads", func() { wire.set(false, reads(3, cut)) }, func() {}},
		{"an answer that never comes", func() { wire.set(false, reads(1, swallowed)) }, func() {}},
		{"every connection", func() { wire.set(true, nil) }, func() { wire.set(false, nil) }},
		{"every connection, then the notice", func() { wire.set(true, nil) }, func() { wire.set(false, notices) }},
		{"a Redis that pauses", func() { redis.Freeze(); time.AfterFunc(500*time.Millisecond, redis.Thaw) }, func() {}},
	} {
		t.Run(row.name, func(t *testing.T) {
			one.t, two.t = t, t
			wire.set(false, nil)
			mustGet(t, two.public+ipCall)
			before := two.born()
			row.lose()
			ttl := 70 + i
			one.mustAsk(http.MethodPut, "endpoints/ip/cache", fmt.Sprintf(`{"set":{"ttl":"%ds"}}`, ttl))
			one.mustAsk(http.MethodPost, "purge", `{"endpoint":"ip","mode":"hard"}`)
			row.heal()
			waittest.Until(t, "the ttl", func() bool { return two.ttl("ip") == fmt.Sprintf("1m%ds", ttl-60) })
			waittest.Until(t, "the purge", func() bool {
				mustGet(t, two.public+ipCall)
				return two.born().After(before)
			})
			if one.sequence() != two.sequence() {
				t.Errorf("sequence %v here, %v there", one.sequence(), two.sequence())
			}
		})
	}
	one.t, two.t = t, t
}

// ttl of an endpoint in force.
func (p *instance) ttl(endpoint string) string {
	p.t.Helper()
	for _, item := range p.mustAsk(http.MethodGet, "endpoints", "")["endpoints"].([]any) {
		if e := item.(map[string]any); e["name"] == endpoint {
			return e["policy"].(map[string]any)["ttl"].(string)
		}
	}
	return ""
}

// born is when the one entry of ip was made, by the clock of the instance, by which no purge
// is dated: compare it with that of an earlier entry there. Zero: there is not one.
func (p *instance) born() time.Time {
	p.t.Helper()
	entries := p.mustAsk(http.MethodGet, "endpoints/ip/entries", "")["entries"].([]any)
	if len(entries) != 1 {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, entries[0].(map[string]any)["born"].(string))
	if err != nil {
		p.t.Fatal(err)
	}
	return at
}

// sequence of the settings, as the metrics say.
func (p *instance) sequence() string {
	p.t.Helper()
	_, body := mustGet(p.t, p.admin+"/metrics")
	_, rest, _ := strings.Cut(body, "\nsundry_settings_sequence ")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// TestAStartWithoutRedisLearnsLater: an instance that starts while Redis is away
// says so, serves, and takes over what was changed once Redis is back.
func TestAStartWithoutRedisLearnsLater(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	wire := newRelay(t, redis.Addr)
	one := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", patient(redis.URL()))
	one.mustAsk(http.MethodPut, "endpoints/ip/cache", `{"set":{"ttl":"90s"}}`)
	wire.set(true, nil)
	two := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", wire.url())
	if n := two.maxAge(ipCall); n <= 90 || !strings.Contains(two.stderr.String(), "serving without the settings") {
		t.Errorf("max-age=%d\n%s", n, two.stderr)
	}
	wire.set(false, notices)
	waittest.Until(t, "the setting once Redis is back", func() bool { return two.ttl("ip") == "1m30s" && two.maxAge(ipCall) <= 90 })
}

// TestARestartedInstanceKnowsPurges: what was purged while it was away is not
// served out of Redis, not even to the first caller.
func TestARestartedInstanceKnowsPurges(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	one := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", patient(redis.URL()))
	mustGet(t, one.public+ipCall)
	waittest.Until(t, "the entry in Redis", func() bool {
		reply, err := redis.Do("KEYS sundry:ip:*")
		return err == nil && strings.HasPrefix(reply, "*1\r\n")
	})
	one.mustAsk(http.MethodPost, "purge", `{"endpoint":"ip","mode":"hard"}`)
	one.end()
	for range 3 {
		two := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", patient(redis.URL()))
		header, _ := mustGet(t, two.public+ipCall)
		if s := header.Get("Cache-Status"); strings.Contains(s, "redis") {
			t.Fatalf("a purged entry is served after a restart: %s", s)
		}
		two.mustAsk(http.MethodPost, "purge", `{"endpoint":"ip","mode":"hard"}`)
		two.end()
	}
}

// TestRedisIsNotBelievedBeforePurgesAreKnown: values can be read, the settings
// cannot.
func TestRedisIsNotBelievedBeforePurgesAreKnown(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	one := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", patient(redis.URL()))
	mustGet(t, one.public+ipCall)
	waittest.Until(t, "the entry in Redis", func() bool {
		reply, err := redis.Do("KEYS sundry:ip:*")
		return err == nil && strings.HasPrefix(reply, "*1\r\n")
	})
	one.mustAsk(http.MethodPost, "purge", `{"endpoint":"ip","mode":"hard"}`)
	one.end()
	wire := newRelay(t, redis.Addr)
	wire.set(false, reads(1<<30, cut))
	two := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", patient(wire.url()))
	header, _ := mustGet(t, two.public+ipCall)
	if s := header.Get("Cache-Status"); strings.Contains(s, "redis") {
		t.Errorf("a purged entry is served: %s", s)
	}
	wire.set(false, nil)
	waittest.Until(t, "the purge, and the entry in Redis", func() bool {
		_, body := mustGet(t, two.admin+"/metrics")
		return two.sequence() == "1" && strings.Contains(body, "\nsundry_far_queue_entries 0\n")
	})
	three := serveWith(t, onlyIn(t, "ip", "60s"), "--replay", "--redis", patient(wire.url()))
	header, _ = mustGet(t, three.public+ipCall)
	if s := header.Get("Cache-Status"); !strings.Contains(s, "redis") {
		t.Errorf("what was filled since does not come out of Redis: %s", s)
	}
}

// TestAStartDoesNotServeWhatWasPurgedLongAgo: Redis still has what was purged by its tag, and the settings no longer say so.
func TestAStartDoesNotServeWhatWasPurgedLongAgo(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	origin, calls := counting(t)
	dir := t.TempDir()
	write(t, dir, "news.yaml", "version: 1\nname: news\nproxy: {to: '"+origin+"'}\n")
	one := serveWith(t, onlyIn(t, "sfz"), "--catalog", dir, "--redis", patient(redis.URL()))
	mustGet(t, one.public+"/api/news/front")
	waittest.Until(t, "the response in Redis", func() bool { return redis.Must("EXISTS sundry:/web:news/front") == ":1\r\n" })
	one.order("purge", `{"endpoint":"news","mode":"hard","tag":"front"}`)
	for i := range 260 { // more than the settings and their audit log hold
		one.order("purge", fmt.Sprintf(`{"endpoint":"news","mode":"hard","url":"/other/%d"}`, i))
	}
	before := calls.Load()
	two := serveWith(t, onlyIn(t, "sfz"), "--catalog", dir, "--redis", patient(redis.URL()))
	if mustGet(t, two.public+"/api/news/front"); calls.Load() != before+1 {
		t.Error("what was purged is served out of Redis")
	}
	waittest.Until(t, "the new response in Redis", func() bool {
		return strings.Contains(redis.Must("GET sundry:/web:news/front"), fmt.Sprintf("key= %d", before+1))
	})
	three := serveWith(t, onlyIn(t, "sfz"), "--catalog", dir, "--redis", patient(redis.URL()))
	if mustGet(t, three.public+"/api/news/front"); calls.Load() != before+1 {
		t.Error("what was asked for since is not served out of Redis")
	}
}
