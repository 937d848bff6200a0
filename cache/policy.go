package cache

import (
	"cmp"
	"time"
)

// Class says with whom an entry shares its room in memory, so that a flood of
// keys that are asked for once cannot drive out what everybody asks for.
type Class uint8

const (
	// Shared holds the few keys everyone asks for: daily content, pools.
	Shared Class = iota
	// Keyed holds keys made of callers' input: addresses, accounts, texts.
	Keyed
	// Computed holds what is computed here in a moment, such as drawings: little
	// room, since to make it again is cheap.
	Computed
	// Large holds the bodies of large entries of callers' input, whose heads
	// stay where the policy says. It is nobody's policy.
	Large
	classes
)

// String is the class's name in YAML and in metrics.
func (c Class) String() string {
	return [...]string{"shared", "keyed", "computed", "large", "unknown"}[min(c, classes)]
}

// Policy is an endpoint's cache rule. The zero value stores nothing.
type Policy struct {
	// TTL is how long an answer is fresh; with Until it is the upper bound
	// between publications. 0 with no Until: answers are not stored.
	TTL time.Duration
	// Until ends freshness at the next publication; nil means TTL alone does.
	Until *Calendar
	// Poll is how long an edition known to be old is kept before the next
	// look, once a publication is due. Only with Until.
	Poll time.Duration
	// Grace is how long past its TTL an entry is served while a refresh runs
	// behind (stale-while-revalidate of RFC 5861).
	Grace time.Duration
	// StaleIfError is how long past its TTL an entry may stand in for a
	// refresh that failed or is slow (RFC 5861).
	StaleIfError time.Duration
	// Negative is how long a definite "no such thing" is kept; 0: not at all.
	Negative time.Duration
	// LastResort bounds how long what a last resort gave is fresh; 0 means
	// DefaultLastResort. Then it is kept as any other.
	LastResort time.Duration
	// Limits shortens the TTL of answers by the source that gave them.
	Limits map[string]time.Duration
	// Jitter is the share of the TTL, 0 to 0.5, by which entries expire
	// earlier than others, each by its own part of it.
	Jitter float64
	// Eager is the last share of the TTL, 0 to 0.5, in which a hit begins the
	// refresh. With Until there is nothing to be had early.
	Eager float64
	// SoftTimeout is how long a caller waits for a refresh when a stale entry
	// is at hand.
	SoftTimeout time.Duration
	// FillTimeout bounds a fill, every source of the chain together; and again
	// each that begins anew because a purge overtook it.
	FillTimeout time.Duration
	// Pause is the first wait after a failed fill; it doubles up to PauseMax.
	Pause, PauseMax time.Duration
	// Class chooses the room in memory: Shared, Keyed or Computed.
	Class Class
	// Local keeps entries out of Redis.
	Local bool
}

// Defaults of the knobs that most endpoints leave alone.
const (
	DefaultJitter      = 0.1
	DefaultEager       = 0.1
	DefaultSoftTimeout = 300 * time.Millisecond
	DefaultFillTimeout = 10 * time.Second
	DefaultPause       = time.Second
	DefaultPauseMax    = 30 * time.Second
	DefaultPoll        = 5 * time.Minute
	DefaultLastResort  = time.Minute
	// calendarSpread keeps instances from refreshing in the same instant.
	calendarSpread = 5 * time.Second
)

// Stores tells whether answers are kept at all.
func (p *Policy) Stores() bool { return p.TTL > 0 || p.Until != nil }

// State is what an entry is good for at a given time.
type State uint8

// The states, in the order of an entry's life.
const (
	Absent State = iota
	Fresh
	Eager
	Grace
	Stale
	Gone
)

// String names the state for operators.
func (st State) String() string {
	return [...]string{"absent", "fresh", "eager", "grace", "stale", "gone", "unknown"}[min(st, Gone+1)]
}

// State tells the state of an entry at now, and how long it is still fresh
// (negative once it is not).
func (p *Policy) State(m *Meta, now time.Time) (State, time.Duration) {
	deadline := p.deadline(m)
	left := deadline.Sub(now)
	if left > 0 {
		if !m.Negative && p.Until == nil && left < time.Duration(p.Eager*float64(deadline.Sub(m.Created))) {
			return Eager, left
		}
		return Fresh, left
	}
	switch {
	case m.Negative || !m.Expires.IsZero() && now.After(m.Expires):
		return Gone, left
	case -left < p.Grace:
		return Grace, left
	case -left < max(p.Grace, p.StaleIfError):
		return Stale, left
	}
	return Gone, left
}

// Keep is how long after its birth an entry can be of any use.
func (p *Policy) Keep(m *Meta) time.Duration {
	if m.Negative {
		return p.Negative
	}
	return p.deadline(m).Sub(m.Created) + max(p.Grace, p.StaleIfError)
}

// deadline is when the entry stops being fresh under this policy.
func (p *Policy) deadline(m *Meta) time.Time {
	if m.Negative {
		return m.Created.Add(p.Negative)
	}
	end := p.ttlEnd(m)
	if p.Until != nil {
		if due := p.calendarEnd(m); end.IsZero() || due.Before(end) {
			end = due
		}
	}
	if !m.Expires.IsZero() && m.Expires.Before(end) {
		end = m.Expires
	}
	return end
}

// ttlEnd is the end by TTL alone; zero when the calendar alone decides.
func (p *Policy) ttlEnd(m *Meta) time.Time {
	ttl := p.TTL
	if limit, ok := p.Limits[m.Source]; ok && (ttl == 0 || limit < ttl) {
		ttl = limit
	}
	if m.Fresh > 0 && (ttl == 0 || m.Fresh < ttl) {
		ttl = m.Fresh
	}
	if limit := cmp.Or(p.LastResort, DefaultLastResort); m.LastResort && (ttl == 0 || limit < ttl) {
		ttl = limit
	}
	if ttl == 0 && p.Until != nil {
		return time.Time{}
	}
	return m.Created.Add(ttl - time.Duration(float64(ttl)*p.Jitter*m.jitter()))
}

// calendarEnd is the end by the timetable: the next publication when the
// edition is the one last due, a short poll while that one is still awaited.
func (p *Policy) calendarEnd(m *Meta) time.Time {
	next := p.Until.Next(m.Created).Add(time.Duration(m.jitter() * float64(calendarSpread)))
	if p.current(m) {
		return next
	}
	if poll := m.Created.Add(p.Poll); poll.Before(next) {
		return poll
	}
	return next
}

// current tells whether the entry holds the edition that was due at its birth:
// by the date it bears where it bears one, else by whether its content changed
// since that publication.
func (p *Policy) current(m *Meta) bool {
	due := p.Until.Last(m.Created)
	if m.Edition != "" {
		return m.Edition >= due.In(p.Until.Zone).Format(time.DateOnly)
	}
	return !m.Modified.Before(due)
}

// EditionLate is how long ago the first publication was due that the entry does not
// hold; 0 when it holds the newest one, and for policies without a timetable.
// By the date it bears, an entry holds every publication of that day; without
// one, those up to its last change.
func (p *Policy) EditionLate(m *Meta, now time.Time) time.Duration {
	if p.Until == nil || m.Negative {
		return 0
	}
	held := m.Modified
	if day, err := time.ParseInLocation(time.DateOnly, m.Edition, p.Until.Zone); err == nil {
		held = day.AddDate(0, 0, 1).Add(-1)
	}
	return max(0, now.Sub(p.Until.Next(held)))
}

// weak entries give way to any other, and take the place of none that may
// still stand in: a definite no, and what a last resort gave.
func (m *Meta) weak() bool { return m.Negative || m.LastResort }

// covers tells whether an entry in this state keeps its place against a weak
// one. Weak ones never do.
func covers(m *Meta, state State) bool { return usable(state) && !m.weak() }

// mayReplace tells whether what was loaded may take the place of an old entry
// in its state.
func mayReplace(next, old *Meta, state State) bool { return !next.weak() || !covers(old, state) }

// prefers chooses between two entries that may both stand in: rather one that
// is not weak, then the younger.
func prefers(next, old *Meta) bool {
	if next.weak() != old.weak() {
		return old.weak()
	}
	return next.Created.After(old.Created)
}

func usable(st State) bool { return st > Absent && st < Gone }
