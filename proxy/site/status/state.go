package status

// State is whether an endpoint does its work.
type State uint8

// The states, the worst last.
const (
	// Unknown: nobody has asked, or it was not observed.
	Unknown State = iota
	// Works: requests are answered as they should be.
	Works
	// Stale: requests are answered, but with older answers, because the sources fail.
	Stale
	// Failing: requests are not answered.
	Failing
)

// String is the state's name in status.json.
func (s State) String() string {
	return [...]string{"unknown", "works", "stale", "failing"}[min(s, Failing)]
}

// MarshalText implements encoding.TextMarshaler.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Trouble reports whether somebody should be told.
func (s State) Trouble() bool { return s >= Stale }

// noticeable is the share of requests, one in so many, from which on it is a state: less than
// that may be a single address that nobody can reach.
const noticeable = 5

// stateOf judges by the requests of a time.
func stateOf(c *Counts) State {
	switch judged := c.Judged(); {
	case judged == 0:
		return Unknown
	case c.Failing*noticeable >= judged:
		return Failing
	case (c.Failing+c.Stale)*noticeable >= judged:
		return Stale
	}
	return Works
}

// recent is how many minutes, the one that is not over included, say what is now.
const recent = 10

// stateNow judges by the latest requests, and by whether all sources are blocked: then
// what is answered comes of the cache, and without requests lately there is no reason to
// expect answers.
func stateNow(line *Line, blocked bool) State {
	var lately Counts
	for i := range line.Hour[max(0, len(line.Hour)-recent):] {
		lately.Add(&line.Hour[len(line.Hour)-1-i].Counts)
	}
	now := stateOf(&lately)
	switch {
	case blocked && now == Works:
		return Stale
	case blocked && now == Unknown:
		return Failing
	case now == Unknown:
		return lastState(line)
	}
	return now
}

// lastState judges by the last requests of the day, however long ago they were.
func lastState(line *Line) State {
	for _, buckets := range [][]Bucket{line.Hour, line.Day} {
		for i := len(buckets) - 1; i >= 0; i-- {
			if s := stateOf(&buckets[i].Counts); s != Unknown {
				return s
			}
		}
	}
	return Unknown
}
