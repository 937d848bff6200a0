package ratelimit

import (
	"cmp"
	"slices"
	"time"

	"sundry/cache/clients"
)

// use is how many requests of a client were admitted.
type use struct {
	client clients.ID
	n      uint32
}

// takeUses returns the clients of whom so many requests were admitted that nobody was told
// of, at most maxTold of them, those of most requests, and counts them anew.
func (l *Limiter) takeUses(worth uint32) []use {
	var all []use
	for i := range l.shards {
		all = l.shards[i].takeUses(all, worth)
	}
	slices.SortFunc(all, func(a, b use) int { return cmp.Compare(b.n, a.n) })
	return all[:min(len(all), maxTold)]
}

func (s *shard) takeUses(all []use, worth uint32) []use {
	s.mu.Lock()
	defer s.mu.Unlock()
	for b := range s.untold {
		for way, n := range s.untold[b] {
			if n >= worth {
				all = append(all, use{s.buckets[b][way].client, n})
				s.untold[b][way] = 0
			}
		}
	}
	return all
}

// forgetUses counts all clients anew.
func (l *Limiter) forgetUses() {
	for i := range l.shards {
		s := &l.shards[i]
		s.mu.Lock()
		clear(s.untold[:])
		s.mu.Unlock()
	}
}

// restored is how long it takes until so many requests are restored.
func (l *Limiter) restored(n uint32) time.Duration { return time.Duration(int64(n) * l.interval) }

// mostUsed is the most that a client may have used, debts included.
func (l *Limiter) mostUsed() time.Duration { return time.Duration(l.burst) + longestDebt }

// debit has a client have used what takes that long to be restored, unless it has used more
// here or hardly less. It reports whether it had not.
func (l *Limiter) debit(who clients.ID, left time.Duration, now time.Time) bool {
	full := l.at(now.Add(min(left, l.mostUsed())))
	s, b := l.place(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	way, known := find(&s.buckets[b], who)
	if full < s.buckets[b][way].full+l.interval {
		return false // less than a request; or not worth evicting another client
	}
	s.store(b, way, known, slot{who, full})
	return true
}
