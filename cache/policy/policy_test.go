package policy

import (
	"testing"
	"time"

	"sundry/cache/entry"
)

func TestState(t *testing.T) {
	created := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := usual()
	p.Eager = 0.1
	p.Limits = map[string]time.Duration{"short": 10 * time.Second, "long": time.Hour}
	rows := []struct {
		name  string
		meta  entry.Meta
		after time.Duration
		state State
		left  time.Duration
	}{
		{"new", entry.Meta{}, 0, Fresh, time.Minute},
		{"before the last tenth", entry.Meta{}, 53 * time.Second, Fresh, 7 * time.Second},
		{"in the last tenth", entry.Meta{}, 55 * time.Second, Eager, 5 * time.Second},
		{"at the deadline", entry.Meta{}, time.Minute, Grace, 0},
		{"end of grace", entry.Meta{}, 11*time.Minute - 1, Grace, -10*time.Minute + 1},
		{"past grace", entry.Meta{}, 11 * time.Minute, Stale, -10 * time.Minute},
		{"end of stale", entry.Meta{}, 61*time.Minute - 1, Stale, -time.Hour + 1},
		{"gone", entry.Meta{}, 61 * time.Minute, Gone, -time.Hour},
		{"negative is kept shorter", entry.Meta{Negative: true}, 29 * time.Second, Fresh, time.Second},
		{"a negative is never stale", entry.Meta{Negative: true}, 30 * time.Second, Gone, 0},
		{"source with a shorter life", entry.Meta{Source: "short"}, 10 * time.Second, Grace, 0},
		{"a limit never lengthens", entry.Meta{Source: "long"}, time.Minute, Grace, 0},
		{"answer with a shorter life", entry.Meta{Fresh: 30 * time.Second}, 26 * time.Second, Fresh, 4 * time.Second},
		{"in the last tenth of the shorter life", entry.Meta{Fresh: 30 * time.Second}, 28 * time.Second, Eager, 2 * time.Second},
		{"past the shorter life it is served in grace", entry.Meta{Fresh: 30 * time.Second}, 31 * time.Second, Grace, -time.Second},
		{"and may stand in for a failure", entry.Meta{Fresh: 30 * time.Second}, 11 * time.Minute, Stale, -10*time.Minute - 30*time.Second},
		{"an answer never lengthens", entry.Meta{Fresh: time.Hour}, time.Minute, Grace, 0},
		{"the shortest counts: the source's", entry.Meta{Source: "short", Fresh: 20 * time.Second}, 10 * time.Second, Grace, 0},
		{"the shortest counts: the answer's", entry.Meta{Source: "short", Fresh: 5 * time.Second}, 5 * time.Second, Grace, 0},
		{"a negative has its own life", entry.Meta{Negative: true, Fresh: time.Second}, 29 * time.Second, Fresh, time.Second},
		{"content that expires", entry.Meta{Expires: created.Add(20 * time.Second)}, 20 * time.Second, Grace, 0},
		{"expired content is not served stale", entry.Meta{Expires: created.Add(20 * time.Second)}, 21 * time.Second, Gone, -time.Second},
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
	until := calendar(t, "06:00 Asia/Shanghai")
	daily := Policy{Until: until, StaleIfError: time.Hour}
	for name, r := range map[string]struct {
		policy Policy
		meta   entry.Meta
		ahead  time.Duration
		purge  *Purge
		want   State
	}{
		"of now":                             {usual, entry.Meta{}, 0, nil, Fresh},
		"by a second of skew":                {usual, entry.Meta{}, time.Second, nil, Fresh},
		"by more":                            {usual, entry.Meta{}, time.Second + 1, nil, Stale},
		"by an hour":                         {usual, entry.Meta{}, time.Hour, nil, Stale},
		"by years":                           {usual, entry.Meta{}, 40_000 * time.Hour, nil, Stale},
		"of a timetable":                     {daily, entry.Meta{Edition: "2026-11-22"}, 2 * time.Second, nil, Stale},
		"without grace":                      {strict, entry.Meta{}, 2 * time.Second, nil, Gone},
		"negative":                           {usual, entry.Meta{Negative: true}, 2 * time.Second, nil, Gone},
		"expired":                            {usual, entry.Meta{Expires: now.Add(-time.Second)}, 2 * time.Second, nil, Gone},
		"softly purged":                      {usual, entry.Meta{}, 2 * time.Second, &Purge{Soft: now}, Stale},
		"hard purged":                        {usual, entry.Meta{}, 2 * time.Second, &Purge{Hard: now}, Gone},
		"hard purged long ago":               {usual, entry.Meta{}, 2 * time.Second, &Purge{Hard: now.Add(-time.Hour)}, Gone},
		"of parts that are older than it is": {usual, entry.Meta{Since: now.Add(-time.Minute)}, 2 * time.Second, &Purge{Hard: now.Add(-time.Hour)}, Gone},
		"a bit, after a hard purge":          {usual, entry.Meta{}, time.Second, &Purge{Hard: now.Add(-time.Hour)}, Fresh},
	} {
		r.meta.Created, r.meta.Modified = now.Add(r.ahead), now
		state, left := r.policy.State(&r.meta, now)
		state, left = r.purge.Apply(&r.meta, &r.policy, now, state, left)
		if state != r.want || (left > 0) != (state == Fresh) {
			t.Errorf("%s: %v with %v left, want %v", name, state, left, r.want)
		}
	}
}

// An answer's own freshness applies without a TTL as well, and decides how long
// the far tier keeps it.
func TestFreshByTheAnswer(t *testing.T) {
	until := calendar(t, "06:00 Asia/Shanghai")
	p := Policy{Until: until, StaleIfError: time.Hour}
	m := entry.Meta{Created: time.Date(2026, 11, 21, 9, 0, 0, 0, until.Zone), Edition: "2026-11-21", Fresh: 10 * time.Minute}
	if _, left := p.State(&m, m.Created); left != 10*time.Minute {
		t.Errorf("beside the calendar: %v, want 10m", left)
	}
	if keep := p.Keep(&m); keep != 70*time.Minute {
		t.Errorf("kept %v, want 1h10m", keep)
	}
	p = usual()
	p.Jitter = 0.5
	m = entry.Meta{Fresh: 10 * time.Second, Spread: 255}
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
		_, left := p.State(&entry.Meta{Created: created, Spread: uint8(spread)}, created)
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
	until := calendar(t, "06:00 Asia/Shanghai")
	p := Policy{Until: until, Poll: 5 * time.Minute, StaleIfError: time.Hour}
	at := func(text string) time.Time { return inChina(t, text) }
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
			m := entry.Meta{Created: at(r.created), Edition: r.edition, Modified: at(r.changed)}
			_, left := p.State(&m, m.Created)
			if got := m.Created.Add(left); !got.Equal(at(r.fresh)) {
				t.Errorf("fresh until %v, want %v", got.In(until.Zone), at(r.fresh))
			}
		})
	}
	p.TTL = time.Hour
	m := entry.Meta{Created: at("2026-11-21 09:00"), Edition: "2026-11-21"}
	if _, left := p.State(&m, m.Created); left != time.Hour {
		t.Errorf("with a TTL beside the calendar: %v, want 1h", left)
	}
}

func TestNames(t *testing.T) {
	for c, want := range map[Class]string{Shared: "shared", Keyed: "keyed", Computed: "computed", Large: "large", Classes: "unknown", Classes + 1: "unknown"} {
		if c.String() != want {
			t.Errorf("class %d is %q, want %q", c, c, want)
		}
	}
	if entry.Zstd.String() != "zstd" || (entry.Zstd+1).String() != "zstd" {
		t.Error("names past the end of an enumeration")
	}
}

func TestEditionLate(t *testing.T) {
	daily := calendar(t, "00:00 Asia/Shanghai")
	thrice := calendar(t, "07:00 12:00 19:00 Asia/Shanghai")
	at := func(text string) time.Time { return inChina(t, text) }
	for name, c := range map[string]struct {
		until *Calendar
		meta  entry.Meta
		now   string
		want  time.Duration
	}{
		"no timetable":                  {nil, entry.Meta{Modified: at("2026-03-01 08:00")}, "2026-03-04 08:00", 0},
		"today's":                       {daily, entry.Meta{Edition: "2026-03-04"}, "2026-03-04 23:59", 0},
		"yesterday's, in the morning":   {daily, entry.Meta{Edition: "2026-03-03"}, "2026-03-04 06:30", 6*time.Hour + 30*time.Minute},
		"two days old counts from then": {daily, entry.Meta{Edition: "2026-03-02"}, "2026-03-04 06:00", 30 * time.Hour},
		"tomorrow's already":            {daily, entry.Meta{Edition: "2026-03-05"}, "2026-03-04 23:00", 0},
		"a date holds the whole day":    {thrice, entry.Meta{Edition: "2026-03-04", Modified: at("2026-03-04 07:10")}, "2026-03-04 20:00", 0},
		"not yet due":                   {thrice, entry.Meta{Edition: "2026-03-03"}, "2026-03-04 06:59", 0},
		"due since seven":               {thrice, entry.Meta{Edition: "2026-03-03"}, "2026-03-04 12:30", 5*time.Hour + 30*time.Minute},
		"undated, changed since":        {thrice, entry.Meta{Modified: at("2026-03-04 12:01")}, "2026-03-04 18:00", 0},
		"undated, not changed":          {thrice, entry.Meta{Modified: at("2026-03-04 11:00")}, "2026-03-04 13:00", time.Hour},
		"a no has no edition":           {daily, entry.Meta{Negative: true, Modified: at("2026-03-01 08:00")}, "2026-03-04 08:00", 0},
	} {
		p := Policy{Until: c.until}
		if got := p.EditionLate(&c.meta, at(c.now)); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestMayReplace(t *testing.T) {
	good, no, resort := entry.Meta{}, entry.Meta{Negative: true}, entry.Meta{LastResort: true}
	for name, r := range map[string]struct {
		next, old entry.Meta
		state     State
		want      bool
	}{
		"good, of what is fresh":           {good, good, Fresh, true},
		"good, of a no":                    {good, no, Fresh, true},
		"good, of a last resort":           {good, resort, Stale, true},
		"a no, of nothing":                 {no, entry.Meta{}, Absent, true},
		"a no, of what is fresh":           {no, good, Fresh, false},
		"a no, of what is due":             {no, good, Eager, false},
		"a no, of what is in grace":        {no, good, Grace, false},
		"a no, of what is stale":           {no, good, Stale, false},
		"a no, of what is gone":            {no, good, Gone, true},
		"a no, of a no":                    {no, no, Fresh, true},
		"a no, of a last resort":           {no, resort, Grace, true},
		"last resort, of what is stale":    {resort, good, Stale, false},
		"last resort, of what is gone":     {resort, good, Gone, true},
		"last resort, of a last resort":    {resort, resort, Stale, true},
		"last resort, of a no":             {resort, no, Fresh, true},
		"a no of a last resort, of a good": {entry.Meta{Negative: true, LastResort: true}, good, Stale, false},
	} {
		if got := MayReplace(&r.next, &r.old, r.state); got != r.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestPrefers(t *testing.T) {
	now := time.Now()
	good := func(age time.Duration) entry.Meta { return entry.Meta{Created: now.Add(-age)} }
	replaceable := func(age time.Duration) entry.Meta { return entry.Meta{Created: now.Add(-age), LastResort: true} }
	for name, r := range map[string]struct {
		next, old entry.Meta
		want      bool
	}{
		"younger":                    {good(1), good(2), true},
		"older":                      {good(2), good(1), false},
		"the same":                   {good(1), good(1), false},
		"older, but not replaceable": {good(2), replaceable(1), true},
		"younger, but replaceable":   {replaceable(1), good(2), false},
		"younger, both replaceable":  {replaceable(1), replaceable(2), true},
		"older than of the future":   {good(1), good(-2 * time.Second), true},
		"of the future":              {good(-2 * time.Second), good(1), false},
		"both of the future":         {good(-3 * time.Second), good(-2 * time.Second), true},
		"younger, by a bit of skew":  {good(-entry.Skew), good(1), true},
	} {
		if got := Prefers(&r.next, &r.old, now); got != r.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhatARefreshIsWorth(t *testing.T) {
	p := Policy{TTL: time.Hour, Grace: 10 * time.Hour, StaleIfError: 100 * time.Hour}
	daily := Policy{Until: calendar(t, "06:00 UTC"), Poll: 10 * time.Minute, Grace: 10 * time.Hour}
	without := Policy{TTL: time.Hour, StaleIfError: 100 * time.Hour}
	const minute, hour = time.Minute, time.Hour
	for _, c := range []struct {
		name  string
		under *Policy
		state State
		left  time.Duration
		quota float64
		want  bool
	}{
		{"plenty is left, still fresh", &p, Eager, minute, 1, true},
		{"a quarter is left, still fresh", &p, Eager, minute, 0.25, true},
		{"less, still fresh", &p, Eager, minute, 0.24, false},
		{"a quarter is left, just stale", &p, Grace, -minute, 0.25, true},
		{"less, just stale", &p, Grace, -minute, 0.24, false},
		{"a fifth of grace must pass: not yet", &p, Grace, -119 * minute, 0.2, false},
		{"a fifth of grace must pass: has", &p, Grace, -2 * hour, 0.2, true},
		{"four fifths must pass: not yet", &p, Grace, -7 * hour, 0.05, false},
		{"four fifths must pass: has", &p, Grace, -8 * hour, 0.05, true},
		{"past grace, a little is left", &p, Stale, -10 * hour, 0.01, true},
		{"past grace, nothing is left", &p, Stale, -50 * hour, 0, false},
		{"in grace, nothing is left", &p, Grace, -9 * hour, 0, false},
		{"publication due, a little is left: not yet", &daily, Grace, -4 * minute, 0.125, false},
		{"publication due, half of poll has passed", &daily, Grace, -5 * minute, 0.125, true},
		{"publication due, nothing is left", &daily, Grace, -hour, 0, false},
		{"no grace, a little is left", &without, Stale, -time.Second, 0.01, true},
		{"no grace, nothing is left", &without, Stale, -hour, 0, false},
	} {
		if got := c.under.WorthCall(c.state, c.left, c.quota); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestPauseAfter(t *testing.T) {
	for _, r := range []struct {
		pause, most time.Duration
		times       int
		want        time.Duration
	}{
		{time.Second, 30 * time.Second, 0, time.Second},
		{time.Second, 30 * time.Second, 3, 8 * time.Second},
		{time.Second, 30 * time.Second, 5, 30 * time.Second},
		{time.Second, 30 * time.Second, 1 << 40, 30 * time.Second},
		{3 * time.Hour, 24 * time.Hour, 20, 24 * time.Hour},
		{3 * time.Hour, 1<<63 - 1, 19, 3 * time.Hour << 19},
		{3 * time.Hour, 1<<63 - 1, 1000, 1<<63 - 1},
		{1<<63 - 1, 1<<63 - 1, 1000, 1<<63 - 1},
		{time.Hour, time.Minute, 2, time.Minute},
		{time.Second, 0, 7, 0},
		{0, time.Minute, 7, 0},
	} {
		p := Policy{Pause: r.pause, PauseMax: r.most}
		if got := p.PauseAfter(r.times); got != r.want {
			t.Errorf("%v to %v after %d: %v, want %v", r.pause, r.most, r.times, got, r.want)
		}
	}
}

// usual is a policy without jitter, so that deadlines are exact.
func usual() Policy {
	return Policy{
		TTL: time.Minute, Grace: 10 * time.Minute, StaleIfError: time.Hour, Negative: 30 * time.Second,
		SoftTimeout: DefaultSoftTimeout, FillTimeout: DefaultFillTimeout, Pause: DefaultPause, PauseMax: DefaultPauseMax,
	}
}
