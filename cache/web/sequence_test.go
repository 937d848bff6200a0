package web

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestNoSequenceUndoesAnInvalidation makes many sequences of events at random. Redis is flushed only while each instance knows
// of all invalidations.
func TestNoSequenceUndoesAnInvalidation(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := &sequence{invalidationStory: newInvalidationStory(t, memoryOfKeys/2), random: rand.New(rand.NewPCG(seed, 0)), invalidated: -1, waiting: map[*member]int{}, ignorant: map[*member]bool{}}
			for s.now = 2; s.now < 60; s.now++ {
				s.step()
				s.check()
			}
			for _, m := range []*member{s.a, s.b, s.c} {
				s.comesBack(m)
			}
			s.check()
			if t.Failed() {
				t.Log(strings.Join(s.events, "\n"))
			}
		})
	}
}

// sequence is a story of random events, one each second.
type sequence struct {
	*invalidationStory
	random      *rand.Rand
	now         int
	invalidated int             // time of the last invalidation that Redis has got
	waiting     map[*member]int // time of the last one that waits
	ignorant    map[*member]bool
	events      []string
}

func (s *sequence) all() []*member { return []*member{s.a, s.b, s.c, s.d} }

func (s *sequence) step() {
	i := s.random.IntN(3) // d is never cut off
	m := s.all()[i]
	note := func(what string) { s.events = append(s.events, fmt.Sprintf("%d: %c %s", s.now, 'a'+rune(i), what)) }
	switch n := s.random.IntN(12); {
	case n < 5:
		value := []string{"fr", "en", "de"}[s.random.IntN(3)]
		note("stores " + value)
		s.stores(m, s.now, value)
		s.announces(m, s.now)
	case n < 7:
		note("purges")
		s.purges(m, s.now)
		for _, other := range s.all() {
			if !m.cut && !other.cut && s.random.IntN(2) == 0 { // others are notified by an instance of an earlier version
				s.tells(s.now, other)
			}
		}
		s.announces(m, s.now)
		for _, other := range s.all() {
			s.ignorant[other] = s.ignorant[other] || other != m && (other.cut || m.cut)
		}
		if m.cut {
			s.waiting[m] = s.now
		} else {
			s.invalidated = s.now
		}
	case n < 9:
		note("is cut off")
		m.cut = true
	case n < 11:
		note("comes back")
		s.comesBack(m)
	case !slices.Contains(slices.Collect(maps.Values(s.ignorant)), true):
		note("finds Redis flushed")
		s.redis.FlushAll()
	}
}

// announces notifies the instances that are not cut off of a write.
func (s *sequence) announces(m *member, after int) {
	for _, other := range s.all() {
		if !m.cut && !other.cut {
			other.Replaced(other.farKey(storyKey), s.at(after))
		}
	}
}

// comesBack has an instance write what waits, of which the others are notified, and look all up. If nobody is cut off then, all do.
func (s *sequence) comesBack(m *member) {
	if !m.cut {
		return
	}
	s.returns(m)
	for after := range s.now {
		s.announces(m, after)
	}
	if at, ok := s.waiting[m]; ok {
		s.invalidated = max(s.invalidated, at)
		delete(s.waiting, m)
	}
	if slices.ContainsFunc(s.all(), func(m *member) bool { return m.cut }) {
		return
	}
	s.check() // which looks all up
	clear(s.ignorant)
}

// check requires that no instance that is not cut off serves what was requested before an invalidation that Redis has got.
func (s *sequence) check() {
	for i, m := range s.all() {
		for _, value := range []string{"fr", "en", "de"} {
			var after int
			if found := s.find(m, value); found == "" || m.cut {
				continue
			} else if _, err := fmt.Sscanf(found, value+" %d", &after); err != nil || after <= s.invalidated {
				s.Errorf("at %d, instance %c serves %q, which was invalidated at %d", s.now, 'a'+rune(i), found, s.invalidated)
			}
		}
	}
}
