package cache

import "time"

// Late is how long ago the first publication was due that the entry does not
// hold; 0 when it holds the newest one, and for policies without a timetable.
// By the date it bears, an entry holds every publication of that day; without
// one, those up to its last change.
func (p *Policy) Late(m *Meta, now time.Time) time.Duration {
	if p.Until == nil || m.Negative {
		return 0
	}
	held := m.Modified
	if day, err := time.ParseInLocation(time.DateOnly, m.Edition, p.Until.Zone); err == nil {
		held = day.AddDate(0, 0, 1).Add(-1)
	}
	return max(0, now.Sub(p.Until.Next(held)))
}

// Late is the lateness of the entry in the near tier; 0 when there is none.
func (s *Space) Late(key string, now time.Time) time.Duration {
	if s.policy.Until == nil {
		return 0
	}
	e, ok := s.cache.near.head(s.policy.Class, key)
	if !ok {
		return 0
	}
	return s.policy.Late(&e.meta, now)
}
