package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/near"
	"sundry/cache/policy"
)

// fakeRemote is a Remote in memory.
type fakeRemote struct {
	mu       sync.Mutex
	values   map[string][]byte
	dates    map[string]writtenAt // of values
	failures map[string][]byte
	leased   map[string]bool
	// dies is when a lease ends whose holder has died.
	dies map[string]time.Time
	deny bool
	gets int
	// versions is how often one was read.
	versions int
	// slow is how long a look takes.
	slow time.Duration
	// silent answers no look, and full takes no value.
	silent, full bool
}

// writtenAt is when a value was created, and whether any other may replace it.
type writtenAt struct {
	created     time.Time
	replaceable bool
}

func newFakeRemote() *fakeRemote {
	return &fakeRemote{
		values: map[string][]byte{}, dates: map[string]writtenAt{}, failures: map[string][]byte{}, leased: map[string]bool{},
		dies: map[string]time.Time{},
	}
}

// Set keeps the newer of two values, as Redis is asked to.
func (s *fakeRemote) Set(key string, created time.Time, replaceable bool, _ int, make func() ([]byte, time.Duration)) {
	value, ttl := make()
	s.keep(key, writtenAt{created, replaceable}, value, ttl)
}

func (s *fakeRemote) keep(key string, d writtenAt, value []byte, ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	there, found := s.dates[key]
	if _, stored := s.values[key]; !stored {
		found = false // taken away by a test
	}
	switch {
	case ttl <= 0, s.full:
	case found && (d.replaceable && !there.replaceable || d.replaceable == there.replaceable && !d.created.After(there.created)):
	default:
		s.values[key], s.dates[key] = value, d
	}
}

func (s *fakeRemote) isLeased(key string) bool {
	if end, dies := s.dies[key]; dies && !time.Now().Before(end) {
		delete(s.leased, key)
		delete(s.dies, key)
	}
	return s.leased[key]
}

func (s *fakeRemote) Version(_ context.Context, keys ...string) (version string, ok bool) {
	time.Sleep(s.slow)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions++
	for _, key := range keys {
		version += fmt.Sprintf("%x\n", sha256.Sum256(s.values[key]))
	}
	return version, !s.silent
}

func (s *fakeRemote) Look(ctx context.Context, key string, lease time.Duration) entry.Found {
	time.Sleep(s.slow)
	found := s.look(key)
	if lease != 0 && found.Answered && found.Value == nil && found.Failure == nil && !found.Leased {
		if held, end := s.Lease(ctx, key, lease); held {
			found.Release = end
		}
	}
	return found
}

func (s *fakeRemote) look(key string) entry.Found {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gets++
	if s.silent {
		return entry.Found{}
	}
	return entry.Found{Value: s.values[key], Created: s.createdAt(key), Failure: s.failures[key], Leased: s.isLeased(key), Answered: true}
}

// createdAt is what Redis has for the date of a value: its own, where a test has put it there.
func (s *fakeRemote) createdAt(key string) time.Time {
	if e, err := entry.Parse(s.values[key]); err == nil && s.dates[key].created.IsZero() {
		return e.Meta.Created
	}
	return s.dates[key].created
}

func (s *fakeRemote) Fail(key string, record []byte, _ time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures[key] = record
}

func (s *fakeRemote) Delete(key string, created time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dates[key].created.After(created) {
		delete(s.values, key)
		delete(s.dates, key)
	}
}

func (s *fakeRemote) Lease(_ context.Context, key string, _ time.Duration) (bool, func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.deny || s.isLeased(key) {
		return false, func() {}
	}
	s.leased[key] = true
	return true, func() {
		s.mu.Lock()
		delete(s.leased, key)
		s.mu.Unlock()
	}
}

// fleet is two instances with one far tier.
func fleet(t *testing.T, p policy.Policy, run func(t *testing.T, far *fakeRemote, one, two *Space)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		far := newFakeRemote()
		run(t, far, newCache(t, Config{Far: far}).Space("story", p), newCache(t, Config{Far: far}).Space("story", p))
	})
}

func TestFarHitIsPromoted(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		synctest.Wait()
		h := mustFetch(t, two, "k", l)
		if h.Tier != Far || h.State != policy.Fresh {
			t.Errorf("%+v", h)
		}
		gets := far.gets
		if h := mustFetch(t, two, "k", l); h.Tier != Near || far.gets != gets {
			t.Errorf("not promoted: %+v", h)
		}
		wantCalls(t, l, 1)
	})
}

// An answer's own freshness travels with it: in either tier, whole or in parts,
// and when the same content is loaded again with another freshness.
func TestFreshTravels(t *testing.T) {
	for name, texts := range map[string][]string{"whole": {"a"}, "in parts": {"a", "b", "c"}} {
		t.Run(name, func(t *testing.T) {
			fleet(t, usual(), func(t *testing.T, _ *fakeRemote, one, two *Space) {
				l := &script{make: func(n int64) (entry.Content, error) {
					c := textContent(texts...)
					c.Fresh = 20 * time.Second / time.Duration(n)
					return c, nil
				}}
				found := func(s *Space, tier Tier, left time.Duration) {
					t.Helper()
					synctest.Wait() // for what is written behind
					if h := mustFetch(t, s, "k", l); h.Tier != tier || h.Left != left {
						t.Errorf("in %v with %v left, want %v with %v", h.Tier, h.Left, tier, left)
					}
				}
				found(one, Upstream, 20*time.Second)
				found(one, Near, 20*time.Second)
				found(two, Far, 20*time.Second)
				found(two, Near, 20*time.Second)
				time.Sleep(21 * time.Second)
				found(one, Near, -time.Second) // in grace, which begins a refresh
				synctest.Wait()
				found(one, Near, 10*time.Second)
				wantCalls(t, l, 2)
			})
		})
	}
}

func TestPoolTravels(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, _ *fakeRemote, one, two *Space) {
		l := &script{make: func(int64) (entry.Content, error) { return pool(50), nil }}
		mustFetch(t, one, "k", l)
		synctest.Wait()
		seen := map[string]bool{}
		for range 300 {
			seen[string(mustFetch(t, two, "k", l).Rep.Data)] = true
		}
		if len(seen) < 40 {
			t.Errorf("only %d of 50 candidates were picked", len(seen))
		}
		wantCalls(t, l, 1)
	})
}

func TestFarInGraceIsServedAndRefreshedInTheBackground(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, _ *fakeRemote, one, two *Space) {
		l := &script{takes: 100 * time.Millisecond}
		mustFetch(t, one, "k", l)
		time.Sleep(2 * time.Minute)
		start := time.Now()
		if h := mustFetch(t, two, "k", l); h.State != policy.Grace || time.Since(start) != 0 {
			t.Errorf("%+v after %v", h, time.Since(start))
		}
		time.Sleep(time.Second)
		wantText(t, mustFetch(t, two, "k", l), "answer 2")
	})
}

func TestFarStaleIsTheFallbackOfAFailure(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, _ *fakeRemote, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		l.set(func(s *script) { s.err = errDown })
		time.Sleep(30 * time.Minute)
		h := mustFetch(t, two, "k", l)
		wantText(t, h, "answer 1")
		if !errors.Is(h.Failed, errDown) {
			t.Errorf("%+v", h)
		}
	})
}

func TestRubbishInRedisIsAMiss(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		synctest.Wait()
		packed := far.values["k"]
		for _, bad := range [][]byte{nil, {}, []byte("hello"), packed[:len(packed)-3], append([]byte{0}, packed...)} {
			far.values["k"] = bad
			two.cache.near.Remove(policy.Shared, "k")
			if h := mustFetch(t, two, "k", l); h.Tier != Upstream {
				t.Errorf("%q was served", bad)
			}
			synctest.Wait()
		}
	})
}

// A holder that is still filling is waited for, however slow its upstream is.
func TestASlowHolderIsWaitedFor(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, _ *fakeRemote, one, two *Space) {
		l := &script{takes: 6 * time.Second}
		together(2, func(i int) { wantText(t, mustFetch(t, []*Space{one, two}[i], "k", l), "answer 1") })
		wantCalls(t, l, 1)
	})
}

func TestLeaseWithoutOutcomeIsNotWaitedForLong(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, _ *Space) {
		far.deny = true
		l := &script{}
		start := time.Now()
		wantText(t, mustFetch(t, one, "k", l), "answer 1")
		if took := time.Since(start); took > leaseWait+time.Duration((1+pollSpread)*float64(leasePoll)) {
			t.Errorf("waited %v", took)
		}
	})
}

func TestLocalPolicyLeavesRedisAlone(t *testing.T) {
	p := usual()
	p.Local = true
	fleet(t, p, func(t *testing.T, far *fakeRemote, one, two *Space) {
		l := &script{}
		mustFetch(t, one, "k", l)
		mustFetch(t, two, "k", l)
		if far.gets != 0 || len(far.values) != 0 {
			t.Error("Redis was asked")
		}
		wantCalls(t, l, 2)
	})
}

// slowRemote makes nothing of what it is given before it is let.
type slowRemote struct {
	*fakeRemote
	waiting []func()
}

func (s *slowRemote) Set(key string, created time.Time, replaceable bool, size int, make func() ([]byte, time.Duration)) {
	s.waiting = append(s.waiting, func() { s.fakeRemote.Set(key, created, replaceable, size, make) })
}

func (s *slowRemote) Delete(key string, created time.Time) {
	s.waiting = append(s.waiting, func() { s.fakeRemote.Delete(key, created) })
}

func (s *slowRemote) catchUp() {
	for _, do := range s.waiting {
		do()
	}
	s.waiting = nil
}

// What is purged while it waits for Redis does not reach it.
func TestWhatIsPurgedIsNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &slowRemote{fakeRemote: newFakeRemote()}
		s := newCache(t, Config{Far: far}).Space("story", usual())
		l := &script{}
		mustFetch(t, s, "purged", l)
		mustFetch(t, s, "kept", l)
		time.Sleep(time.Millisecond)
		s.PurgeKey("purged", time.Now())
		far.waiting[0]()
		if far.values["purged"] != nil {
			t.Error("a purged entry was written")
		}
		far.catchUp()
		if far.values["kept"] == nil {
			t.Error("the other entry was not")
		}
		mustFetch(t, s, "purged", l)
		far.catchUp()
		if far.values["purged"] == nil {
			t.Error("what came after the purge is not in Redis")
		}
	})
}

func TestCloseHandsOverWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := newFakeRemote()
		c, err := New(Config{Memory: near.MinMemory, Far: far})
		if err != nil {
			t.Fatal(err)
		}
		mustFetch(t, c.Space("story", usual()), "k", &script{})
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if far.values["k"] == nil {
			t.Error("what was loaded before is not in Redis")
		}
	})
}

// Small entries and pictures are in Redis as they are; both kinds are read.
func TestWhatIsWorthItIsCompressed(t *testing.T) {
	codec, err := newCompressor()
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 64<<10)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for name, r := range map[string]struct {
		body   []byte
		packed bool
	}{
		"small":   {bytes.Repeat([]byte("x"), minPacked/2), false},
		"large":   {bytes.Repeat([]byte("x"), 2*minPacked), true},
		"picture": {noise, false},
	} {
		raw := rawOf(t, textContent(string(r.body)), &entry.Meta{Created: time.Now(), Modified: time.Now()})
		packed := codec.pack(raw)
		if (len(packed) < len(raw)) != r.packed {
			t.Errorf("%s: %d bytes of %d", name, len(packed), len(raw))
		}
		if got, err := codec.unpack(packed); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%s: %d bytes back, %v", name, len(got), err)
		}
	}
	if _, err := codec.unpack(append([]byte{entry.LayoutVersion}, make([]byte, maxFarEntry)...)); !errors.Is(err, errTooLarge) {
		t.Error(err)
	}
}

// An entry in Redis that is many frames of zstd is not decompressed without end.
func TestFramesInRedisAreBoundedTogether(t *testing.T) {
	c, err := newCompressor()
	if err != nil {
		t.Fatal(err)
	}
	frame := c.pack(make([]byte, maxFarEntry/2))
	if _, err := c.unpack(frame); err != nil {
		t.Error("one:", err)
	}
	if raw, err := c.unpack(bytes.Repeat(frame, 4)); err == nil {
		t.Errorf("four frames: %d bytes", len(raw))
	}
}

// An entry that comes from Redis while its key is purged does not stay: the purge of a
// key is forgotten in the end.
func TestPurgeWhileAnEntryComesFromRedis(t *testing.T) {
	s := newCache(t, Config{Far: newFakeRemote()}).Space("story", classed(policy.Keyed))
	for range 20_000 {
		e := made(t, s, "story:k", textContent("old"), time.Now().Add(-time.Second))
		var group sync.WaitGroup
		begun := make(chan struct{})
		group.Go(func() {
			close(begun)
			s.newFill(t.Context(), "story:k", nil, false).promote(e)
		})
		<-begun
		s.PurgeKey("story:k", time.Now())
		group.Wait()
		if _, ok := s.cache.near.Head(policy.Keyed, "story:k"); ok {
			t.Fatal("a purged entry is in the near tier")
		}
		s.spacePurges = &spacePurges{}
	}
}

// counted counts what is asked of Redis behind a look.
type counted struct {
	*fakeRemote
	leases int
	asked  int    // looks that ask for a lease
	stored []byte // what a look finds that has taken the lease: it was stored in between
}

func (c *counted) Lease(ctx context.Context, key string, ttl time.Duration) (bool, func()) {
	c.leases++
	return c.fakeRemote.Lease(ctx, key, ttl)
}

func (c *counted) Look(ctx context.Context, key string, lease time.Duration) entry.Found {
	found := c.fakeRemote.Look(ctx, key, lease)
	if lease != 0 {
		c.asked++
		if c.stored != nil {
			found.Value, found.Created = c.stored, time.Now()
		}
	}
	return found
}

func TestTheLookOfAMissTakesTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := &counted{fakeRemote: newFakeRemote()}
		s, l := newCache(t, Config{Far: far}).Space("story", usual()), &script{}
		mustFetch(t, s, "k", l)
		wantCalls(t, l, 1)
		if far.leases != 0 || len(far.leased) != 0 {
			t.Errorf("%d leases were asked for behind the look; held: %v", far.leases, far.leased)
		}
		time.Sleep(2 * time.Minute)
		mustFetch(t, s, "k", l) // in grace: refreshed
		synctest.Wait()
		if wantCalls(t, l, 2); far.leases != 1 || len(far.leased) != 0 {
			t.Errorf("a refresh asked for %d leases; held: %v", far.leases, far.leased)
		}
	})
}

// A lease that was taken where it turned out to be needless is released.
func TestALeaseBesideAnEntryIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, l := &counted{fakeRemote: newFakeRemote()}, &script{}
		far.stored = rawOf(t, textContent("stored"), &entry.Meta{Created: time.Now(), Modified: time.Now()})
		wantText(t, mustFetch(t, newCache(t, Config{Far: far}).Space("story", usual()), "k", l), "stored")
		wantCalls(t, l, 0)
		if len(far.leased) != 0 {
			t.Error("the lease is held")
		}
	})
}

// Where looks find entries, they ask for no leases, until one has found nothing.
func TestLooksThatFindEntriesAskForNoLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far, l := &counted{fakeRemote: newFakeRemote()}, &script{}
		first, s := newCache(t, Config{Far: far.fakeRemote}).Space("story", usual()), newCache(t, Config{Far: far}).Space("story", usual())
		for i := range 2 * seldomMissed {
			mustFetch(t, first, fmt.Sprint(i), l)
		}
		synctest.Wait()
		for i := range 2 * seldomMissed {
			mustFetch(t, s, fmt.Sprint(i), l)
		}
		if wantCalls(t, l, 2*seldomMissed); far.asked != seldomMissed {
			t.Errorf("%d of %d looks asked for a lease", far.asked, 2*seldomMissed)
		}
		mustFetch(t, s, "missed", l)
		if mustFetch(t, s, "missed, too", l); far.asked != seldomMissed+1 || far.leases != 1 {
			t.Errorf("%d looks asked for a lease, %d by themselves", far.asked, far.leases)
		}
	})
}
