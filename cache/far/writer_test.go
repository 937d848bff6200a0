package far

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/far/redistest"
)

// unhealthy counts writes that failed or were not tried.
func unhealthy(tier *Tier) float64 {
	n := 0.0
	for _, r := range []string{"refused", "error", "rejected"} {
		n += testutil.ToFloat64(tier.metrics.writes.WithLabelValues(r))
	}
	return n
}

func empty(tier *Tier) func() bool {
	return func() bool { all, _ := tier.queue.waiting(); return all == 0 }
}

func TestAddKeepsWhatIsThere(t *testing.T) {
	servers(t, func(t *testing.T, url string) {
		tier := open(t, url, unhurried)
		tier.set("k", []byte("first"), time.Minute)
		tier.add("k", []byte("second"), time.Minute)
		tier.add("brief", []byte("v"), 0)
		waittest.Until(t, "the writes", empty(tier))
		waittest.Until(t, "the value", func() bool { return string(tier.Look(t.Context(), "k", 0).Value) == "first" })
		tier.set("k", []byte("third"), time.Minute)
		waittest.Until(t, "the value", func() bool { return string(tier.Look(t.Context(), "k", 0).Value) == "third" })
	})
}

func TestAddedValuesEnd(t *testing.T) {
	server, tier := started(t, unhurried)
	tier.add("k", []byte("v"), time.Minute)
	waittest.Until(t, "the value", func() bool { return tier.Look(t.Context(), "k", 0).Value != nil })
	if reply := server.Must("TTL sundry:k"); reply != ":60\r\n" && reply != ":59\r\n" {
		t.Errorf("it ends in %q", reply)
	}
}

// TestWritesOfAKeyKeepTheirOrder: large values and small ones, deletions
// between; the last write counts.
func TestWritesOfAKeyKeepTheirOrder(t *testing.T) {
	server := redistest.Start(t)
	tier, err := Open(Config{URL: server.URL(), Queue: 1 << 16}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 1<<20)
	want := map[string]string{}
	for i := range 400 {
		key := fmt.Sprint(rand.IntN(20))
		switch rand.IntN(4) {
		case 0:
			tier.del(key)
			want[key] = ""
		case 1:
			want[key] = fmt.Sprint(i, large[:rand.IntN(len(large))])
			tier.set(key, []byte(want[key]), time.Minute)
		default:
			want[key] = fmt.Sprint(i)
			tier.set(key, []byte(want[key]), time.Minute)
		}
	}
	if err := tier.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	check := open(t, server.URL(), unhurried)
	for key, v := range want {
		if got := check.Look(t.Context(), key, 0).Value; string(got) != v {
			t.Errorf("%s: %.10q, want %.10q", key, got, v)
		}
	}
}

// TestDeletionsArriveAfterTrouble, and marks, whatever state Redis was in when they were made,
// and with the queue full of values.
func TestDeletionsArriveAfterTrouble(t *testing.T) {
	cases := map[string]struct{ fail, recover func(*redistest.Server) }{
		"frozen":    {(*redistest.Server).Freeze, (*redistest.Server).Thaw},
		"a replica": {func(s *redistest.Server) { s.Must("REPLICAOF 127.0.0.1 1") }, func(s *redistest.Server) { s.Must("REPLICAOF NO ONE") }},
		"forbidden": {
			func(s *redistest.Server) { s.Must("ACL SETUSER default -set -del") },
			func(s *redistest.Server) { s.Must("ACL SETUSER default +set +del") },
		},
		"paused": {func(s *redistest.Server) { s.Must("CLIENT PAUSE 30000 WRITE") }, func(s *redistest.Server) { s.Must("CLIENT UNPAUSE") }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, tier := started(t, func(c *Config) { c.Queue = 8 })
			for i := range 30 {
				server.Must(fmt.Sprintf("SET sundry:%d %s", i, sealed(fmt.Sprint(i), "v")))
			}
			waittest.Until(t, "a value to delete", func() bool { return tier.Look(t.Context(), "1", 0).Value != nil })
			c.fail(server)
			for i := range 100 {
				tier.set(fmt.Sprint("more", i), []byte("v"), time.Minute)
			}
			for i := range 15 {
				tier.del(fmt.Sprint(i))
				tier.Mark(fmt.Sprint(i+15), nextDate(), []byte("gone"), time.Minute, false)
			}
			for i := range 30 {
				tier.set(fmt.Sprint("later", i), []byte("v"), time.Minute)
			}
			waittest.Until(t, "trouble", func() bool { return unhealthy(tier) >= 5 })
			c.recover(server)
			waittest.Until(t, "the deletions", func() bool {
				reply := server.Must("EVAL \"local n = 0 for i = 0, 14 do n = n + redis.call('exists', 'sundry:' .. i) end return n\" 0")
				return strings.HasPrefix(reply, ":0")
			})
			waittest.Until(t, "the marks", func() bool {
				for i := range 15 {
					if string(tier.Look(t.Context(), fmt.Sprint(i+15), 0).Value) != "gone" {
						return false
					}
				}
				return true
			})
			waittest.Until(t, "the queue to be empty", empty(tier))
		})
	}
}

// TestRefusedDeletionsWait until they are due: a Redis that refuses is not asked again and again meanwhile.
func TestRefusedDeletionsWait(t *testing.T) {
	now := time.Now()
	refused, same, other := &job{kind: deleting, key: "k"}, &job{key: "k"}, &job{key: "other"}
	for name, row := range map[string]struct {
		waits        *job
		due          time.Duration
		closed, last bool
		want         []*job
	}{
		"not due":                        {due: time.Second},
		"not due, behind another key":    {due: time.Second, waits: other, want: []*job{other}},
		"due":                            {want: []*job{refused}},
		"due, behind another key":        {waits: other, want: []*job{refused, other}},
		"a write of the key":             {due: time.Second, waits: same, want: []*job{refused, same}},
		"the queue was closed":           {due: time.Second, closed: true, want: []*job{refused}},
		"made since the queue is closed": {due: time.Second, closed: true, last: true},
	} {
		q := newQueue(100, 1000)
		w := &writer{tier: &Tier{queue: q}, shard: &q.shards[0], retries: []*job{refused}, due: now.Add(row.due), last: row.last}
		if row.waits != nil {
			w.shard.jobs, w.shard.queued[row.waits.key] = []*job{row.waits}, 1
		}
		if got := w.take(now, row.closed); !slices.Equal(got, row.want) {
			t.Errorf("%s: %d are sent, want %d", name, len(got), len(row.want))
		}
	}
}

// TestDeletionOfAFullRedis: it deletes while it refuses values.
func TestDeletionOfAFullRedis(t *testing.T) {
	server, tier := started(t, func(c *Config) { c.Timeout, c.OpenFor = time.Second, time.Hour })
	server.Must("SET sundry:k " + sealed("k", "v"))
	server.Must("CONFIG SET maxmemory 1")
	for range 10 {
		tier.set("more", []byte("v"), time.Minute)
	}
	waittest.Until(t, "a pause of writes", func() bool { return tier.writes.blocked() })
	tier.del("k")
	waittest.Until(t, "the deletion", func() bool { return tier.Look(t.Context(), "k", 0).Value == nil })
}

func TestOldDeletionsAndMarksAreStillCarriedOut(t *testing.T) {
	server, tier := started(t, unhurried)
	server.Must("SET sundry:k " + sealed("k", "v"))
	hour := time.Now().Add(-time.Hour)
	tier.queue.push(&job{kind: writing, cacheKey: "old", key: "sundry:old", value: []byte("v"), ttl: time.Minute, at: hour})
	tier.queue.push(&job{kind: deleting, cacheKey: "k", key: "sundry:k", created: hour, at: hour})
	waittest.Until(t, "the writes", empty(tier))
	waittest.Until(t, "the deletion", func() bool { return server.Must("DBSIZE") == ":0\r\n" })
	tier.queue.push(&job{kind: marking, cacheKey: "m", key: "sundry:m", created: hour, make: ready([]byte("gone"), time.Minute), at: hour})
	waittest.Until(t, "the mark", func() bool { return string(tier.Look(t.Context(), "m", 0).Value) == "gone" })
	if n := testutil.ToFloat64(tier.metrics.dropped); n != 1 {
		t.Errorf("%v dropped", n)
	}
}

func TestDeletionsAreBoundedAndCoalesce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	tier, err := Open(Config{URL: server.URL(), OpenFor: time.Minute}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	server.Freeze()
	for range 10_000 {
		tier.set("k", []byte("v"), time.Minute)
		tier.del("k")
	}
	if all, _ := tier.queue.waiting(); all > 3 {
		t.Errorf("%d writes wait for one key", all)
	}
	start := time.Now()
	for i := range 2 * shardCount * maxDeletions {
		tier.del(fmt.Sprint(i))
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, deletions := tier.queue.waiting(); deletions > shardCount*maxDeletions || deletions < shardCount*maxDeletions/2 {
		t.Errorf("%d deletions wait", deletions)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start = time.Now()
	if err := tier.Close(ctx); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("closing took %v", took)
	}
	if all, _ := tier.queue.waiting(); all != 0 {
		t.Errorf("%d are left", all)
	}
}

// TestValueAfterADeletionToBeRetried is written, and not deleted by the retry.
func TestValueAfterADeletionToBeRetried(t *testing.T) {
	server, tier := started(t, unhurried)
	server.Must("SET sundry:k " + sealed("k", "old"))
	server.Must("ACL SETUSER default -del")
	tier.del("k")
	waittest.Until(t, "the refusal", func() bool { return unhealthy(tier) > 0 })
	server.Must("ACL SETUSER default +del")
	tier.add("k", []byte("new"), time.Minute)
	waittest.Until(t, "the writes", empty(tier))
	if v := tier.Look(t.Context(), "k", 0).Value; string(v) != "new" {
		t.Errorf("%q", v)
	}
}

// TestReleasesGoAlongWithWrites: after all earlier writes of the key.
func TestReleasesGoAlongWithWrites(t *testing.T) {
	tier := open(t, "redis://127.0.0.1:1/0")
	for jobs, want := range map[string]string{
		"Wa Ra":             "Wa+Ra",
		"Wa":                "Wa",
		"Ra Rb":             "Ra Rb",
		"Ra Wa":             "Ra Wa",
		"Wa Wb Rb Ra":       "Wa+Ra Wb+Rb",
		"Wa Wa Ra":          "Wa Wa+Ra",
		"Wa Da Ra":          "Wa Da Ra",
		"Fa Ra":             "Fa Ra",
		"Wa Fa Ra":          "Wa Fa Ra",
		"Wa Ra Ra":          "Wa+Ra Ra",
		"Wa Ra Wa Ra Da Ra": "Wa+Ra Wa+Ra Da Ra",
		"wa Ra":             "wa Ra",
		"Wa ra":             "Wa ra",
	} {
		var all []*job
		name := map[*job]string{}
		for s := range strings.FieldsSeq(jobs) {
			k := map[byte]kind{'W': writing, 'R': releasing, 'D': deleting, 'F': failing}[s[0]&^32]
			all = append(all, &job{kind: k, cacheKey: s[1:], tried: s[0] >= 'a'})
			name[all[len(all)-1]] = s
		}
		var got []string
		for _, j := range (&writer{tier: tier}).withReleases(all) {
			s := name[j]
			if j.release != nil {
				s += "+" + name[j.release]
			}
			got = append(got, s)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", jobs, strings.Join(got, " "), want)
		}
	}
}

func TestAWriteThatReleasesALease(t *testing.T) {
	server, tier := started(t, unhurried)
	for name, c := range map[string]struct {
		before, lease string // what is there; the lease's value
		forbid        string
		stored        bool // ours
		left          bool // the lease
		failed        bool
	}{
		"ours":                  {lease: "token", stored: true},
		"another's":             {lease: "other", stored: true, left: true},
		"none":                  {stored: true},
		"beside an older entry": {before: "=00000000000001v", lease: "token", stored: true},
		"beside a newer entry":  {before: fmt.Sprintf("=%014dv", time.Now().UnixMilli()), lease: "token"},
		"not to be deleted":     {lease: "token", forbid: "-del", stored: true, left: true},
		"not to be written":     {lease: "token", forbid: "-set", left: true, failed: true},
	} {
		server.Must("FLUSHALL")
		if c.before != "" {
			server.Must("SET sundry:k " + c.before)
		}
		if c.lease != "" {
			server.Must("SET sundry:lease:k " + c.lease)
		}
		if c.forbid != "" {
			server.Must("ACL SETUSER default " + c.forbid)
		}
		j := &job{kind: writing, cacheKey: "k", key: tier.name("", "k"), created: nextDate(), ttl: time.Minute, value: []byte("=00000000000002value")}
		j.release = &job{kind: releasing, cacheKey: "k", key: tier.name(leasePrefix, "k"), token: "token"}
		o := tier.carryOut([]*job{j})[0]
		server.Must("ACL SETUSER default +set +del")
		stored := strings.Contains(server.Must("GET sundry:k"), "value")
		left := strings.Contains(server.Must("EXISTS sundry:lease:k"), "1")
		if stored != c.stored || left != c.left || (o.err != nil) != c.failed || o.leased != (c.forbid == "-del") {
			t.Errorf("%s: stored %v, lease left %v, %+v", name, stored, left, o)
		}
	}
}

// TestAReleaseIsNotLostWithItsWrite where Redis refuses one of them.
func TestAReleaseIsNotLostWithItsWrite(t *testing.T) {
	for _, forbid := range []string{"set", "del"} {
		server, tier := started(t, unhurried)
		_, release := tier.Lease(t.Context(), "k", time.Minute)
		server.Must("ACL SETUSER default -" + forbid)
		server.Freeze()
		tier.set("k", []byte("v"), time.Minute)
		release()
		server.Thaw()
		if forbid == "del" {
			waittest.Until(t, "the release to be refused", func() bool { return unhealthy(tier) > 0 })
			server.Must("ACL SETUSER default +del")
		}
		waittest.Until(t, "the release", func() bool { return !tier.Look(t.Context(), "k", 0).Leased })
		waittest.Until(t, "the queue to be empty", empty(tier))
	}
}
