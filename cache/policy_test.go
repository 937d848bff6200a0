package cache

import (
	"context"
	"fmt"
	"testing"
	"time"
)

func TestState(t *testing.T) {
	created := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := usual()
	p.Eager = 0.1
	p.Limits = map[string]time.Duration{"short": 10 * time.Second, "long": time.Hour}
	rows := []struct {
		name  string
		meta  Meta
		after time.Duration
		state State
		left  time.Duration
	}{
		{"new", Meta{}, 0, Fresh, time.Minute},
		{"before the last tenth", Meta{}, 53 * time.Second, Fresh, 7 * time.Second},
		{"in the last tenth", Meta{}, 55 * time.Second, Eager, 5 * time.Second},
		{"at the deadline", Meta{}, time.Minute, Grace, 0},
		{"end of grace", Meta{}, 11*time.Minute - 1, Grace, -10*time.Minute + 1},
		{"past grace", Meta{}, 11 * time.Minute, Stale, -10 * time.Minute},
		{"end of stale", Meta{}, 61*time.Minute - 1, Stale, -time.Hour + 1},
		{"gone", Meta{}, 61 * time.Minute, Gone, -time.Hour},
		{"negative is kept shorter", Meta{Negative: true}, 29 * time.Second, Fresh, time.Second},
		{"a negative is never stale", Meta{Negative: true}, 30 * time.Second, Gone, 0},
		{"source with a shorter life", Meta{Source: "short"}, 10 * time.Second, Grace, 0},
		{"a limit never lengthens", Meta{Source: "long"}, time.Minute, Grace, 0},
		{"answer with a shorter life", Meta{Fresh: 30 * time.Second}, 26 * time.Second, Fresh, 4 * time.Second},
		{"in the last tenth of the shorter life", Meta{Fresh: 30 * time.Second}, 28 * time.Second, Eager, 2 * time.Second},
		{"past the shorter life it is served in grace", Meta{Fresh: 30 * time.Second}, 31 * time.Second, Grace, -time.Second},
		{"and may stand in for a failure", Meta{Fresh: 30 * time.Second}, 11 * time.Minute, Stale, -10*time.Minute - 30*time.Second},
		{"an answer never lengthens", Meta{Fresh: time.Hour}, time.Minute, Grace, 0},
		{"the shortest counts: the source's", Meta{Source: "short", Fresh: 20 * time.Second}, 10 * time.Second, Grace, 0},
		{"the shortest counts: the answer's", Meta{Source: "short", Fresh: 5 * time.Second}, 5 * time.Second, Grace, 0},
		{"a negative has its own life", Meta{Negative: true, Fresh: time.Second}, 29 * time.Second, Fresh, time.Second},
		{"content that expires", Meta{Expires: created.Add(20 * time.Second)}, 20 * time.Second, Grace, 0},
		{"expired content is not served stale", Meta{Expires: created.Add(20 * time.Second)}, 21 * time.Second, Gone, -time.Second},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			r.meta.Created = created
			state, left := p.State(&r.meta, created.Add(r.after))
			if state != r.state || left != r.left {
				t.Errorf("got %d with %v left, want %d with %v", state, left, r.state, r.left)
			}
		})
	}
}

// TestStateOfTheFuture: an entry that was created after now is better than none, but never
// fresh; a second of skew is none of it.
func TestStateOfTheFuture(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	usual, strict := usual(), usual()
	strict.Grace, strict.StaleIfError = 0, 0
	until, err := ParseCalendar("06:00 Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	daily := Policy{Until: until, StaleIfError: time.Hour}
	for name, r := range map[string]struct {
		policy Policy
		meta   Meta
		ahead  time.Duration
		purge  *Purge
		want   State
	}{
		"of now":                             {usual, Meta{}, 0, nil, Fresh},
		"by a second of skew":                {usual, Meta{}, time.Second, nil, Fresh},
		"by more":                            {usual, Meta{}, time.Second + 1, nil, Stale},
		"by an hour":                         {usual, Meta{}, time.Hour, nil, Stale},
		"by years":                           {usual, Meta{}, 40_000 * time.Hour, nil, Stale},
		"of a timetable":                     {daily, Meta{Edition: "2026-11-22"}, 2 * time.Second, nil, Stale},
		"without grace":                      {strict, Meta{}, 2 * time.Second, nil, Gone},
		"negative":                           {usual, Meta{Negative: true}, 2 * time.Second, nil, Gone},
		"expired":                            {usual, Meta{Expires: now.Add(-time.Second)}, 2 * time.Second, nil, Gone},
		"softly purged":                      {usual, Meta{}, 2 * time.Second, &Purge{Soft: now}, Stale},
		"hard purged":                        {usual, Meta{}, 2 * time.Second, &Purge{Hard: now}, Gone},
		"hard purged long ago":               {usual, Meta{}, 2 * time.Second, &Purge{Hard: now.Add(-time.Hour)}, Gone},
		"of parts that are older than it is": {usual, Meta{Since: now.Add(-time.Minute)}, 2 * time.Second, &Purge{Hard: now.Add(-time.Hour)}, Gone},
		"a bit, after a hard purge":          {usual, Meta{}, time.Second, &Purge{Hard: now.Add(-time.Hour)}, Fresh},
	} {
		r.meta.Created, r.meta.Modified = now.Add(r.ahead), now
		state, left := r.policy.State(&r.meta, now)
		state, left = r.purge.apply(&r.meta, &r.policy, now, state, left)
		if state != r.want || (left > 0) != (state == Fresh) {
			t.Errorf("%s: %v with %v left, want %v", name, state, left, r.want)
		}
	}
}

// An answer's own freshness applies without a TTL as well, and decides how long
// the far tier keeps it.
func TestFreshByTheAnswer(t *testing.T) {
	until, err := ParseCalendar("06:00 Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Until: until, StaleIfError: time.Hour}
	m := Meta{Created: time.Date(2026, 11, 21, 9, 0, 0, 0, until.Zone), Edition: "2026-11-21", Fresh: 10 * time.Minute}
	if _, left := p.State(&m, m.Created); left != 10*time.Minute {
		t.Errorf("beside the calendar: %v, want 10m", left)
	}
	if keep := p.Keep(&m); keep != 70*time.Minute {
		t.Errorf("kept %v, want 1h10m", keep)
	}
	p = usual()
	p.Jitter = 0.5
	m = Meta{Fresh: 10 * time.Second, Spread: 255}
	if _, left := p.State(&m, m.Created); left != 5*time.Second {
		t.Errorf("with all the jitter: %v, want 5s", left)
	}
}

func TestJitterOnlyShortens(t *testing.T) {
	p := usual()
	p.Jitter = 0.2
	created := time.Now()
	seen := map[time.Duration]bool{}
	for spread := range 256 {
		_, left := p.State(&Meta{Created: created, Spread: uint8(spread)}, created)
		if left > p.TTL || left < p.TTL*8/10 {
			t.Fatalf("spread %d: %v left of %v", spread, left, p.TTL)
		}
		seen[left] = true
	}
	if len(seen) < 200 {
		t.Errorf("only %d different deadlines", len(seen))
	}
}

func TestCalendarPolicy(t *testing.T) {
	until, err := ParseCalendar("06:00 Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Until: until, Poll: 5 * time.Minute, StaleIfError: time.Hour}
	at := func(text string) time.Time {
		v, err := time.ParseInLocation("2006-01-02 15:04", text, until.Zone)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	rows := []struct {
		name    string
		created string
		edition string
		changed string
		fresh   string // until when
	}{
		{"today's edition lasts until tomorrow's", "2026-11-21 09:00", "2026-11-21", "2026-11-21 09:00", "2026-11-22 06:00"},
		{"yesterday's is polled once today's is due", "2026-11-21 06:01", "2026-11-20", "2026-11-20 06:00", "2026-11-21 06:06"},
		{"before publication yesterday's is the newest", "2026-11-21 05:00", "2026-11-20", "2026-11-20 06:00", "2026-11-21 06:00"},
		{"without a date, a change since publication is news", "2026-11-21 07:00", "", "2026-11-21 07:00", "2026-11-22 06:00"},
		{"without a date, no change means waiting", "2026-11-21 07:00", "", "2026-11-20 06:30", "2026-11-21 07:05"},
		{"a poll never passes the next publication", "2026-11-21 05:58", "2026-11-18", "2026-11-18 06:00", "2026-11-21 06:00"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			m := Meta{Created: at(r.created), Edition: r.edition, Modified: at(r.changed)}
			_, left := p.State(&m, m.Created)
			if got := m.Created.Add(left); !got.Equal(at(r.fresh)) {
				t.Errorf("fresh until %v, want %v", got.In(until.Zone), at(r.fresh))
			}
		})
	}
	p.TTL = time.Hour
	m := Meta{Created: at("2026-11-21 09:00"), Edition: "2026-11-21"}
	if _, left := p.State(&m, m.Created); left != time.Hour {
		t.Errorf("with a TTL beside the calendar: %v, want 1h", left)
	}
}

func TestNames(t *testing.T) {
	for c, want := range map[Class]string{Shared: "shared", Keyed: "keyed", Computed: "computed", Large: "large", classes: "unknown", classes + 1: "unknown"} {
		if c.String() != want {
			t.Errorf("class %d is %q, want %q", c, c, want)
		}
	}
	if Far.String() != "redis" || (Far+1).String() != "redis" || Zstd.String() != "zstd" || (Zstd+1).String() != "zstd" {
		t.Error("names past the end of an enumeration")
	}
}

func TestEditionLate(t *testing.T) {
	daily, err := ParseCalendar("00:00 Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	thrice, err := ParseCalendar("07:00 12:00 19:00 Asia/Shanghai")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		when, err := time.ParseInLocation("2006-01-02 15:04", text, daily.Zone)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for name, c := range map[string]struct {
		until *Calendar
		meta  Meta
		now   string
		want  time.Duration
	}{
		"no timetable":                  {nil, Meta{Modified: at("2026-03-01 08:00")}, "2026-03-04 08:00", 0},
		"today's":                       {daily, Meta{Edition: "2026-03-04"}, "2026-03-04 23:59", 0},
		"yesterday's, in the morning":   {daily, Meta{Edition: "2026-03-03"}, "2026-03-04 06:30", 6*time.Hour + 30*time.Minute},
		"two days old counts from then": {daily, Meta{Edition: "2026-03-02"}, "2026-03-04 06:00", 30 * time.Hour},
		"tomorrow's already":            {daily, Meta{Edition: "2026-03-05"}, "2026-03-04 23:00", 0},
		"a date holds the whole day":    {thrice, Meta{Edition: "2026-03-04", Modified: at("2026-03-04 07:10")}, "2026-03-04 20:00", 0},
		"not yet due":                   {thrice, Meta{Edition: "2026-03-03"}, "2026-03-04 06:59", 0},
		"due since seven":               {thrice, Meta{Edition: "2026-03-03"}, "2026-03-04 12:30", 5*time.Hour + 30*time.Minute},
		"undated, changed since":        {thrice, Meta{Modified: at("2026-03-04 12:01")}, "2026-03-04 18:00", 0},
		"undated, not changed":          {thrice, Meta{Modified: at("2026-03-04 11:00")}, "2026-03-04 13:00", time.Hour},
		"a no has no edition":           {daily, Meta{Negative: true, Modified: at("2026-03-01 08:00")}, "2026-03-04 08:00", 0},
	} {
		p := Policy{Until: c.until}
		if got := p.EditionLate(&c.meta, at(c.now)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

type dated string

func (d dated) Load(context.Context, bool) (Content, error) {
	return Content{Source: "s", Edition: string(d), Forms: []Form{{{Status: 200, Data: []byte("x")}}}}, nil
}

func TestSpaceEditionLate(t *testing.T) {
	c, err := New(Config{Memory: MinMemory})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	until, err := ParseCalendar("00:00 UTC")
	if err != nil {
		t.Fatal(err)
	}
	s := c.Space("daily", Policy{Until: until, Poll: time.Minute, FillTimeout: time.Second})
	now := time.Now()
	if late := s.EditionLate("daily:", now); late != 0 {
		t.Errorf("nothing cached, and %v late", late)
	}
	if _, err := s.Fetch(t.Context(), "daily:", Want{}, dated("2020-01-01")); err != nil {
		t.Fatal(err)
	}
	if late := s.EditionLate("daily:", now); late < 6*365*24*time.Hour {
		t.Errorf("%v late", late)
	}
	if late := c.Space("plain", Policy{TTL: time.Hour}).EditionLate("daily:", now); late != 0 {
		t.Errorf("no timetable, and %v late", late)
	}
}

// TestLinksAreRenewedBeforeTheyEnd: content that expires, such as a signed link, is
// refreshed in the background before it does, while callers still get the old one.
func TestLinksAreRenewedBeforeTheyEnd(t *testing.T) {
	const lives = 10 * time.Minute
	p := Policy{TTL: time.Hour, Grace: time.Hour, StaleIfError: time.Hour, Eager: DefaultEager, FillTimeout: DefaultFillTimeout, SoftTimeout: DefaultSoftTimeout}
	l := &script{takes: 2 * time.Second, make: func(n int64) (Content, error) {
		c := textContent(fmt.Sprintf("link %d", n))
		c.Expires = time.Now().Add(lives)
		return c, nil
	}}
	story(t, p, l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		for begun := time.Now(); time.Since(begun) < 2*time.Hour; time.Sleep(20 * time.Second) {
			start := time.Now()
			h := mustFetch(t, s, "k", l)
			if time.Since(start) != 0 {
				t.Fatalf("after %v a caller waited %v", start.Sub(begun), time.Since(start))
			}
			if !h.Meta.Expires.After(time.Now()) {
				t.Fatalf("after %v a caller got a link that has ended", start.Sub(begun))
			}
		}
		if n := l.calls.Load(); n < 12 || n > 15 {
			t.Errorf("%d fills in two hours of links that expire after ten minutes", n)
		}
	})
}

// TestEndedLinksAreNotServed: neither within grace nor as fallback.
func TestEndedLinksAreNotServed(t *testing.T) {
	p := Policy{TTL: time.Hour, Grace: time.Hour, StaleIfError: time.Hour, FillTimeout: DefaultFillTimeout, SoftTimeout: DefaultSoftTimeout}
	l := &script{make: func(n int64) (Content, error) {
		if n > 1 {
			return Content{}, fmt.Errorf("down")
		}
		c := textContent("link")
		c.Expires = time.Now().Add(time.Minute)
		return c, nil
	}}
	story(t, p, l, func(t *testing.T, s *Space) {
		mustFetch(t, s, "k", l)
		time.Sleep(2 * time.Minute)
		if h, err := s.Fetch(t.Context(), "k", Want{}, l); err == nil {
			t.Errorf("an ended link was served: %+v", h)
		}
	})
}
