// Package policy decides how an entry is used: pure rules of time, which know no tier.
package policy

import (
	"time"

	"sundry/cache/entry"
)

// Class divides the memory, so that a flood of keys that are requested once cannot
// evict the entries that all callers request.
type Class uint8

const (
	// Shared holds the few keys that all callers request: daily content, pools.
	Shared Class = iota
	// Keyed holds keys made of callers' input: addresses, accounts, texts.
	Keyed
	// Computed holds what is computed here in a moment, such as drawings: it gets
	// little memory, since computing it again is cheap.
	Computed
	// Large holds the bodies of large entries of callers' input, whose heads
	// stay in the policy's class. No policy may name it.
	Large
	// Classes is how many there are.
	Classes
)

// String is the class's name in YAML and in metrics.
func (c Class) String() string {
	return [...]string{"shared", "keyed", "computed", "large", "unknown"}[min(c, Classes)]
}

// Policy is an endpoint's cache rule. The zero value stores nothing.
type Policy struct {
	// TTL is how long an answer is fresh; with Until it is the upper bound
	// between publications. 0 with no Until: answers are not stored.
	TTL time.Duration
	// Until ends freshness at the next publication; nil means TTL alone does.
	Until *Calendar
	// Poll is how long an outdated edition is fresh once a publication is due,
	// until the next look for the new one. Only with Until.
	Poll time.Duration
	// Grace is how long past its TTL an entry is served while a refresh runs in
	// the background (stale-while-revalidate of RFC 5861).
	Grace time.Duration
	// StaleIfError is how long past its TTL an entry may be served as fallback
	// when a refresh failed or is slow (RFC 5861).
	StaleIfError time.Duration
	// Negative is how long a negative answer is kept; 0: not at all.
	Negative time.Duration
	// Limits shortens the TTL of answers by their source.
	Limits map[string]time.Duration
	// Jitter is the share of the TTL and of Poll, 0 to 0.5, by which entries expire
	// early, each by a random part of it.
	Jitter float64
	// Eager is the last share of the TTL, 0 to 0.5, in which a hit starts the
	// refresh. Not with Until: there is nothing new before a publication.
	Eager float64
	// SoftTimeout is how long a caller waits for a refresh when there is a stale
	// copy.
	SoftTimeout time.Duration
	// FillTimeout bounds a fill, all sources of the chain together; a fill that
	// loads again because of a purge meanwhile has it again.
	FillTimeout time.Duration
	// Pause is the first wait after a failed fill; it doubles up to PauseMax.
	Pause, PauseMax time.Duration
	// Class is the part of the memory: Shared, Keyed or Computed.
	Class Class
	// Local keeps entries out of Redis.
	Local bool
}

// Defaults of the settings that most endpoints leave alone.
const (
	DefaultJitter      = 0.1
	DefaultEager       = 0.1
	DefaultSoftTimeout = 300 * time.Millisecond
	DefaultFillTimeout = 10 * time.Second
	DefaultPause       = time.Second
	DefaultPauseMax    = 30 * time.Second
	DefaultPoll        = 5 * time.Minute
	// LastResort is how long the answer of a last resort is fresh at most. After that it is
	// kept as any other answer.
	LastResort = time.Minute
	// calendarSpread keeps instances from refreshing at the same instant.
	calendarSpread = 5 * time.Second
)

// Stores reports whether answers are cached at all.
func (p *Policy) Stores() bool { return p.TTL > 0 || p.Until != nil }

// State is the state of an entry at a given time, which decides how it is used.
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

// State is the state of an entry at now, and how long it is still fresh
// (negative once it is not).
func (p *Policy) State(m *entry.Meta, now time.Time) (State, time.Duration) {
	return p.StateBy(p.Deadline(m), m, now)
}

// StateBy is State by the entry's deadline under this policy, which takes longer to find
// than a state.
func (p *Policy) StateBy(deadline time.Time, m *entry.Meta, now time.Time) (State, time.Duration) {
	left := deadline.Sub(now)
	if m.FromFuture(now) {
		return p.futureState(m, now), min(left, now.Sub(m.Created))
	}
	if left > 0 {
		if !m.Negative && p.Until == nil && left < time.Duration(p.Eager*float64(deadline.Sub(m.Created))) {
			return Eager, left
		}
		return Fresh, left
	}
	switch {
	case m.Expired(now):
		return Gone, left
	case -left < p.Grace:
		return Grace, left
	case -left < max(p.Grace, p.StaleIfError):
		return Stale, left
	}
	return Gone, left
}

// Keep is how long after it was created an entry can still be used.
func (p *Policy) Keep(m *entry.Meta) time.Duration {
	if m.Negative {
		return p.Negative
	}
	return p.Deadline(m).Sub(m.Created) + max(p.Grace, p.StaleIfError)
}

// RefreshFrom is when the entry is due for a refresh.
func (p *Policy) RefreshFrom(m *entry.Meta) time.Time {
	end := p.Deadline(m)
	if m.Negative || p.Until != nil {
		return end
	}
	return end.Add(-time.Duration(p.Eager * float64(end.Sub(m.Created))))
}

// Deadline is when the entry stops being fresh under this policy. It does not change
// while the entry and the policy are the same.
func (p *Policy) Deadline(m *entry.Meta) time.Time {
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
func (p *Policy) ttlEnd(m *entry.Meta) time.Time {
	ttl := p.TTL
	if limit, ok := p.Limits[m.Source]; ok && (ttl == 0 || limit < ttl) {
		ttl = limit
	}
	if m.Fresh > 0 && (ttl == 0 || m.Fresh < ttl) {
		ttl = m.Fresh
	}
	if m.LastResort && (ttl == 0 || LastResort < ttl) {
		ttl = LastResort
	}
	if ttl == 0 && p.Until != nil {
		return time.Time{}
	}
	return m.Created.Add(ttl - time.Duration(float64(ttl)*p.Jitter*m.Jitter()))
}

// calendarEnd is the end by the timetable: the next publication if the edition is
// the one last due, else the next poll for it.
func (p *Policy) calendarEnd(m *entry.Meta) time.Time {
	next := p.Until.Next(m.Created).Add(time.Duration(m.Jitter() * float64(calendarSpread)))
	if p.current(m) {
		return next
	}
	wait := p.Poll - time.Duration(float64(p.Poll)*p.Jitter*m.Jitter())
	if poll := m.Created.Add(wait); poll.Before(next) {
		return poll
	}
	return next
}

// current reports whether the entry holds the edition that was due when it was
// created: by its date if it has one, else by whether its content has changed
// since that publication.
func (p *Policy) current(m *entry.Meta) bool {
	due := p.Until.Last(m.Created)
	if m.Edition != "" {
		return m.Edition >= due.In(p.Until.Zone).Format(time.DateOnly)
	}
	return !m.Modified.Before(due)
}

// EditionLate is how long ago the first publication was due that the entry does not
// hold; 0 when it holds the newest one, and for policies without a timetable. An
// entry with a date holds all publications of that day; one without, those up to
// its last change.
func (p *Policy) EditionLate(m *entry.Meta, now time.Time) time.Duration {
	if p.Until == nil || m.Negative {
		return 0
	}
	held := m.Modified
	if day, err := time.ParseInLocation(time.DateOnly, m.Edition, p.Until.Zone); err == nil {
		held = day.AddDate(0, 0, 1).Add(-1)
	}
	return max(0, now.Sub(p.Until.Next(held)))
}

// Protected reports whether an entry in this state is a usable copy that a
// replaceable one may not replace.
func Protected(m *entry.Meta, state State) bool { return Usable(state) && !m.Replaceable() }

// MayReplace reports whether a loaded entry may replace an old one in its state.
func MayReplace(next, old *entry.Meta, state State) bool {
	return !next.Replaceable() || !Protected(old, state)
}

// Prefers reports whether next is the better copy of two usable entries: one that
// is not replaceable is, else the newer one; one from the future is not newer.
func Prefers(next, old *entry.Meta, now time.Time) bool {
	switch {
	case next.Replaceable() != old.Replaceable():
		return old.Replaceable()
	case next.FromFuture(now) != old.FromFuture(now):
		return old.FromFuture(now)
	}
	return next.Created.After(old.Created)
}

// Usable reports whether an entry in that state may be served at all.
func Usable(st State) bool { return st > Absent && st < Gone }

// futureState is the state of an entry from the future, which is only better than none.
func (p *Policy) futureState(m *entry.Meta, now time.Time) State {
	if m.Expired(now) || max(p.Grace, p.StaleIfError) == 0 {
		return Gone
	}
	return Stale
}

// PauseAfter is the pause after a streak of earlier consecutive failures.
func (p *Policy) PauseAfter(streak int) time.Duration {
	pause := max(0, min(p.Pause, p.PauseMax))
	for range streak {
		switch {
		case pause == 0:
			return 0
		case pause > p.PauseMax/2:
			return p.PauseMax
		}
		pause *= 2
	}
	return pause
}

// ease is the share left of what refreshes may take of a quota below which there are
// fewer of them.
const ease = 0.25

// WorthCall reports whether a refresh of an entry that is fresh for left (negative: it
// was) is worth a call, where the share quota is left of what refreshes may take:
//
//   - While a quarter of it is left, it is.
//   - With less, nothing is refreshed that is still fresh, and freshness is stretched: the
//     less is left, the larger the part of grace that must have passed. Of a timetable,
//     where a new publication is due, it is by a part of poll.
//   - With nothing left, nothing is refreshed that can still be served.
func (p *Policy) WorthCall(state State, left time.Duration, quota float64) bool {
	switch {
	case quota >= ease:
		return true
	case quota <= 0, state < Grace:
		return false
	}
	most := p.Grace
	if p.Until != nil {
		most = min(most, p.Poll)
	}
	return -left >= time.Duration((1-quota/ease)*float64(most))
}
