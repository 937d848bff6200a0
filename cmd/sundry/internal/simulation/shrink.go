package simulation

import "slices"

// Shrink returns a part of a schedule that still fails, from which nothing can be taken away. fails reports whether one does; it may
// report so by chance, so that it should run a schedule several times before it reports that it does not.
func Shrink(s Schedule, fails func(Schedule) bool) Schedule {
	for size := len(s.Events) / 2; size >= 1; {
		if shorter, ok := without(s, size, fails); ok {
			s = shorter
			size = min(size, len(s.Events)/2)
			continue
		}
		size /= 2
	}
	return s
}

// without returns the schedule without some events in a row, if it still fails.
func without(s Schedule, size int, fails func(Schedule) bool) (Schedule, bool) {
	for from := 0; from < len(s.Events); from += size {
		shorter := s
		shorter.Events = slices.Delete(slices.Clone(s.Events), from, min(from+size, len(s.Events)))
		if fails(shorter) {
			return shorter, true
		}
	}
	return s, false
}
