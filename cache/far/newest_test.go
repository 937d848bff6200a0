package far

import (
	"fmt"
	"hash/maphash"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics/panics"
	"sundry/upstreams/lib/waittest"

	"sundry/cache/far/redistest"
)

// TestNothingOlderWins, whichever of two instances writes last.
func TestNothingOlderWins(t *testing.T) {
	now := time.Now().Truncate(time.Millisecond)
	type entry struct {
		text        string
		created     time.Time
		replaceable bool
	}
	older, newer := entry{"older", now.Add(-2 * time.Second), false}, entry{"newer", now.Add(-time.Second), false}
	negative, laterNegative := entry{"negative", now.Add(-time.Second), true}, entry{"later negative", now, true}
	rows := map[string]struct {
		first, second entry
		want          string
	}{
		"in order":                            {older, newer, "newer"},
		"a slow one":                          {newer, older, "newer"},
		"the same time":                       {newer, entry{"other", newer.created, false}, "newer"},
		"a negative one":                      {older, negative, "older"},
		"in the place of a negative one":      {negative, newer, "newer"},
		"late, in that of a negative one":     {negative, older, "older"},
		"negative ones":                       {negative, laterNegative, "later negative"},
		"negative ones, a slow one":           {laterNegative, negative, "later negative"},
		"by a clock that is an hour ahead":    {entry{"ahead", now.Add(time.Hour), false}, entry{"after it", now.Add(time.Minute), false}, "after it"},
		"what another program has put there":  {entry{text: "garbage"}, older, "older"},
		"what has an older layout, of before": {entry{text: "=123"}, older, "older"},
	}
	servers(t, func(t *testing.T, url string) {
		one, two := open(t, url, unhurried), open(t, url, unhurried)
		one.learnClock() // once: readings differ by some milliseconds, and here each counts
		two.clock.ahead.Store(one.clock.ahead.Load())
		two.clock.known.Store(true)
		for key, r := range rows {
			if r.first.created.IsZero() {
				if err := one.client.Set(t.Context(), "sundry:"+key, r.first.text, 0).Err(); err != nil {
					t.Fatal(err)
				}
			} else {
				one.Set(key, r.first.created, r.first.replaceable, 1, ready([]byte(r.first.text), time.Minute))
			}
			waittest.Until(t, "the first write", empty(one))
			if r.second.text == "after it" { // created by then
				r.second.created = time.Now().Add(2 * time.Millisecond)
			}
			two.Share(key, r.second.created, r.second.replaceable, 1, ready([]byte(r.second.text), time.Minute), nil)
			waittest.Until(t, "the second write", empty(two))
			if v := one.Look(t.Context(), key, 0).Value; string(v) != r.want {
				t.Errorf("%s: %q, want %q", key, v, r.want)
			}
		}
	})
}

// TestAClockThatIsOff is translated: entries are dated by the clock of Redis, and read by
// this machine's.
func TestAClockThatIsOff(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour, "a little ahead": 500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			server := miniredis.RunT(t)
			server.SetTime(time.Now().Add(off))
			tier := open(t, "redis://"+server.Addr(), patient)
			begun := time.Now().Add(-10 * time.Second).Round(10 * time.Second)
			tier.Share("k", begun, false, 1, ready([]byte("v"), time.Minute), nil)
			waittest.Until(t, "the write", empty(tier))
			const readings = 250 * time.Millisecond // the clock of this server stands still: on a busy machine they differ
			if created := tier.Look(t.Context(), "k", 0).Created; created.Sub(begun).Abs() > readings {
				t.Errorf("dated %v, reads %v", begun, created)
			}
			stored, err := server.Get("sundry:k")
			if err != nil {
				t.Fatal(err)
			}
			_, dated, _ := unseal("k", []byte(stored))
			if wrong := dated.Sub(begun.Add(off)).Abs(); wrong > readings {
				t.Errorf("Redis has %v for %v", dated, begun)
			}
		})
	}
}

// TestAFirstLookIsDatedByTheClockOfRedis: an instance whose clock is off, and that has written
// nothing, would take what it finds for an entry from the future, or for one that is too old.
func TestAFirstLookIsDatedByTheClockOfRedis(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			server := miniredis.RunT(t)
			server.SetTime(time.Now().Add(off))
			created := time.Now().Add(off - 10*time.Second)
			if err := server.Set("sundry:k", string(seal("k", false, created, []byte("v")))); err != nil {
				t.Fatal(err)
			}
			tier := open(t, "redis://"+server.Addr(), patient)
			if at := tier.Look(t.Context(), "k", 0).Created; (time.Since(at) - 10*time.Second).Abs() > 250*time.Millisecond {
				t.Errorf("what was created 10s ago is said to be %v old", time.Since(at))
			}
		})
	}
}

func TestTheClockOfRedisIsRead(t *testing.T) {
	now := time.Now()
	rows := []struct {
		off, took, want time.Duration
	}{
		{time.Minute, time.Second, time.Minute - 500*time.Millisecond}, // better than none
		{time.Minute, 400 * time.Millisecond, time.Minute - 200*time.Millisecond},
		{time.Minute - 5*time.Millisecond, 0, time.Minute - 5*time.Millisecond}, // a better reading
		{time.Minute + 4*time.Millisecond, 0, time.Minute - 5*time.Millisecond}, // no other time for that
		{time.Minute, 300 * time.Millisecond, time.Minute - 5*time.Millisecond},
		{-time.Minute, 0, -time.Minute},
		{500 * time.Millisecond, 0, 500 * time.Millisecond},
		{3 * time.Millisecond, 0, 3 * time.Millisecond},
	}
	var c clock
	for i, r := range rows {
		c.read(now.Add(r.off), now, now.Add(r.took))
		if got := c.ofFleet(now).Sub(now); got != r.want || !c.local(c.ofFleet(now)).Equal(now) {
			t.Errorf("row %d: it is %v ahead, want %v", i, got, r.want)
		}
	}
	if c.read(time.Time{}, now, now); !c.known.Load() {
		t.Error("it is not known")
	}
}

// TestADeletionNamesWhatItDeletes, as it was found: between a write and a deletion the clock of Redis may be read anew.
func TestADeletionNamesWhatItDeletes(t *testing.T) {
	servers(t, func(t *testing.T, url string) {
		tier := open(t, url, unhurried)
		created := time.Now()
		tier.Set("k", created, false, 1, ready([]byte("v"), time.Minute))
		tier.Delete("k", created.Add(-time.Second))
		waittest.Until(t, "the writes", empty(tier))
		if v := tier.Look(t.Context(), "k", 0).Value; v == nil {
			t.Error("a late deletion has deleted a newer entry")
		}
		waittest.Until(t, "the deletion", func() bool {
			found := tier.Look(t.Context(), "k", 0)
			if found.Value != nil {
				tier.Delete("k", found.Created)
			}
			return found.Value == nil
		})
	})
}

// TestAllThatIsFetchedReachesRedis, as fast as callers can miss.
func TestAllThatIsFetchedReachesRedis(t *testing.T) {
	const values, writers = 20_000, 32
	value := make([]byte, 1000)
	fill := func(tier *Tier) {
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := w; i < values; i += writers {
					key := fmt.Sprint("key", i)
					_, release := tier.Lease(t.Context(), key, 10*time.Second)
					tier.Set(key, time.Now(), false, len(value), ready(value, time.Minute))
					release()
				}
			})
		}
		all.Wait()
		waittest.Until(t, "the writes", empty(tier))
	}
	// Leases may have lapsed whose releases waited; they are not counted.
	count := func(t *testing.T, nodes ...*redistest.Server) (n int) {
		t.Helper()
		for _, node := range nodes {
			var here int
			if _, err := fmt.Sscanf(node.Must(`EVAL "return #redis.call('keys', 'sundry:{key*') + #redis.call('keys', 'sundry:key*')" 0`), ":%d", &here); err != nil {
				t.Fatal(err)
			}
			n += here
		}
		return n
	}
	t.Run("at once", func(t *testing.T) {
		server := redistest.Start(t)
		fill(open(t, server.URL(), unhurried))
		if n := count(t, server); n != values {
			t.Errorf("%d of %d", n, values)
		}
	})
	t.Run("paused for two seconds", func(t *testing.T) {
		server, tier := started(t, func(c *Config) { c.OpenFor = 0 })
		server.Must("CLIENT PAUSE 2000 ALL")
		fill(tier)
		waittest.Until(t, "Redis", func() bool { return count(t, server) == values })
	})
	t.Run("a Cluster of three", func(t *testing.T) {
		nodes := redistest.StartCluster(t, 3)
		fill(open(t, nodes.URL(), unhurried))
		if n := count(t, nodes...); n != values {
			t.Errorf("%d of %d", n, values)
		}
	})
}

// TestTheOldestMakeRoom, and are counted; what must arrive stays.
func TestTheOldestMakeRoom(t *testing.T) {
	q := newQueue(4, 1000)
	var dropped int
	for i := range 10 {
		if i == 3 {
			q.push(&job{kind: deleting, cacheKey: "gone", key: "gone"})
		}
		dropped += q.push(&job{cacheKey: fmt.Sprint(i), key: fmt.Sprint(i), size: 10, at: time.Unix(int64(i), 0)})
	}
	left := map[string]bool{}
	for i := range q.shards {
		for _, j := range q.take(&q.shards[i], maxPipeline) {
			left[j.key] = true
			q.done(&q.shards[i], j)
		}
	}
	if dropped != 6 || len(left) != 5 || !left["gone"] || !left["6"] || !left["9"] {
		t.Errorf("%d dropped, left: %v", dropped, left)
	}
	if dropped := q.push(&job{cacheKey: "k", size: 1001}); dropped != 1 {
		t.Errorf("%d dropped of one that is larger than the queue", dropped)
	}
	if all, _ := q.waiting(); all != 0 || q.bytes != 0 {
		t.Errorf("%d are left, of %d bytes", all, q.bytes)
	}
	for i, want := range []int{0, 1} { // of marks, whose keys are as long as callers like, a quarter of the bytes
		if dropped := q.push(&job{kind: marking, cacheKey: fmt.Sprint(i), key: fmt.Sprint(i), size: 200}); dropped != want {
			t.Errorf("%d dropped of mark %d", dropped, i)
		}
	}
}

// TestMarksOfNothingAreForgottenSoon, unless they are to last: callers can make as many as they like.
func TestMarksOfNothingAreForgottenSoon(t *testing.T) {
	server, tier := started(t, unhurried)
	const long, short = 24 * time.Hour, 10 * time.Minute
	tier.set("kept", []byte("value"), time.Hour)
	waittest.Until(t, "the value", empty(tier))
	for range 2 {
		tier.Mark("kept", nextDate(), []byte("g"), long, false)
		tier.Mark("new", nextDate(), []byte("g"), long, false)
		tier.Mark("lasting", nextDate(), []byte("g"), long, true)
		waittest.Until(t, "the marks", empty(tier))
		for key, want := range map[string]time.Duration{"kept": long, "new": short, "lasting": long} {
			var left int64
			if _, err := fmt.Sscanf(server.Must("PTTL sundry:"+key), ":%d", &left); err != nil || left > want.Milliseconds() || left < want.Milliseconds()-60_000 {
				t.Errorf("the mark of what was %s lives for %d ms, %v", key, left, err)
			}
		}
	}
}

// TestPutBackBehindDeletions: what could not be sent gets behind none that makes it needless,
// and ends none.
func TestPutBackBehindDeletions(t *testing.T) {
	q, now := newQueue(100, 1000), time.Now()
	old, later := &job{cacheKey: "k", key: "k", created: now}, &job{cacheKey: "k", key: "k", created: now.Add(time.Second)}
	q.push(old)
	q.push(later)
	s := &q.shards[maphash.String(q.seed, "k")%shardCount]
	taken := q.take(s, maxPipeline)
	deletion := &job{kind: deleting, cacheKey: "k", key: "k", created: now}
	q.push(deletion)
	q.putBack(s, taken, true)
	if got := q.take(s, maxPipeline); !slices.Equal(got, []*job{deletion, later}) {
		t.Errorf("%d are left", len(got))
	}
	if all, deletions := q.waiting(); all != 2 || deletions != 1 || len(s.queued) != 0 {
		t.Errorf("%d wait, %d deletions among them; of %d keys", all, deletions, len(s.queued))
	}
}

// TestAValueThatPanicsIsDropped alone.
func TestAValueThatPanicsIsDropped(t *testing.T) {
	_, tier := started(t, withPanics(t))
	tier.Set("bad", time.Now(), false, 1, func() ([]byte, time.Duration) { panic("made of nothing") })
	tier.set("good", []byte("v"), time.Minute)
	waittest.Until(t, "the writes", empty(tier))
	if v := tier.Look(t.Context(), "good", 0).Value; v == nil {
		t.Error("the other value is not written")
	}
}

// TestALeaseThatIsNoneKeepsNobodyWaiting: whatever lies in its place goes once somebody
// asks for it.
func TestALeaseThatIsNoneKeepsNobodyWaiting(t *testing.T) {
	server, tier := started(t, unhurried)
	for key, put := range map[string]string{"eternal": "SET sundry:lease:eternal x", "list": "RPUSH sundry:lease:list x", "long": "SET sundry:lease:long x PX 3600000"} {
		server.Must(put)
		if held, _ := tier.Lease(t.Context(), key, time.Minute); !held {
			t.Errorf("%s: still in the way", key)
		}
	}
}

// withPanics catches the panics of the tier, as the service does.
func withPanics(t *testing.T) func(*Config) {
	catcher := panics.New(prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	return func(c *Config) { c.Timeout, c.Panics = time.Second, catcher }
}

// TestANodeThatIsAwayHoldsUpNoOther: what the other nodes of a Cluster hold is written, and
// the rest once the node is back.
func TestANodeThatIsAwayHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	const values = 5000 // more than a pipeline of each shard for each node
	nodes := redistest.StartCluster(t, 3, "--cluster-require-full-coverage", "no", "--cluster-node-timeout", "60000")
	tier := open(t, nodes.URL(), func(c *Config) { c.Timeout = 200 * time.Millisecond })
	tier.set("first", []byte("v"), time.Minute)
	waittest.Until(t, "the nodes to be known", empty(tier))
	nodes[1].Freeze()
	there := map[int]bool{}
	for i := range values {
		tier.set(fmt.Sprint(i), []byte("v"), time.Minute)
		there[i] = nodes.Owner(redistest.Slot(fmt.Sprint(i))) != 1
	}
	left := func() (left int) { all, _ := tier.queue.waiting(); return all }
	elsewhere := 0
	for _, yes := range there {
		if !yes {
			elsewhere++
		}
	}
	waittest.Until(t, "the writes to the nodes that are well", func() bool { return left() == elsewhere })
	nodes[1].Thaw()
	waittest.Until(t, "the others", empty(tier))
	for i := range values {
		waittest.Until(t, "a value", func() bool { return tier.Look(t.Context(), fmt.Sprint(i), 0).Value != nil })
	}
}

// TestWhatRedisCannotTakeYetIsSentAgain: it loads its data, or has no master for a moment.
func TestWhatRedisCannotTakeYetIsSentAgain(t *testing.T) {
	for _, reply := range []string{"LOADING Redis is loading the dataset in memory", "MASTERDOWN Link with MASTER is down", "CLUSTERDOWN Hash slot not served", "TRYAGAIN Multiple keys request during rehashing of slot"} {
		t.Run(reply, func(t *testing.T) {
			server := miniredis.RunT(t)
			tier := open(t, "redis://"+server.Addr())
			server.SetError(reply)
			for i := range 10 {
				tier.set(fmt.Sprint(i), []byte("v"), time.Minute)
			}
			waittest.Until(t, "refusals", func() bool { return unhealthy(tier) >= 5 })
			server.SetError("")
			waittest.Until(t, "the writes", empty(tier))
			for i := range 10 {
				if !server.Exists("sundry:" + fmt.Sprint(i)) {
					t.Errorf("value %d was given up", i)
				}
			}
		})
	}
}

// replied is an error that Redis has replied.
type replied string

func (e replied) Error() string { return string(e) }

func (replied) RedisError() {}

// TestAPipelineKeepsItsOrderWhenTheScriptArrives: another instance may load the script
// between two commands of a pipeline.
func TestAPipelineKeepsItsOrderWhenTheScriptArrives(t *testing.T) {
	unknown := outcome{err: replied("NOSCRIPT No matching script")}
	outcomes := []outcome{{}, unknown, {}, unknown, {}}
	if got := fromUnknown([]int{0, 1, 2, 3, 4}, outcomes); !slices.Equal(got, []int{1, 2, 3, 4}) {
		t.Errorf("sent again: %v", got)
	}
	if got := fromUnknown([]int{0, 2, 4}, outcomes); got != nil {
		t.Errorf("sent again: %v", got)
	}
}
