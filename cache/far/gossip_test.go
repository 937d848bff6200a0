package far

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// member is an instance that gossips.
type member struct {
	*Gossip
	t    *testing.T
	name string
}

func members(t *testing.T, url string, names ...string) (all []*member) {
	t.Helper()
	for _, name := range names {
		tier := open(t, url, func(c *Config) { c.Timeout = time.Second })
		all = append(all, &member{tier.Gossip("rates"), t, name})
	}
	return all
}

// hears posts a report that names the member, and wants those of others.
func (m *member) hears(want ...string) {
	m.t.Helper()
	secret, reports, err := m.Round(m.t.Context(), []byte("secret of "+m.name), []byte("from "+m.name))
	if err != nil {
		m.t.Fatal(err)
	}
	if string(secret) != "secret of one" {
		m.t.Errorf("%s: the secret is %q", m.name, secret)
	}
	var got []string
	for _, r := range reports {
		got = append(got, strings.TrimPrefix(string(r.Body), "from "))
		if r.Age < 0 || r.Age > 5*time.Second || r.From == "" || r.From == m.self {
			m.t.Errorf("%s: from %q, %v old", m.name, r.From, r.Age)
		}
	}
	if !slices.Equal(got, want) {
		m.t.Errorf("%s hears %v, want %v", m.name, got, want)
	}
}

// gossips lets three meet.
func gossips(t *testing.T, url string) {
	t.Helper()
	all := members(t, url, "one", "two", "three")
	one, two, three := all[0], all[1], all[2]
	one.hears()
	two.hears("one")
	one.hears("two")
	one.hears()
	three.hears("one", "two", "one", "one")
	one.hears("three")
	two.hears("one", "one", "three", "one")
	three.hears("one", "two")
}

func TestReportsAreExchanged(t *testing.T) { servers(t, gossips) }

func TestReportsAreExchangedInACluster(t *testing.T) {
	nodes := redistest.StartCluster(t, 2)
	gossips(t, "redis+cluster://"+nodes[1].Addr)
}

func TestReportsAreExchangedWithSentinel(t *testing.T) {
	master := redistest.Start(t)
	gossips(t, "redis+sentinel://"+redistest.StartSentinel(t, master).Addr+"/main")
}

// TestARoundOfGossipIsOneRoundTrip: and leaves nothing that does not expire.
func TestARoundOfGossipIsOneRoundTrip(t *testing.T) {
	server := redistest.Start(t)
	one := members(t, server.URL(), "one")[0]
	one.hears()
	before := reads(t, server)
	for range 5 {
		one.hears()
	}
	if n := reads(t, server) - before; n > 5+2 { // those of asking
		t.Errorf("%d events of reading for five rounds", n)
	}
	for _, key := range []string{one.stream, one.secret} {
		if ttl := server.Must("PTTL " + key); strings.HasPrefix(ttl, ":-") {
			t.Errorf("%s has the TTL %s", key, ttl)
		}
	}
	if n := server.Must("DBSIZE"); n != ":2\r\n" {
		t.Errorf("%s keys", n)
	}
}

// reads is how many times the server has read from its clients.
func reads(t *testing.T, server *redistest.Server) (n int) {
	t.Helper()
	reply := server.Must(`EVAL "return string.match(redis.call('info','stats'),'total_reads_processed:(%d+)')" 0`)
	if _, err := fmt.Sscanf(reply[strings.Index(reply, "\n")+1:], "%d", &n); err != nil {
		t.Fatalf("%q: %v", reply, err)
	}
	return n
}

// TestOldReportsAreTrimmed: however long a fleet lives, what it keeps is bounded.
func TestOldReportsAreTrimmed(t *testing.T) {
	server := redistest.Start(t, "--stream-node-max-entries", "1")
	one := members(t, server.URL(), "one")[0]
	for i := range 50 {
		server.Must(fmt.Sprintf("XADD %s %d-1 from other body old", one.stream, i+1))
	}
	server.Must("XADD " + one.stream + " * from other body new")
	secret := func(body string) []Report {
		_, reports, err := one.Round(t.Context(), []byte("s"), []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		return reports
	}
	if r := secret("first"); len(r) != 1 || string(r[0].Body) != "new" {
		t.Errorf("%d reports, of which one can still be read", len(r))
	}
	secret("second") // knows the time by now
	if n := server.Must("XLEN " + one.stream); n != ":3\r\n" {
		t.Errorf("%s entries are left", n)
	}
}

// TestRedisThatForgotEverything: it is restarted empty, even with an earlier clock,
// and the fleet goes on with its own secret.
func TestRedisThatForgotEverything(t *testing.T) {
	server := redistest.Start(t)
	all := members(t, server.URL(), "one", "two")
	one, two := all[0], all[1]
	one.hears()
	two.hears("one")
	server.Restart()
	two.last.ms += 1_000_000
	healed := func() bool {
		_, _, err := one.Round(t.Context(), []byte("secret of one"), []byte("from one"))
		return err == nil
	}
	waittest.Until(t, "a connection", healed)
	waittest.Until(t, "another connection", func() bool {
		_, reports, err := two.Round(t.Context(), []byte("secret of two"), []byte("from two"))
		return err == nil && len(reports) == 0
	})
	two.hears() // the first was trimmed, with all that seemed old
	one.hears("two")
	two.hears("one")
}

// TestGossipWithASickRedis end soon, with a reason, and go on when it is well.
func TestGossipWithASickRedis(t *testing.T) {
	server := redistest.Start(t)
	tier := open(t, server.URL(), func(c *Config) { c.Timeout = 40 * time.Millisecond })
	e := tier.Gossip("rates")
	try := func(ctx context.Context) error {
		_, _, err := e.Round(ctx, []byte("s"), []byte("b"))
		return err
	}
	done := func() bool { return try(t.Context()) == nil }
	ended, end := context.WithCancel(t.Context())
	end()
	for _, row := range []struct {
		name, result string
		ctx          context.Context
		make, mend   func()
	}{
		{"frozen", "timeout", t.Context(), server.Freeze, server.Thaw},
		{"full", "refused", t.Context(), func() { server.Must("CONFIG SET maxmemory 1") }, func() { server.Must("CONFIG SET maxmemory 0") }},
		{"read-only", "refused", t.Context(), func() { server.Must("REPLICAOF 127.0.0.1 1") }, func() { server.Must("REPLICAOF NO ONE") }},
		{"without streams", "refused", t.Context(), func() { server.Must("ACL SETUSER default -xadd") }, func() { server.Must("ACL SETUSER default +xadd") }},
		{"dead", "error", t.Context(), server.Stop, server.Restart},
		{"not wanted any more", "canceled", ended, func() {}, func() {}},
	} {
		waittest.Until(t, "a round", done)
		row.make()
		count := tier.metrics.gossip.WithLabelValues(row.result)
		before, start := testutil.ToFloat64(count), time.Now()
		if err := try(row.ctx); err == nil {
			t.Errorf("%s: no error", row.name)
		}
		if took := time.Since(start); took > 10*tier.writeTime {
			t.Errorf("%s: it took %v", row.name, took)
		}
		if n := testutil.ToFloat64(count) - before; n != 1 {
			t.Errorf("%s: counted as something else than %s", row.name, row.result)
		}
		row.mend()
	}
	waittest.Until(t, "a round", done)
	if tier.writes.blocked() || tier.reads.blocked() {
		t.Error("gossip that fails stops the cache")
	}
}

func TestEntryIDs(t *testing.T) {
	for text, want := range map[string]entryID{"0-0": {}, "1700000000000-3": {1_700_000_000_000, 3}, "18446744073709551615-1": {1<<64 - 1, 1}} {
		if got, ok := parseEntryID(text); !ok || got != want || got.String() != text {
			t.Errorf("%s: %v %v", text, got, ok)
		}
	}
	for _, bad := range []string{"", "1", "-", "1-", "-1", "a-1", "1-b", "1-2-3", "18446744073709551616-1"} {
		if got, ok := parseEntryID(bad); ok {
			t.Errorf("%q: %v", bad, got)
		}
	}
	id := entryID{20_000, 5}
	if got := id.before(reportLife); got != "10000-0" {
		t.Error(got)
	}
	if got := (entryID{}).before(reportLife); got != "" {
		t.Error(got)
	}
	for earlier, want := range map[entryID]time.Duration{{19_000, 9}: time.Second, {20_000, 1}: 0, {21_000, 1}: 0, {}: 20 * time.Second} {
		if got := id.since(earlier); got != want {
			t.Errorf("since %v: %v, want %v", earlier, got, want)
		}
	}
	if got := (entryID{ms: 1<<64 - 1}).since(entryID{}); got != time.Hour {
		t.Error(got)
	}
}
