package ratelimit

import "time"

// names are the pseudonyms of clients: by a secret, and for a time by another before.
type names struct {
	*secret
	before *secret
	until  int64 // all bursts that were used under it are restored, in nanoseconds after the epoch
}

// secret returns the one by which clients are named.
func (l *Limiter) secret() *secret { return l.names.Load().secret }

// adopt names clients by the secret of the fleet from now on. Those that are known by
// another are renamed when they make a request.
func (l *Limiter) adopt(s *secret, now time.Time) {
	before := l.secret()
	if *before == *s {
		return
	}
	l.names.Store(&names{secret: s, before: before, until: l.at(now) + l.burst})
	l.tell(0) // what was counted has names that mean nothing to the others
}

// rename moves a client to the slot of its new name. It holds no two locks at once: a
// request of the client that comes in between may find neither.
func (l *Limiter) rename(before, who pseudonym) {
	old, ok := l.remove(before)
	if !ok {
		return
	}
	s, b := l.place(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	way, known := find(&s.buckets[b], who)
	if known || old.full > s.buckets[b][way].full {
		s.store(b, way, slot{who, max(old.full, s.buckets[b][way].full)}, known)
	}
}

// remove takes a client out of the table.
func (l *Limiter) remove(who pseudonym) (slot, bool) {
	s, b := l.place(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	way, known := find(&s.buckets[b], who)
	if !known {
		return slot{}, false
	}
	old := s.buckets[b][way]
	s.buckets[b][way] = slot{}
	return old, true
}

// store puts a client into a slot, which has another one's tally where it was not known.
func (s *shard) store(b, way int, c slot, known bool) {
	s.buckets[b][way] = c
	if !known && s.tallies != nil {
		s.tallies.of[b][way] = tally{}
	}
}
