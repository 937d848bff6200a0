package simulation

import (
	"slices"
	"time"
)

const (
	// orderTime is how far apart changes of one setting must be made for their order to be certain: each instance dates its own by its
	// reading of the clock of Redis.
	orderTime = 500 * time.Millisecond
	// expiryTime is by how much the end of a hold may differ, since it is dated by a reading of the clock of Redis.
	expiryTime = 500 * time.Millisecond
)

// checkPending checks ST1.
func (f *fleet) checkPending() {
	for _, s := range f.atEnd() {
		if s.pending != 0 || !s.inSync {
			f.fail(s.sent, "ST1", "instance %d has %v pending changes; in sync: %v", s.instance, s.pending, s.inSync)
		}
	}
}

// atEnd returns the states of all instances at the end.
func (f *fleet) atEnd() []*state {
	return slices.DeleteFunc(slices.Clone(f.states), func(s *state) bool { return s.sent.Before(f.ended) })
}

// running returns the states of instances that were not stopping: what is changed or ends meanwhile, they apply when they start.
func (f *fleet) running() []*state {
	return slices.DeleteFunc(slices.Clone(f.states), func(s *state) bool { return f.stopped(s.instance, s.sent, s.received) })
}

// checkInForce checks ST2: the last change that an instance must know is in force, or a later one.
func (f *fleet) checkInForce() {
	for _, s := range f.running() {
		for setting, text := range s.values {
			possible := f.possible(setting, s.received, func(c *change) bool { return f.mustKnow(s, c) })
			if !slices.ContainsFunc(possible, func(v value) bool { return v.mayBe(text, s, firstValue(setting)) }) {
				f.fail(s.received, "ST2", "the %s of instance %d is %s, not one of %s", setting, s.instance, text, possible)
			}
		}
	}
}

// possible returns the values that a setting may have before a time: that of the last change that must be known, and of those that were
// not certainly made before it.
func (f *fleet) possible(setting string, before time.Time, known func(*change) bool) []value {
	last, changes := value{text: firstValue(setting)}, f.changesOf(setting, before)
	for _, c := range slices.Backward(changes) {
		if known(c) {
			last = c.value
			changes = slices.DeleteFunc(changes, func(other *change) bool { return other.answered.Add(orderTime).Before(c.sent) })
			break
		}
	}
	values := []value{last}
	for _, c := range changes {
		values = append(values, c.value)
	}
	return values
}

// mayBe reports whether a state may have the value.
func (v value) mayBe(text string, s *state, fallback string) bool {
	return text == v.at(s.sent.Add(-expiryTime), fallback) || text == v.at(s.received.Add(expiryTime+v.early), fallback)
}

// changesOf returns the changes of a setting that were made up to a time, and may have been carried out, in order.
func (f *fleet) changesOf(setting string, before time.Time) []*change {
	var all []*change
	for _, c := range f.changes {
		if c.setting == setting && c.status < 400 && !c.sent.After(before) {
			all = append(all, c)
		}
	}
	return all
}

// mustKnow reports whether a change, or a later one, must be in force where a state was seen.
func (f *fleet) mustKnow(s *state, c *change) bool {
	if c.status == 0 {
		return false
	}
	if c.instance == s.instance && c.start == s.start {
		return c.answered.Before(s.sent)
	}
	known := f.knownSince(c)
	return !known.IsZero() && known.Add(inTouchTime).Before(s.sent) && f.inTouch(s.instance, s.sent) && !f.isLost(c, known, s.sent)
}

// isLost reports whether Redis lost a change that no instance knew for long enough to store it again.
func (f *fleet) isLost(c *change, known, until time.Time) bool {
	for _, t := range f.troubles {
		if t.what != "emptied" || t.from.Before(c.sent) || t.from.After(until) {
			continue
		}
		if !slices.ContainsFunc(f.instances, func(i *instance) bool { return f.restores(i.number, c, known, t.from) }) {
			return true
		}
	}
	return false
}

// restores reports whether an instance knew a change when Redis lost it, and ran until it was in touch again.
func (f *fleet) restores(instance int, c *change, known, lost time.Time) bool {
	since := known
	for _, t := range f.troubles {
		if t.instance == instance && t.what == "start" && t.from.Before(lost) && t.to.After(since) {
			since = t.to
		}
	}
	if instance != c.instance || !since.Equal(known) {
		since = f.firstTouch(instance, since)
	}
	again := f.firstTouch(instance, lost)
	return !since.IsZero() && since.Before(lost) && !again.IsZero() && !f.stopped(instance, lost, again)
}

// checkSame checks ST3. When a hold ends is not promised while clocks are set.
func (f *fleet) checkSame() {
	states := f.running()
	for n, s := range states {
		for setting, text := range s.values {
			if f.schedule.Jumps && setting == holdSetting || f.undecided(setting, s) {
				continue
			}
			for _, other := range states[:n] {
				if other.sent.Equal(s.sent) && other.values[setting] != text && f.inTouch(s.instance, s.sent) && f.inTouch(other.instance, s.sent) {
					f.fail(s.received, "ST3", "the %s of instance %d is %s, and that of instance %d is %s", setting, s.instance, text, other.instance, other.values[setting])
				}
			}
		}
	}
}

// undecided reports whether a change of a setting may still be on its way when a state is seen, or about to end.
func (f *fleet) undecided(setting string, s *state) bool {
	return slices.ContainsFunc(f.changesOf(setting, s.received), func(c *change) bool {
		if end := c.value.until; !end.IsZero() && end.After(s.sent.Add(-expiryTime)) && end.Before(s.received.Add(expiryTime+c.value.early)) {
			return true
		}
		known := c.answered
		if c.pending || c.status == 0 {
			known = f.firstTouch(c.instance, c.answered)
		}
		return known.IsZero() || known.Add(inTouchTime).After(s.sent)
	})
}
