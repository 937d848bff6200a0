package whatif

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"sundry/cache"
)

// Changes is a model of how the content behind a key changes. The zero value is
// content of which nobody knows that.
type Changes struct {
	mean      time.Duration   // between changes that come at random, or
	every     time.Duration   // between those that come regularly, or
	timetable *cache.Calendar // when they come
}

// Random content changes at random, at that mean interval (a Poisson process).
func Random(mean time.Duration) Changes { return Changes{mean: mean} }

// Regular content changes at equal intervals, each key at moments of its own that
// nobody knows.
func Regular(interval time.Duration) Changes { return Changes{every: interval} }

// Timetable content changes at known times of day.
func Timetable(c *cache.Calendar) Changes { return Changes{timetable: c} }

// changesExpected is what ParseChanges reads.
const changesExpected = `expected a mean interval as in 30m, regular ones as in "every 30m", times of day as in daily@06:00 or "daily@06:00 Asia/Shanghai", or unknown`

// ParseChanges reads 30m (changes at random, at that mean interval), "every 30m",
// daily@06:00 (in UTC), "daily@06:00 18:00 Asia/Shanghai" and unknown. interval reads a
// duration.
func ParseChanges(text string, interval func(string) (time.Duration, error)) (Changes, error) {
	if text == "unknown" {
		return Changes{}, nil
	}
	if times, ok := strings.CutPrefix(text, "daily@"); ok {
		if f := strings.Fields(times); len(f) == 1 {
			times += " UTC"
		}
		c, err := cache.ParseCalendar(times)
		if err != nil {
			return Changes{}, fmt.Errorf("changes %q: %w", text, err)
		}
		return Timetable(c), nil
	}
	length, regular := strings.CutPrefix(text, "every ")
	d, err := interval(strings.TrimSpace(length))
	if err != nil || d < time.Millisecond {
		return Changes{}, fmt.Errorf("changes %q: %s", text, changesExpected)
	}
	if regular {
		return Regular(d), nil
	}
	return Random(d), nil
}

// Known reports whether there is a model.
func (c *Changes) Known() bool { return *c != Changes{} }

// String says in a few words how content changes.
func (c *Changes) String() string {
	switch {
	case c.mean > 0:
		return "at random, every " + Duration(c.mean) + " in the mean"
	case c.every > 0:
		return "every " + Duration(c.every)
	case c.timetable != nil:
		return "at its publications"
	}
	return "unknown"
}

// content is a model that is asked again and again, mostly about the same time.
type content struct {
	Changes
	last, next int64 // the publications around the time of the last question
}

// older is the probability that content which was loaded at one time, in Unix
// nanoseconds, has changed at another; 0 where nobody knows.
func (c *content) older(loaded, now int64) float64 {
	age := float64(now - loaded)
	switch {
	case age <= 0:
		return 0
	case c.mean > 0:
		return -math.Expm1(-age / float64(c.mean))
	case c.every > 0:
		return min(1, age/float64(c.every))
	case c.timetable != nil && c.publishedBefore(now) > loaded:
		return 1
	}
	return 0
}

// publishedBefore is the last publication at or before a time.
func (c *content) publishedBefore(now int64) int64 {
	if now < c.last || now >= c.next {
		at := time.Unix(0, now)
		c.last, c.next = c.timetable.Last(at).UnixNano(), c.timetable.Next(at).UnixNano()
	}
	return c.last
}

// changed draws whether content changed between two loads.
func (c *content) changed(random *rand.Rand, before, now int64) bool {
	p := c.older(before, now)
	return p >= 1 || p > 0 && random.Float64() < p
}
