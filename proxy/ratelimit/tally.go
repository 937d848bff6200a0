package ratelimit

import (
	"cmp"
	"slices"
	"time"
)

// tallies are, for each slot of a shard, what a fleet needs: 65 KiB for each shard, 4
// MiB in all, of which memory is used as it fills.
type tallies struct {
	worth  uint32 // from how many on a client is worth telling
	window uint32 // milliseconds
	of     [shardBuckets][bucketWays]tally
	due    [shardBuckets]uint8 // a bit for each slot that may be worth telling
}

// tally is what is known of a client beside the time at which its burst is restored
// here.
type tally struct {
	// n is how many requests were admitted and not told. It begins anew after a
	// window, in which a burst is restored: older requests are of no consequence.
	n     uint32
	begun uint32 // when n was 0, in milliseconds after the epoch
	// joint is when its burst is restored by all that is known of all instances. As
	// that comes late, what a burst gains is lost only after a lag: a client
	// that keeps to its limit at all instances together exceeds it at none.
	joint int64
}

// add counts what was admitted, here or elsewhere, and takes so long to be restored.
func (y *tally) add(t, used int64) { y.joint = max(t-int64(lag), y.joint) + used }

// count counts a request at t, which takes an interval to be restored. A slot that was
// not known is now another client's.
func (s *tallies) count(b, way int, known bool, t, interval int64) {
	y, ms := &s.of[b][way], milliseconds(t)
	switch {
	case !known:
		*y = tally{begun: ms}
	case ms-y.begun > s.window:
		y.n, y.begun = 0, ms
	}
	y.add(t, interval)
	if y.n++; y.n >= s.worth {
		s.due[b] |= 1 << way
	}
}

func milliseconds(t int64) uint32 { return uint32(t / int64(time.Millisecond)) }

// use is how many requests of a client were admitted.
type use struct {
	client pseudonym
	n      uint32
}

// tell says from how many requests on a client is worth telling; 0: there is nobody to
// tell.
func (l *Limiter) tell(worth uint32) {
	window := uint32(min(max(time.Duration(l.burst), leastWindow), mostWindow).Milliseconds())
	for i := range l.shards {
		l.shards[i].tell(worth, window)
	}
}

// Bounds of the window. The least is longer than the time between two reports.
const (
	leastWindow = lag
	mostWindow  = 24 * time.Hour
)

func (s *shard) tell(worth, window uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case worth == 0:
		s.tallies = nil
	case s.tallies == nil:
		s.tallies = &tallies{worth: worth, window: window}
	default:
		s.tallies.worth = worth
	}
}

// takeUses returns the clients that are worth telling, at most so many, those that
// have used most, and begins to count them anew. Those that it leaves out are
// due again when they make another request.
func (l *Limiter) takeUses(most int, now time.Time) []use {
	var all []use
	for i := range l.shards {
		if all = l.shards[i].appendDue(all); len(all) > 2*most {
			all = heaviest(all, most)
		}
	}
	all = heaviest(all, most)
	for i := range all {
		all[i].n = l.takeUse(all[i].client, l.at(now))
	}
	return slices.DeleteFunc(all, func(u use) bool { return u.n == 0 })
}

// heaviest returns those that have used most.
func heaviest(all []use, most int) []use {
	slices.SortFunc(all, func(a, b use) int { return cmp.Compare(b.n, a.n) })
	return all[:min(len(all), most)]
}

// appendDue appends the uses of clients that are worth telling.
func (s *shard) appendDue(all []use) []use {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tallies == nil {
		return all
	}
	for b, due := range s.tallies.due {
		if due == 0 {
			continue
		}
		for way := range bucketWays {
			// The slot may have another client since it was due.
			if n := s.tallies.of[b][way].n; due>>way&1 == 1 && n >= s.tallies.worth {
				all = append(all, use{s.buckets[b][way].client, n})
			}
		}
		s.tallies.due[b] = 0
	}
	return all
}

// takeUse returns how much of a client is untold, and begins to count anew.
func (l *Limiter) takeUse(who pseudonym, t int64) uint32 {
	s, b := l.place(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	way, known := find(&s.buckets[b], who)
	if !known || s.tallies == nil {
		return 0
	}
	y := &s.tallies.of[b][way]
	n := y.n
	y.n, y.begun = 0, milliseconds(t)
	return n
}

// longestDebt bounds for how long a client is refused because of what others have
// admitted.
const longestDebt = time.Minute

// debit takes off a client's burst what another instance admitted. What exceeds the
// burst remains as a debt: else all instances would admit the whole rate, each for
// itself. It reports whether anything was taken off.
func (l *Limiter) debit(u use, now time.Time) bool {
	t := l.at(now)
	s, b := l.place(u.client)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tallies == nil {
		return false
	}
	way, known := find(&s.buckets[b], u.client)
	var y tally
	if known {
		y = s.tallies.of[b][way]
	}
	// No instance admits more than two bursts between two reports.
	n := min(int64(u.n), (2*l.burst+int64(lag))/l.interval)
	y.add(t, n*l.interval)
	y.joint = min(y.joint, t+l.burst+int64(longestDebt))
	slotOf := &s.buckets[b][way]
	if !known && y.joint <= slotOf.full {
		return false // not worth evicting another client
	}
	s.tallies.of[b][way] = y
	if known && y.joint <= slotOf.full {
		return false
	}
	*slotOf = slot{u.client, y.joint}
	return y.joint > t
}
