package far

import (
	"slices"
	"sync"
	"time"

	"sundry/cache/entry"
)

const (
	// maxFlying is how many round trips are under way before looks wait for one of
	// them, to share the next.
	maxFlying = 2
	// maxShared is how many looks share a round trip.
	maxShared = 32
	// patience is how long a look waits for one.
	patience = time.Millisecond
	// largeReply is the size of a reply from which looks have, for a time, round trips
	// of their own, so that none waits for the bytes of another.
	largeReply = 256 << 10
	aloneFor   = time.Second
)

// looks lets those that are made at the same time share round trips: a system call
// costs more than a key. A look that finds few under way sends at once; the others wait
// until one has ended, though not for long, and the first of them sends for all that
// wait by then.
type looks struct {
	mu         sync.Mutex
	flying     int
	waiting    []*lookup
	aloneUntil time.Time
}

// lookup is one Look, with its result.
type lookup struct {
	key   string
	start time.Time
	// turn is of one that waits: it gets the looks to send for, or nil once another has
	// sent for this one.
	turn chan []*lookup

	// token and ttl are of the lease that it asks for; "": of none.
	token string
	ttl   time.Duration

	value, failure []byte
	tooLarge       bool // what there is was not read
	leased         bool
	// taken is the lease; preempted: there was something about the key when it was asked for.
	taken, preempted bool
	err              error
}

// found is what was read, as far as an instance has written it. Its time is by the clock of Redis.
func (l *lookup) found() entry.Found {
	f := entry.Found{Leased: l.leased, Answered: l.err == nil}
	var value, failure bool
	f.Value, f.Created, value = unseal(l.key, l.value)
	if value {
		f.Purged = markIn(l.value)
	}
	f.Failure, failure = unsealRecord(l.key, l.failure)
	f.Broken = l.tooLarge || l.value != nil && !value || l.failure != nil && !failure
	return f
}

// enter returns the looks for which this one has to send: itself, or all that wait; or
// nil if it has to wait.
func (s *looks) enter(l *lookup) []*lookup {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.flying < maxFlying || l.start.Before(s.aloneUntil) {
		s.flying++
		return []*lookup{l}
	}
	l.turn = make(chan []*lookup, 1)
	s.waiting = append(s.waiting, l)
	if len(s.waiting) < maxShared {
		return nil
	}
	return s.depart()
}

// depart takes all that wait for one more round trip. The lock is held.
func (s *looks) depart() []*lookup {
	all := s.waiting
	s.waiting = nil
	s.flying++
	return all
}

// wait waits for the turn of a look, and returns the looks for which it has to send; nil
// when another has sent for it.
func (s *looks) wait(l *lookup) []*lookup {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case all := <-l.turn:
		return all
	case <-timer.C:
	}
	if all := s.waitNoLonger(l); all != nil {
		return all
	}
	return <-l.turn
}

// waitNoLonger returns all that wait if this look is among them, or nil.
func (s *looks) waitNoLonger(l *lookup) []*lookup {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.waiting, l) {
		return nil
	}
	return s.depart()
}

// landed ends a round trip: the first of those that wait makes the next one.
func (s *looks) landed(large bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if large {
		s.aloneUntil = time.Now().Add(aloneFor)
	}
	s.flying--
	if len(s.waiting) > 0 && s.flying < maxFlying {
		all := s.depart()
		all[0].turn <- all
	}
}

// share tells all looks of a round trip how it ended.
func share(all []*lookup, err error) {
	for _, l := range all {
		l.err = err
		if l.turn != nil {
			l.turn <- nil // the one that has sent does not wait for it
		}
	}
}

// sizeOf is the size of what a round trip has read, or was too large for it: one value may then have kept others from being read.
func sizeOf(all []*lookup) (n int) {
	for _, l := range all {
		n += len(l.value) + len(l.failure)
		if l.tooLarge {
			n += maxReply
		}
	}
	return n
}
