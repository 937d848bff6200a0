package status

import "time"

// State is whether an endpoint does its work.
type State uint8

// The states, the worst last.
const (
	// Unknown: nobody has asked, or it was not observed.
	Unknown State = iota
	// Works: requests are answered as they should be.
	Works
	// Fallback: requests are answered, but by a last resort, because the other sources fail.
	Fallback
	// Stale: requests are answered, but with older answers, because the sources fail.
	Stale
	// Failing: requests are not answered.
	Failing
)

// String is the state's name in status.json.
func (s State) String() string {
	return [...]string{"unknown", "works", "fallback", "stale", "failing"}[min(s, Failing)]
}

// MarshalText implements encoding.TextMarshaler.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. A name that is not known is Unknown.
func (s *State) UnmarshalText(text []byte) error {
	for *s = Failing; *s > Unknown && s.String() != string(text); *s-- {
	}
	return nil
}

// Trouble reports whether somebody should be told.
func (s State) Trouble() bool { return s >= Fallback }

// noticeable is the share of requests, one in so many, from which on it is a state: less than
// that may be a single address that nobody can reach.
const noticeable = 5

// stateOf judges by the requests of a time.
func stateOf(t Tally) State {
	switch judged := t.judged(); {
	case judged == 0:
		return Unknown
	case t[2]*noticeable >= judged:
		return Failing
	case (t[2]+t[1])*noticeable >= judged:
		return Stale
	}
	return Works
}

// recent is how many slots, the one that is not over included, say what is now.
const recent = 3

// Recent is how much time they cover at most.
const Recent = recent * slot

// stateNow judges by the latest requests, and by whether all sources are blocked: then
// what is answered comes of the cache, and without requests lately there is no reason to
// expect answers.
func stateNow(p *past, at time.Time, blocked bool) State {
	var lately Tally
	current := number(at, slot)
	for n := current; n > current-recent; n-- {
		lately = lately.plus(p.Slots[n])
	}
	now := stateOf(lately)
	switch {
	case blocked && now == Works:
		return Stale
	case blocked && now == Unknown:
		return Failing
	case now == Unknown:
		return lastState(p, at)
	}
	return now
}

// lastState judges by the last requests of the hour, or else of today and yesterday.
func lastState(p *past, at time.Time) State {
	current, today := number(at, slot), number(at, day)
	for n := current; n > current-window; n-- {
		if s := stateOf(p.Slots[n]); s != Unknown {
			return s
		}
	}
	if s := stateOf(p.Days[today]); s != Unknown {
		return s
	}
	return stateOf(p.Days[today-1])
}
