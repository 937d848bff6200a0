package far

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// member is an instance that shares rates.
type member struct {
	*Rates
	t    *testing.T
	name string
}

func members(t *testing.T, url string, names ...string) (all []*member) {
	t.Helper()
	for _, name := range names {
		tier := open(t, url, unhurried)
		all = append(all, &member{tier.Rates("test"), t, name})
	}
	return all
}

// tells of one client, and returns what it hears of all.
func (m *member) tells(client string, used time.Duration) Fleet {
	m.t.Helper()
	report := Report{Secret: []byte("secret of " + m.name), Lag: 2 * time.Second, Most: time.Minute}
	if client != "" {
		report.Used = []Used{{client, used}}
	}
	fleet, err := m.Exchange(m.t.Context(), report)
	if err != nil {
		m.t.Fatal(err)
	}
	return fleet
}

// hears wants that a member hears of so many instances, and of these clients, within the
// time that a test takes.
func (m *member) hears(fleet Fleet, instances int, want ...Used) {
	m.t.Helper()
	if string(fleet.Secret) != "secret of one" || fleet.Instances != instances || len(fleet.Used) != len(want) {
		m.t.Fatalf("%s hears %+v, want %d instances and %v", m.name, fleet, instances, want)
	}
	for i, u := range fleet.Used {
		if u.Client != want[i].Client || u.Time > want[i].Time || u.Time < want[i].Time-10*time.Second {
			m.t.Errorf("%s hears %v, want %v", m.name, u, want[i])
		}
	}
}

// meets lets three share what clients have used.
func meets(t *testing.T, url string) {
	t.Helper()
	all := members(t, url, "one", "two", "six")
	one, two, three := all[0], all[1], all[2]
	one.hears(one.tells("", 0), 1)
	two.hears(two.tells("a\x00", 30*time.Second), 2, Used{"a\x00", 28 * time.Second})
	one.hears(one.tells("b", 22*time.Second), 2, Used{"a\x00", 28 * time.Second}, Used{"b", 20 * time.Second})
	three.hears(three.tells("b", 20*time.Second), 3, Used{"b", 40 * time.Second}, Used{"a\x00", 28 * time.Second})
	one.hears(one.tells("c", time.Second), 3, Used{"b", 40 * time.Second}, Used{"a\x00", 28 * time.Second})
	two.hears(two.tells("b", time.Hour), 3, Used{"b", time.Minute}, Used{"a\x00", 28 * time.Second})
}

func TestRatesAreShared(t *testing.T) { servers(t, meets) }

func TestRatesAreSharedInACluster(t *testing.T) {
	t.Parallel()
	nodes := redistest.StartCluster(t, 2)
	meets(t, "redis+cluster://"+nodes[1].Addr)
}

func TestRatesAreSharedWithSentinel(t *testing.T) {
	master := redistest.Start(t)
	meets(t, "redis://"+redistest.StartSentinel(t, master).Addr+"?master_name=main")
}

// TestRatesTakeOneRoundTrip: and leave nothing that does not expire.
func TestRatesTakeOneRoundTrip(t *testing.T) {
	server := redistest.Start(t)
	one := members(t, server.URL(), "one")[0]
	one.tells("a", 30*time.Second)
	before := reads(t, server)
	for range 5 {
		one.tells("a", time.Second)
	}
	if n := reads(t, server) - before; n > 5+2 { // those of asking
		t.Errorf("%d events of reading for five rounds", n)
	}
	for _, key := range one.keys {
		if ttl := server.Must("PTTL " + key); strings.HasPrefix(ttl, ":-") {
			t.Errorf("%s has the TTL %s", key, ttl)
		}
	}
	if n := server.Must("DBSIZE"); n != ":3\r\n" {
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

// TestRatesAreBounded: what is restored, what is of a clock that was set back, and who is
// silent are forgotten, and an instance is told of those that have used most.
func TestRatesAreBounded(t *testing.T) {
	server := redistest.Start(t)
	one := members(t, server.URL(), "one")[0]
	now := time.Now().UnixMicro()
	for client, full := range map[string]time.Duration{"restored": -time.Minute, "ahead": time.Hour} {
		server.Must(fmt.Sprintf("ZADD %s %d %s", one.keys[2], now+full.Microseconds(), client))
	}
	server.Must(fmt.Sprintf("ZADD %s %d other", one.keys[1], now-time.Minute.Microseconds()))
	one.hears(one.tells("a", 30*time.Second), 1, Used{"a", 28 * time.Second})
	if n := server.Must("ZCARD " + one.keys[2]); n != ":1\r\n" {
		t.Errorf("%s clients are left", n)
	}
	for i := range maxRates {
		server.Must(fmt.Sprintf("ZADD %s %d c%d", one.keys[2], now+(40*time.Second).Microseconds(), i))
	}
	if f := one.tells("", 0); len(f.Used) != maxRates || f.Used[maxRates-1].Client == "a" {
		t.Errorf("it is told of %d clients, the last of which is %v", len(f.Used), f.Used[len(f.Used)-1])
	}
}

// TestRatesOfARedisThatForgotEverything: the fleet goes on with a secret of its own.
func TestRatesOfARedisThatForgotEverything(t *testing.T) {
	server := redistest.Start(t)
	all := members(t, server.URL(), "one", "two")
	one, two := all[0], all[1]
	one.tells("a", 30*time.Second)
	two.tells("a", 10*time.Second)
	server.Restart()
	for _, m := range []*member{one, two} {
		waittest.Until(t, "a connection", func() bool {
			_, err := m.Exchange(t.Context(), Report{Secret: []byte("secret of one")})
			return err == nil
		})
	}
	two.hears(two.tells("b", 10*time.Second), 2, Used{"b", 8 * time.Second})
}

// TestRatesWithASickRedis end soon, with a reason, and go on when it is well.
func TestRatesWithASickRedis(t *testing.T) {
	server, tier := started(t, func(c *Config) { c.Timeout = 40 * time.Millisecond })
	e := tier.Rates("test")
	try := func(ctx context.Context) error {
		_, err := e.Exchange(ctx, Report{Secret: []byte("s"), Most: time.Minute})
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
		{"without sets", "refused", t.Context(), func() { server.Must("ACL SETUSER default -zadd") }, func() { server.Must("ACL SETUSER default +zadd") }},
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
		t.Error("rates that fail stop the cache")
	}
}
