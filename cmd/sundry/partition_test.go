package main

import (
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

// serves returns what an instance serves.
func (m *sibling) serves() string {
	m.t.Helper()
	_, body := mustGet(m.t, m.public+"/api/own")
	return body
}

// withinASecond fails unless something becomes true within a second.
func withinASecond(t *testing.T, what string, ok func() bool) {
	t.Helper()
	takesAtMost(t, time.Second, what, ok)
}

func takesAtMost(t *testing.T, most time.Duration, what string, ok func() bool) {
	t.Helper()
	from := time.Now()
	waittest.Until(t, what, ok)
	if took := time.Since(from); took > most {
		t.Errorf("%s took %v", what, took)
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
// by its own age, once its copy is confirmed; and what was not is served on. Neither costs
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
	before := cut.serves()
	calls := cut.fills()
	waittest.Until(t, "a refresh on another instance", func() bool { return refreshing.serves() != before })
	if body := cut.serves(); body != before {
		t.Errorf("cut off, it serves %s", body)
	}
	p.away(false)
	takesAtMost(t, 6*time.Second, "what is newer", func() bool { return cut.serves() != before })
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
