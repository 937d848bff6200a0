package far

import (
	"bytes"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"sundry/upstreams/lib/waittest"
)

// marks writes values and marks of one key, at seconds since an hour ago.
type marks struct {
	*testing.T
	tier   *Tier
	began  time.Time
	purged atomic.Pointer[time.Time] // what the last write was told
}

func newMarks(t *testing.T, tier *Tier) *marks {
	tier.learnClock()
	return &marks{T: t, tier: tier, began: time.Now().Add(-time.Hour).Truncate(time.Millisecond)}
}

func (m *marks) at(after int) time.Time { return m.began.Add(time.Duration(after) * time.Second) }

// seconds is the opposite of at; -1 means the zero time.
func (m *marks) seconds(at time.Time) int {
	if at.IsZero() {
		return -1
	}
	return int(at.Sub(m.began).Round(time.Second) / time.Second)
}

// share writes a value, and returns the time of the mark that it met; -1 means none.
func (m *marks) share(after int, value string, replaceable bool) int {
	m.Helper()
	m.purged.Store(&time.Time{})
	m.tier.Share("k", m.at(after), replaceable, len(value), ready([]byte(value), time.Hour), func(at time.Time) { m.purged.Store(&at) })
	waittest.Until(m.T, "the write", empty(m.tier))
	return m.seconds(*m.purged.Load())
}

func (m *marks) mark(after int, lasting bool) {
	m.Helper()
	m.tier.Mark("k", m.at(after), []byte("g"), 24*time.Hour, lasting)
	waittest.Until(m.T, "the mark", empty(m.tier))
}

// has checks what a look finds.
func (m *marks) has(value string, created, purged int) {
	m.Helper()
	found := m.tier.Look(m.Context(), "k", 0)
	if string(found.Value) != value || m.seconds(found.Created) != created || m.seconds(found.Purged) != purged || found.Broken {
		m.Errorf("%.20q of %d, marked at %d, broken %v; want %.20q of %d, marked at %d",
			found.Value, m.seconds(found.Created), m.seconds(found.Purged), found.Broken, value, created, purged)
	}
}

// TestAMarkIsToldOf by all that takes its place, and by a value that was there before it came, whoever writes that.
func TestAMarkIsToldOf(t *testing.T) {
	const one, two, three = "the first", "the second", "the third"
	for name, story := range map[string]func(m *marks){
		"where nothing was there, one may be forgotten": func(m *marks) {
			const forgotten = 10 - 600
			for i, value := range []string{one, two} {
				if at := m.share(10+10*i, value, false); at != forgotten {
					m.Errorf("the write was told of a mark at %d", at)
				}
				m.has(value, 10+10*i, forgotten)
			}
		},
		"or where something was there that is no index": func(m *marks) {
			m.tier.Set("k", m.at(10), false, 1, ready([]byte(one), time.Hour))
			if at := m.share(20, two, false); at != 20-600 {
				m.Errorf("the write was told of a mark at %d", at)
			}
			m.has(two, 20, 20-600)
		},
		"a newer value takes its place": func(m *marks) {
			m.share(10, one, false)
			m.mark(20, false)
			m.has("g", 20, -1)
			if at := m.share(30, two, false); at != 20 {
				m.Errorf("the write was told of a mark at %d", at)
			}
			m.has(two, 30, 20)
		},
		"so do others after it": func(m *marks) {
			m.mark(20, true)
			for i, value := range []string{one, two, three} {
				if at := m.share(30+i, value, false); at != 20 {
					m.Errorf("the write was told of a mark at %d", at)
				}
				m.has(value, 30+i, 20)
			}
			m.tier.Set("k", m.at(40), false, 1, ready([]byte(one), time.Hour))
			waittest.Until(m.T, "the write", empty(m.tier))
			m.has(one, 40, 20)
		},
		"an older value does not": func(m *marks) {
			m.mark(20, false)
			if at := m.share(10, one, false); at != 20 {
				m.Errorf("the write was told of a mark at %d", at)
			}
			m.has("g", 20, -1)
		},
		"a replaceable one does not": func(m *marks) {
			m.mark(20, false)
			if at := m.share(30, one, true); at != 20 {
				m.Errorf("the write was told of a mark at %d", at)
			}
			m.has("g", 20, -1)
		},
		"a value that comes after one that tells of it": func(m *marks) {
			m.mark(20, false)
			m.share(40, one, false)
			if at := m.share(30, two, false); at != 20 {
				m.Errorf("the write was told of a mark at %d", at)
			}
			m.has(one, 40, 20)
		},
		"a later mark": func(m *marks) {
			m.mark(20, false)
			m.share(30, one, false)
			m.mark(40, false)
			m.has("g", 40, -1)
			m.share(50, two, false)
			m.has(two, 50, 40)
		},
		"a mark that is late": func(m *marks) {
			m.share(30, one, false)
			m.mark(20, false)
			m.has(one, 30, 20)
			m.mark(10, false)
			m.has(one, 30, 20)
			m.mark(25, true)
			m.has(one, 30, 25)
			if at := m.share(40, two, false); at != 25 {
				m.Errorf("the write was told of a mark at %d", at)
			}
			m.has(two, 40, 25)
		},
		"a mark of the same time": func(m *marks) {
			m.share(30, one, false)
			m.mark(30, false)
			m.has("g", 30, -1)
			m.mark(30, false)
			m.has("g", 30, -1)
		},
		"a mark that is later than a replaceable value": func(m *marks) {
			m.share(30, one, true)
			m.mark(20, false)
			m.has("g", 20, -1)
		},
		"a long value": func(m *marks) {
			long := strings.Repeat("0123456789", 100_000)
			m.share(30, long, false)
			m.mark(20, false)
			m.has(long, 30, 20)
		},
	} {
		t.Run(name, func(t *testing.T) {
			servers(t, func(t *testing.T, url string) { story(newMarks(t, open(t, url, patient))) })
		})
	}
}

// TestMarksAreAnnounced, also late ones. A late one leaves the value as long in Redis as before.
func TestMarksAreAnnounced(t *testing.T) {
	server := miniredis.RunT(t)
	tier := listen(t, "redis://"+server.Addr())
	m := newMarks(t, tier.Tier)
	m.share(30, "value", false)
	server.FastForward(20 * time.Minute)
	m.mark(20, false)
	tier.hears(t, announcement("k", m.at(20)))
	if left := server.TTL("sundry:k"); left != 40*time.Minute {
		t.Errorf("%s are left of the value", left)
	}
	m.mark(40, true)
	tier.hears(t, announcement("k", m.at(40)))
}

// TestAMarkIsToldOfByAValueThatIsDatedAnew, and by what takes its place, if the mark was.
func TestAMarkIsToldOfByAValueThatIsDatedAnew(t *testing.T) {
	const hour = 3600
	server := miniredis.RunT(t)
	m := newMarks(t, open(t, "redis://"+server.Addr(), patient))
	m.mark(20, false)
	m.share(3*hour, "ahead", false)
	m.has("ahead", hour, 20)
	m.mark(5*hour, false)
	m.has("g", hour, -1)
	stored, err := server.Get("sundry:k")
	if err != nil || stored[dateSize] != redated {
		t.Fatalf("%q %v", stored, err)
	}
	waittest.Until(t, "the next millisecond", func() bool { return time.Since(m.tier.Look(t.Context(), "k", 0).Created) > 2*sameTime })
	m.share(7*hour, "ahead again", false)
	m.has("ahead again", hour, hour)
}

// TestHeadsWithAMark covers what unseal accepts and refuses of them.
func TestHeadsWithAMark(t *testing.T) {
	at := time.UnixMilli(1_764_331_200_000)
	sound := string(seal("k", false, at, []byte("payload")))
	date, rest := sound[:dateSize], sound[dateSize:]
	for stored, want := range map[string]time.Time{
		sound:                           {},
		date + "!01764331199999" + rest: at.Add(-time.Millisecond),
		date + "!01764331100000" + rest: at.Add(-100 * time.Second),
		"=01764331190000!01764331100000<" + sound[1:]: at.Add(-100 * time.Second),
	} {
		payload, _, ok := unseal("k", []byte(stored))
		if !ok || !bytes.Equal(payload, []byte("payload")) || !markIn([]byte(stored)).Equal(want) {
			t.Errorf("%s: %q %v, marked at %v", stored, payload, ok, markIn([]byte(stored)))
		}
	}
	for name, stored := range map[string]string{
		"as late as the value":          date + "!01764331200000" + rest,
		"twice":                         date + "!01764331100000!01764331100000" + rest,
		"no time":                       date + "!0176433110000x" + rest,
		"a time that is too short":      date + "!0176433110000" + rest,
		"behind the time before":        "=01764331190000<01764331200000!01764331100000" + rest,
		"without a checksum":            date + "!01764331100000payload",
		"with the checksum of no value": date + "!01764331100000",
	} {
		if payload, _, ok := unseal("k", []byte(stored)); ok || payload != nil {
			t.Errorf("%s: %s is believed", name, stored)
		}
	}
	if n := len(seal("k", false, at, []byte("g"))); markSize != strconv.Itoa(n) {
		t.Errorf("a mark has %d bytes, and the script expects %s", n, markSize)
	}
}
