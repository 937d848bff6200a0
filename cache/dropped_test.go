package cache

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// madeOf is a space whose answers are made of a value that is kept for an hour.
type madeOf struct {
	*Space
	values *Values
	asked  int
}

func newMadeOf(t *testing.T, session bool) *madeOf {
	c := newCache(t, Config{})
	m := &madeOf{Space: c.Space("music", usual()), values: openValues(c, "music/playlist", policy.Keyed)}
	m.values.Session = session
	return m
}

func (m *madeOf) get(t *testing.T, key string) {
	t.Helper()
	mustFetch(t, m.Space, key, loaderFunc(func(ctx context.Context, _ bool) (entry.Content, error) {
		_, created, err := m.values.Get(ctx, "id of "+key, func(context.Context) (any, error) { m.asked++; return m.asked, nil })
		c := textContent("made of it")
		if !m.values.Session {
			c.Since = created
		}
		return c, err
	}))
}

// TestADropTakesTheValues that the entry was made of, however long nobody asks for the key;
// once.
func TestADropTakesTheValues(t *testing.T) {
	for session, want := range map[bool]int{false: 3, true: 2} {
		synctest.Test(t, func(t *testing.T) {
			m := newMadeOf(t, session)
			m.get(t, "k")
			m.get(t, "other")
			time.Sleep(10 * time.Minute)
			m.PurgeKey("k", time.Now())
			time.Sleep(30 * time.Minute)
			for range 3 {
				m.get(t, "k")
				m.get(t, "other")
				time.Sleep(time.Minute)
			}
			if m.asked != want {
				t.Errorf("session %v: asked %d times, want %d", session, m.asked, want)
			}
			time.Sleep(time.Hour)
			m.get(t, "k")
			if m.dropped.Load() != nil {
				t.Error("the drop is not forgotten")
			}
		})
	}
}

// TestDropsAreNotForgottenForWantOfRoom: past it, the oldest counts for all keys.
func TestDropsAreNotForgottenForWantOfRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMadeOf(t, false)
		m.get(t, "k")
		time.Sleep(time.Second)
		m.PurgeKey("k", time.Now())
		for i := range maxPurgedKeys + 10 {
			m.PurgeKey(fmt.Sprint("other ", i), time.Now())
		}
		m.get(t, "k")
		m.get(t, "k")
		if n := len(m.dropped.Load().at); m.asked != 2 || n != maxPurgedKeys {
			t.Errorf("asked %d times, %d drops are remembered", m.asked, n)
		}
	})
}

// TestADropReachesWhatWasMadeOfOlderParts: an instance that had not heard of it filled the
// key from what it kept.
func TestADropReachesWhatWasMadeOfOlderParts(t *testing.T) {
	fleet(t, usual(), func(t *testing.T, far *fakeRemote, one, two *Space) {
		since := time.Now()
		l := &script{make: func(int64) (entry.Content, error) {
			c := textContent("of before")
			c.Since = since
			return c, nil
		}}
		time.Sleep(time.Second)
		at := time.Now()
		one.PurgeKey("k", at)
		time.Sleep(time.Second)
		mustFetch(t, two, "k", l)
		synctest.Wait()
		two.PurgeKey("k", at)
		synctest.Wait()
		if far.values["k"] != nil {
			t.Error("Redis still has it")
		}
		l.set(func(l *script) { l.make = nil })
		for _, s := range []*Space{one, two} {
			wantText(t, mustFetch(t, s, "k", l), "answer 2")
		}
	})
}
