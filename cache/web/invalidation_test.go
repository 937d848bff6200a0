package web

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/entry"
	"sundry/cache/far"
	"sundry/cache/purged"
	"sundry/upstreams/lib/waittest"
)

// member is an instance of a fleet that shares an in-process Redis, from which it can be cut off.
type member struct {
	*Store
	tier  *far.Tier
	queue *prometheus.Registry
	cut   bool
	held  []func() // writes that wait meanwhile
}

// Look implements Far.
func (m *member) Look(ctx context.Context, key string, lease time.Duration) entry.Found {
	if m.cut {
		return entry.Found{}
	}
	return m.tier.Look(ctx, key, lease)
}

// Version implements Far.
func (m *member) Version(ctx context.Context, keys ...string) (version string, ok bool) {
	if m.cut {
		return "", false
	}
	return m.tier.Version(ctx, keys...)
}

// Share implements Far.
func (m *member) Share(key string, created time.Time, replaceable bool, size int, value func() ([]byte, time.Duration), purged func(time.Time)) {
	m.write(func() { m.tier.Share(key, created, replaceable, size, value, purged) })
}

// Mark implements Far.
func (m *member) Mark(key string, created time.Time, value []byte, ttl time.Duration, lasting bool) {
	m.write(func() { m.tier.Mark(key, created, value, ttl, lasting) })
}

func (m *member) write(f func()) {
	if m.cut {
		m.held = append(m.held, f)
		return
	}
	f()
}

// invalidationStory is what happens to the variants of one URI in a fleet.
type invalidationStory struct {
	*testing.T
	redis      *miniredis.Miniredis
	began      time.Time
	a, b, c, d *member // d has just started
}

const storyKey = "/x"

// newInvalidationStory begins a story some time ago: purges are remembered for purged.Life.
func newInvalidationStory(t *testing.T, ago time.Duration) *invalidationStory {
	t.Helper()
	s := &invalidationStory{T: t, redis: miniredis.RunT(t), began: time.Now().Add(-ago).Truncate(time.Millisecond)}
	s.a, s.b, s.c, s.d = s.join(), s.join(), s.join(), s.join()
	s.stores(s.b, 0, "fr")
	s.stores(s.b, 1, "en")
	for _, m := range []*member{s.a, s.b, s.c} {
		if s.find(m, "fr") != "fr 0" || s.find(m, "en") != "en 1" {
			t.Fatal("the instances share nothing")
		}
	}
	return s
}

func (s *invalidationStory) join() *member {
	s.Helper()
	m := &member{Store: newTestStore(s.T, 1<<20), queue: prometheus.NewRegistry()}
	var err error
	if m.tier, err = far.Open(far.Config{URL: "redis://" + s.redis.Addr(), Timeout: 5 * time.Second}, m.queue, slog.New(slog.DiscardHandler)); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := m.tier.Close(context.Background()); err != nil {
			s.Error(err)
		}
	})
	m.Far = m
	m.Missed() // as at a start
	return m
}

// settle waits until an instance has written what it has to write.
func (s *invalidationStory) settle(m *member) {
	s.Helper()
	waittest.Until(s.T, "the writes", func() bool {
		families, err := m.queue.Gather()
		if err != nil {
			s.Fatal(err)
		}
		for _, f := range families {
			switch f.GetName() {
			case "sundry_far_queue_entries", "sundry_far_queue_deletes":
				if f.GetMetric()[0].GetGauge().GetValue() > 0 {
					return false
				}
			}
		}
		return true
	})
}

func (s *invalidationStory) at(after int) time.Time {
	return s.began.Add(time.Duration(after) * time.Second)
}

// stores has an instance store a variant that it requested so many seconds after the beginning.
func (s *invalidationStory) stores(m *member, after int, value string) {
	s.Helper()
	request := selector("X-A: " + value)
	m.Find(s.Context(), storyKey, request, &usualRules, time.Now())
	o := object(0, value).forRequest("X-A: " + value)
	o.Requested, o.Received, o.Born = s.at(after), s.at(after), s.at(after)
	o.Body = []byte(fmt.Sprint(value, " ", after))
	if !m.Put(storyKey, o) {
		s.Errorf("%s is not stored", o.Body)
	}
	s.settle(m)
}

// purges has an instance invalidate the URI, as after an unsafe request. Others are notified, by an instance of an earlier version.
func (s *invalidationStory) purges(m *member, after int, notified ...*member) {
	s.Helper()
	m.Purge(Purge{At: s.at(after), Key: storyKey})
	s.settle(m)
	s.tells(after, notified...)
}

// tells notifies instances of an invalidation.
func (s *invalidationStory) tells(after int, notified ...*member) {
	for _, m := range notified {
		m.Marked(m.farKey(storyKey), s.at(after))
	}
}

// returns ends the time that an instance was cut off.
func (s *invalidationStory) returns(m *member) {
	s.Helper()
	s.writesWhatItHolds(m)
	m.Missed()
}

func (s *invalidationStory) writesWhatItHolds(m *member) {
	s.Helper()
	m.cut = false
	for _, write := range m.held {
		write()
		s.settle(m)
	}
	m.held = nil
}

// find returns the body that an instance has for a request; "" means that it would ask the origin.
func (s *invalidationStory) find(m *member, value string) string {
	request := selector("X-A: " + value)
	if o := m.Find(s.Context(), storyKey, request, &usualRules, time.Now()).Select(request, false); o != nil {
		return string(o.Body)
	}
	return ""
}

// allFind checks what all instances have, by the value of the request.
func (s *invalidationStory) allFind(want map[string]string) {
	s.Helper()
	for i, m := range []*member{s.a, s.b, s.c, s.d} {
		for _, value := range []string{"fr", "en", "de"} {
			if got := s.find(m, value); got != want[value] {
				s.Errorf("instance %c has %q for %s, want %q", 'a'+rune(i), got, value, want[value])
			}
		}
	}
}

// TestAnInvalidationIsNotUndone: after an unsafe request, no instance serves a variant from before it, whatever an instance writes that
// does not know of it, in which order, and whatever Redis loses.
func TestAnInvalidationIsNotUndone(t *testing.T) {
	for name, row := range map[string]struct {
		story func(s *invalidationStory)
		want  map[string]string // see allFind
	}{
		"nobody is cut off": {func(s *invalidationStory) {
			s.purges(s.a, 10, s.b, s.c)
			s.stores(s.a, 20, "en")
		}, map[string]string{"en": "en 20"}},
		"an instance that was cut off writes another variant": {func(s *invalidationStory) {
			s.b.cut = true
			s.purges(s.a, 10, s.c)
			s.stores(s.b, 20, "en")
			s.returns(s.b)
		}, map[string]string{"en": "en 20"}},
		"two such instances do": {func(s *invalidationStory) {
			s.b.cut, s.c.cut = true, true
			s.purges(s.a, 10)
			s.stores(s.b, 20, "en")
			s.stores(s.c, 21, "de")
			s.returns(s.b)
			s.returns(s.c)
		}, map[string]string{"en": "en 20", "de": "de 21"}},
		"it writes a new variant, and then what it got before": {func(s *invalidationStory) {
			s.b.cut = true
			s.stores(s.b, 9, "fr")
			s.purges(s.a, 10, s.c)
			s.stores(s.b, 20, "en")
			s.returns(s.b)
		}, map[string]string{"en": "en 20"}},
		"it writes again and again": {func(s *invalidationStory) {
			s.b.cut = true
			s.purges(s.a, 10, s.c)
			for after := 20; after < 25; after++ {
				s.stores(s.b, after, "en")
			}
			s.returns(s.b)
			s.stores(s.b, 30, "de")
		}, map[string]string{"en": "en 24", "de": "de 30"}},
		"the invalidation waits in the queue": {func(s *invalidationStory) {
			s.a.cut = true
			s.purges(s.a, 10)
			s.stores(s.b, 20, "en")
			s.returns(s.a)
			s.tells(10, s.b, s.c)
		}, map[string]string{"en": "en 20"}},
		"it does, and others have written twice": {func(s *invalidationStory) {
			s.a.cut = true
			s.purges(s.a, 10)
			s.stores(s.b, 20, "en")
			s.returns(s.a)
			s.stores(s.c, 30, "de")
			for _, m := range []*member{s.b, s.c} {
				m.Missed()
			}
		}, map[string]string{"en": "en 20", "de": "de 30"}},
		"Redis is flushed after the notice": {func(s *invalidationStory) {
			s.purges(s.a, 10, s.b, s.c)
			s.redis.FlushAll()
			s.stores(s.b, 20, "de")
		}, map[string]string{"de": "de 20"}},
		"Redis is flushed, and they were cut off": {func(s *invalidationStory) {
			s.purges(s.a, 10, s.b, s.c)
			s.b.cut, s.c.cut = true, true
			s.redis.FlushAll()
			s.stores(s.b, 20, "de")
			s.returns(s.b)
			s.returns(s.c)
		}, map[string]string{"de": "de 20"}},
	} {
		for when, ago := range map[string]time.Duration{"of late": purged.Life / 2, "long ago": 2 * purged.Life} {
			t.Run(name+", "+when, func(t *testing.T) {
				s := newInvalidationStory(t, ago)
				row.story(s)
				for range 2 {
					s.allFind(row.want)
				}
			})
		}
	}
}

// TestAWriterDropsWhatItsWriteShowsToBeInvalid, before it looks anything up.
func TestAWriterDropsWhatItsWriteShowsToBeInvalid(t *testing.T) {
	s := newInvalidationStory(t, purged.Life/2)
	s.b.cut = true
	s.purges(s.a, 10)
	s.stores(s.b, 20, "en")
	s.b.cut = false
	for _, write := range s.b.held {
		write()
	}
	waittest.Until(t, "fr to be dropped", func() bool { return stored(s.b.Store, storyKey, "fr") == "" })
	if got := stored(s.b.Store, storyKey, "en"); got != "en 20" {
		t.Errorf("%q is left", got)
	}
	slow := object(0, "slow").forRequest("X-A: fr")
	if slow.Requested = s.at(9); s.b.Put(storyKey, slow) {
		t.Error("what was requested before the invalidation is stored")
	}
}

// TestWhoIsNotifiedOfAnInvalidationNeedsNoRedis: older variants are not served, whatever becomes of Redis.
func TestWhoIsNotifiedOfAnInvalidationNeedsNoRedis(t *testing.T) {
	for name, story := range map[string]func(s *invalidationStory){
		"Redis is unavailable": func(s *invalidationStory) { s.b.cut = true },
		"Redis is flushed, and an instance that was cut off writes a variant": func(s *invalidationStory) {
			s.redis.FlushAll()
			s.stores(s.c, 20, "de")
			s.returns(s.c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newInvalidationStory(t, purged.Life/2)
			s.c.cut = true
			s.purges(s.a, 10)
			s.tells(10, s.a, s.b)
			story(s)
			for _, m := range []*member{s.a, s.b} {
				for _, value := range []string{"fr", "en"} {
					if got := s.find(m, value); got != "" {
						t.Errorf("%q is served", got)
					}
				}
			}
		})
	}
}

// TestNoticesOfInvalidations: those of other things, and of what this instance knows better, remove nothing.
func TestNoticesOfInvalidations(t *testing.T) {
	s := newTestStore(t, 1<<20)
	now := time.Now()
	at := func(before time.Duration) *Object {
		o := variant(0, "fr")
		o.Requested = now.Add(-before)
		return o
	}
	s.Purge(Purge{At: now.Add(-20 * time.Millisecond), Key: "/x"})
	if !s.Put("/x", at(10*time.Millisecond)) || !s.Put("/y", at(time.Second)) || !s.Put("/z", at(0)) {
		t.Fatal("not stored")
	}
	s.Marked(s.farKey("/x"), now.Add(-20*time.Millisecond).Truncate(time.Millisecond)) // its own
	s.Marked(s.farKey("/y"), now.Add(-2*time.Second))
	s.Marked(s.farKey("/y")+" 1 digest", now)
	s.Marked("other/y", now)
	for _, key := range []string{"/x", "/y", "/z"} {
		if stored(s, key, "fr") == "" {
			t.Errorf("%s is gone", key)
		}
	}
	s.Marked(s.farKey("/y"), now.Add(time.Hour)) // by a clock that is ahead
	if o := at(-time.Minute); stored(s, "/y", "fr") != "" || !s.Put("/y", o) {
		t.Error("the purge is not in force, or keeps out what is requested after it")
	}
}

// TestAnInvalidVariantIsNotConfirmed by the lookup that shows it to be invalid: another request may have it already.
func TestAnInvalidVariantIsNotConfirmed(t *testing.T) {
	for name, story := range map[string]func(s *invalidationStory){
		"a later value tells of the invalidation": func(s *invalidationStory) {
			s.c.cut = true
			s.purges(s.a, 10)
			s.stores(s.c, 20, "en")
			s.returns(s.c)
		},
		"a later value is of an instance that knows of the invalidation": func(s *invalidationStory) {
			s.redis.FlushAll()
			s.purges(s.a, 10)
			s.redis.FlushAll()
			s.stores(s.a, 20, "en")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newInvalidationStory(t, purged.Life/2)
			had := s.b.Get(storyKey).Select(selector("X-A: fr"), false)
			story(s)
			s.b.Missed()
			if s.find(s.b, "fr") != "" || !s.b.doubts(had) {
				t.Error("it is served, or confirmed")
			}
		})
	}
}

// TestVariantsOfInstancesThatBeganAtOnceAreKept: after an invalidation each of two instances stores a variant without having seen the
// other one, and then finds a newer one.
func TestVariantsOfInstancesThatBeganAtOnceAreKept(t *testing.T) {
	for name, purge := range map[string]func(s *invalidationStory){
		"fresh":                func(*invalidationStory) {},
		"after one soft purge": func(s *invalidationStory) { s.a.Purge(Purge{At: s.at(25), Soft: true}) },
	} {
		t.Run(name, func(t *testing.T) { testVariantsThatBeganAtOnce(t, purge) })
	}
}

func testVariantsThatBeganAtOnce(t *testing.T, purge func(s *invalidationStory)) {
	t.Helper()
	s := newInvalidationStory(t, purged.Life/2)
	s.purges(s.a, 10, s.b, s.c)
	for _, m := range []*member{s.a, s.b} {
		m.missedAt.Store(s.at(11).UnixNano())
	}
	s.a.cut = true
	s.stores(s.a, 20, "fr")
	s.stores(s.b, 20, "en")
	s.writesWhatItHolds(s.a)
	purge(s)
	s.stores(s.b, 30, "de")
	s.find(s.a, "de")
	fr := s.a.Get(storyKey).Select(selector("X-A: fr"), false)
	if got := s.find(s.a, "fr"); fr == nil || string(fr.Body) != "fr 20" {
		t.Errorf("%q and %v, want fr 20", got, fr)
	}
}
