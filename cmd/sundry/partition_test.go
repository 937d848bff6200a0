package main

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// partition is a fleet of three, the last of which can be cut off from Redis.
type partition struct {
	t     *testing.T
	up    *upstream
	fleet []*sibling
	cut   *sibling
	wire  *relay
}

func newPartition(t *testing.T, rule string, configs ...string) *partition {
	t.Helper()
	p := &partition{t: t, up: newsUpstream(t)}
	dir, redis := catalogDir(t, p.up, rule), redistest.Start(t)
	p.wire = newRelay(t, redis.Addr)
	configs = append(configs, "", "", "")
	for i, url := range []string{redis.URL(), redis.URL(), p.wire.url()} {
		p.fleet = append(p.fleet, newSibling(t, configs[i], "--catalog", dir, "--redis", url))
	}
	p.cut = p.fleet[2]
	return p
}

// away cuts the last instance off, or lets it return, and waits until it says the first.
func (p *partition) away(yes bool) {
	p.t.Helper()
	p.wire.set(yes, nil)
	if yes {
		waittest.Until(p.t, "the instance to say that it is cut off", func() bool { return !p.cut.inSync() })
	}
}

// inSync is what an instance says of itself, to whoever asks whether it is ready.
func (m *sibling) inSync() bool {
	m.t.Helper()
	_, body := mustGet(m.t, m.admin+"/readyz")
	return body == "ok\n"
}

// change makes a change on an instance, as an operator.
func (m *sibling) change(method, path, body string) {
	m.t.Helper()
	(&instance{t: m.t, admin: m.admin}).mustAsk(method, path, body)
}

// serves returns what an instance serves, and how long that is fresh.
func (m *sibling) serves() (body string, ttl time.Duration) {
	m.t.Helper()
	header, body := mustGet(m.t, m.public+"/api/own")
	found := maxAge.FindStringSubmatch(header.Get("Cache-Control"))
	if found == nil {
		m.t.Fatalf("%v", header)
	}
	seconds, err := strconv.Atoi(found[1])
	if err != nil {
		m.t.Fatal(err)
	}
	return body, time.Duration(seconds) * time.Second
}

// knows reports whether an instance has a TTL in force (jitter shortens it for each
// entry), and no longer serves an answer.
func (m *sibling) knows(ttl time.Duration, purged string) bool {
	m.t.Helper()
	body, is := m.serves()
	return is <= ttl && body != purged
}

// withinASecond fails unless something becomes true within a second.
func withinASecond(t *testing.T, what string, ok func() bool) {
	t.Helper()
	from := time.Now()
	waittest.Until(t, what, ok)
	if took := time.Since(from); took > time.Second {
		t.Errorf("%s took %v", what, took)
	}
}

// TestAPurgeAndATTLReachAFleet within a second; and an instance that was cut off from
// Redis before it serves again what was purged.
func TestAPurgeAndATTLReachAFleet(t *testing.T) {
	t.Parallel()
	p := newPartition(t, "ttl: 1h, grace: 1h, stale_if_error: 1h")
	for range 3 { // from Redis, then from bigcache, then from the hot table
		for _, m := range p.fleet {
			waittest.Until(t, "the first answer", func() bool { return m.knows(time.Hour, "") })
		}
	}
	first, _ := p.cut.serves()
	p.fleet[0].change(http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"30m"}}`)
	p.fleet[0].change(http.MethodPost, "purge", `{"endpoint":"own","mode":"hard"}`)
	for _, m := range p.fleet {
		withinASecond(t, "a purge and a TTL", func() bool { return m.knows(30*time.Minute, first) })
	}

	waittest.Until(t, "the same everywhere", func() bool {
		one, _ := p.fleet[0].serves()
		two, _ := p.cut.serves()
		return one == two
	})
	second, _ := p.cut.serves()
	p.away(true)
	p.fleet[1].change(http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"20m"}}`)
	p.fleet[1].change(http.MethodPost, "purge", `{"endpoint":"own","mode":"hard"}`)
	for _, m := range p.fleet[:2] {
		withinASecond(t, "a purge and a TTL beside a partition", func() bool { return m.knows(20*time.Minute, second) })
	}
	if body, ttl := p.cut.serves(); body != second || ttl <= 20*time.Minute {
		t.Errorf("cut off, it does not serve on: %s, %v", body, ttl)
	}
	p.away(false)
	withinASecond(t, "the return", func() bool {
		back := p.cut.inSync()
		known := p.cut.knows(20*time.Minute, second)
		if back && !known {
			t.Error("in sync again, it serves what was purged")
		}
		return known
	})
	for range 100 {
		if !p.cut.knows(20*time.Minute, second) {
			t.Fatal("what was purged came back")
		}
	}
}

// TestAnInstanceThatIsCutOffSaysSo, and still is ready for traffic.
func TestAnInstanceThatIsCutOffSaysSo(t *testing.T) {
	t.Parallel()
	p := newPartition(t, "ttl: 1h, grace: 1h, stale_if_error: 1h")
	ready := func() string {
		_, body := mustGet(t, p.cut.admin+"/readyz")
		return body
	}
	if body := ready(); body != "ok\n" {
		t.Errorf("%q", body)
	}
	p.cut.serves()
	for range 2 {
		p.away(true)
		if body := ready(); !strings.HasPrefix(body, "ok\nsettings: not in sync") {
			t.Errorf("%q", body)
		}
		if m := p.cut.metric("sundry_settings_in_sync"); m != "0" {
			t.Errorf("the metric says %s", m)
		}
		if _, body := mustGet(t, p.cut.public+"/readyz"); body != "ok\n" {
			t.Errorf("%q", body)
		}
		if _, body := mustGet(t, p.cut.admin+"/admin/api/overview"); !strings.Contains(body, `"in_sync":false`) {
			t.Error(body)
		}
		p.cut.serves()
		waittest.Until(t, "several reads to fail", func() bool { return p.cut.metric("sundry_settings_failures_total") > "2" })
		p.away(false)
		withinASecond(t, "the return", p.cut.inSync)
		if m := p.cut.metric("sundry_settings_in_sync"); m != "1" {
			t.Errorf("the metric says %s", m)
		}
	}
	log := p.cut.stderr.String()
	if out, back := strings.Count(log, "not in sync with the store"), strings.Count(log, "in sync with the store again"); out != 2 || back != 2 {
		t.Errorf("two outages made %d and %d lines in the log", out, back)
	}
}

// TestWhatWasRefreshedDuringAPartition is served when it is over, though the copy is fresh
// by its own age and the announcement is lost; and what was not is served on. Neither costs
// a call upstream.
func TestWhatWasRefreshedDuringAPartition(t *testing.T) {
	t.Parallel()
	p := newPartition(t, "ttl: 1h, grace: 1h, stale_if_error: 1h", "endpoints: {own: {cache: {ttl: 2s}}}\n")
	refreshing, cut := p.fleet[0], p.cut
	refreshing.serves()
	for range 3 { // from Redis, then from bigcache, then from the hot table
		cut.serves()
		mustGet(t, cut.public+"/api/own?id=2")
	}
	_, other := mustGet(t, cut.public+"/api/own?id=2")
	p.away(true)
	before, _ := cut.serves()
	calls := cut.fills()
	waittest.Until(t, "a refresh on another instance", func() bool { body, _ := refreshing.serves(); return body != before })
	if body, _ := cut.serves(); body != before {
		t.Errorf("cut off, it serves %s", body)
	}
	p.away(false)
	withinASecond(t, "what is newer", func() bool { body, _ := cut.serves(); return body != before })
	for range 3 {
		if _, body := mustGet(t, cut.public+"/api/own?id=2"); body != other {
			t.Errorf("%s became %s, and nobody has refreshed it", other, body)
		}
	}
	if n := cut.fills(); n != calls {
		t.Errorf("its fills were %s, and are %s", calls, n)
	}
}

// fills counts what an instance has fetched itself.
func (m *sibling) fills() string {
	m.t.Helper()
	return m.metric(`sundry_cache_refreshes_total{endpoint="own",result="changed"}`)
}
