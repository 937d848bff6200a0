package cache

import "time"

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
	return next.Born.After(old.Born)
}

func usable(st State) bool { return st > Absent && st < Gone }

// goneBefore is the instant up to which entries of the key are gone, whatever
// the policy says: by a hard purge, or by a drop.
func (s *Space) goneBefore(key string, now time.Time) time.Time {
	at := s.droppedBefore(key, now)
	if m := s.mark.Load(); m != nil {
		at = later(at, m.Hard)
	}
	return at
}

// birth is the time a load counts from that begins now. It follows all purges
// and drops that are known by then, although they come from other clocks.
func (s *Space) birth(key string, now time.Time) time.Time {
	last := s.goneBefore(key, now)
	if m := s.mark.Load(); m != nil {
		last = later(last, m.Soft)
	}
	if now.Truncate(time.Millisecond).After(last) || last.Sub(now) > skew {
		return now
	}
	return last.Add(time.Millisecond)
}

// overtaken tells whether a purge or a drop meant the entry.
func (s *Space) overtaken(key string, m *Meta, now time.Time) bool {
	if !m.Born.After(s.droppedBefore(key, now)) {
		return true
	}
	mark := s.mark.Load()
	return mark != nil && !m.oldest().After(mark.Hard)
}
