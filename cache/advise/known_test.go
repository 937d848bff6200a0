package advise_test

import (
	"math/rand/v2"
	"time"
)

// Worlds are those that advice was tuned on. Each is about one thing that misleads.
func Worlds() []World {
	return append(plain(), harder()...)
}

// plain are those of one rate, and of one thing beside.
func plain() []World {
	const h, m, s = time.Hour, time.Minute, time.Second
	hot := byKey(func(key int) time.Duration { return time.Duration(10+key*key*20) * s })
	return []World{
		{Name: "a minute", Keys: 1, TTL: m, Observe: week, Changes: poisson(m), Asks: poisson(20 * s)},
		{Name: "an hour", Keys: 1, TTL: 10 * m, Observe: 2 * week, Changes: poisson(h), Asks: poisson(m)},
		{Name: "a day", Keys: 1, TTL: h, Observe: 8 * week, Changes: poisson(day), Asks: poisson(3 * m)},
		{Name: "a week", Keys: 1, TTL: 6 * h, Observe: 8 * week, Changes: poisson(week), Asks: poisson(10 * m)},
		{Name: "hourly", Keys: 1, TTL: 10 * m, Observe: 2 * week, Changes: every(h, 20*m, 0), Asks: poisson(m)},
		{Name: "daily", Keys: 1, TTL: h, Observe: 4 * week, Changes: every(day, 8*h, 0), Asks: poisson(3 * m)},
		{Name: "daily, late by up to half an hour", Keys: 1, TTL: h, Observe: 4 * week, Changes: every(day, 6*h, h/2), Asks: poisson(3 * m)},
		{Name: "by day", Keys: 1, TTL: 20 * m, Observe: 4 * week, Changes: paced(h, 1, byDay(8, 20)), Asks: poisson(2 * m)},
		{Name: "weekdays", Keys: 1, TTL: 20 * m, Observe: 4 * week, Changes: paced(2*h, 1, onWeekdays), Asks: poisson(2 * m)},
		{Name: "hot keys change fast", Keys: 20, TTL: 5 * m, Observe: week, Changes: byKey(func(key int) time.Duration { return time.Duration(key*key+1) * 10 * m }), Asks: hot},
		{Name: "hot keys change slowly", Keys: 20, TTL: 5 * m, Observe: week, Changes: byKey(func(key int) time.Duration { return 10 * h / time.Duration(key+1) }), Asks: hot},
		{Name: "requests in bursts", Keys: 1, TTL: 10 * m, Observe: 4 * week, Changes: poisson(h), Asks: clusters(30*m, 40, 5*s)},
		{Name: "TTL far above", Keys: 1, TTL: 2 * h, Observe: 4 * week, Changes: poisson(20 * m), Asks: poisson(m)},
		{Name: "TTL far below", Keys: 1, TTL: m, Observe: week, Changes: poisson(5 * h), Asks: poisson(20 * s)},
		{Name: "long grace", Keys: 1, TTL: 10 * m, Grace: h, Observe: 2 * week, Changes: poisson(2 * h), Asks: poisson(10 * m)},
		{Name: "sampled", Keys: 4, TTL: 10 * m, Observe: 2 * week, Changes: poisson(h), Asks: poisson(15 * s), Sample: 16},
		{Name: "a lost stretch", Keys: 1, TTL: 10 * m, Observe: 2 * week, Changes: poisson(h), Asks: poisson(m), Lost: [2]time.Duration{5 * day, 7 * day}},
		{Name: "an outage", Keys: 1, TTL: 10 * m, Observe: 2 * week, Changes: poisson(h), Asks: poisson(m), Outage: [2]time.Duration{6 * day, 6*day + 9*h}},
		{Name: "faster since the middle", Keys: 1, TTL: 20 * m, Observe: 2 * week, Changes: paced(6*h, 6, since(week, 1, 6)), Asks: poisson(2 * m)},
		{Name: "slower since the middle", Keys: 1, TTL: 20 * m, Observe: 6 * week, Changes: paced(6*h, 6, since(3*week, 6, 1)), Asks: poisson(2 * m)},
		{Name: "two servers, one behind", Keys: 1, TTL: 10 * m, Observe: 2 * week, Changes: poisson(3 * h), Asks: poisson(m), Lag: 2 * m},
	}
}

// harder are those that mislead in ways that were not thought of at first.
func harder() []World {
	const h, m, s = time.Hour, time.Minute, time.Second
	many := byKey(func(key int) time.Duration { return time.Duration(1+key) * m })
	return []World{
		{Name: "switches faster than refreshes", Keys: 1, TTL: h, Observe: 4 * week, Changes: switching(5*m, 6*h, 30*m), Asks: poisson(3 * m)},
		{Name: "switches by the day", Keys: 1, TTL: 20 * m, Observe: 4 * week, Changes: switching(30*m, 8*h, day), Asks: poisson(2 * m)},
		{Name: "drifts faster", Keys: 1, TTL: 20 * m, Observe: 4 * week, After: week, Changes: paced(8*h, 3, drifting(12*week, 1, 3)), Asks: poisson(2 * m)},
		{Name: "drifts slower", Keys: 1, TTL: 20 * m, Observe: 4 * week, After: week, Changes: paced(8*h, 3, drifting(12*week, 3, 1)), Asks: poisson(2 * m)},
		{Name: "clusters of changes", Keys: 1, TTL: 10 * m, Observe: 2 * week, Changes: clusters(8*h, 8, 5*m), Asks: poisson(m)},
		{Name: "close clusters of changes", Keys: 1, TTL: h, Observe: 4 * week, Changes: clusters(day, 12, 3*m), Asks: poisson(3 * m)},
		{Name: "weekly", Keys: 1, TTL: 3 * h, Observe: 10 * week, Changes: every(week, 34*h, 0), Asks: poisson(10 * m)},
		{Name: "evictions", Keys: 60, TTL: 30 * m, Observe: 2 * week, Changes: poisson(4 * h), Asks: many, Memory: 45},
		{Name: "two instances", Keys: 3, TTL: 10 * m, Observe: 2 * week, Changes: poisson(h), Asks: poisson(2 * m), Instances: 2},
		{Name: "purges", Keys: 3, TTL: h, Observe: 4 * week, Changes: poisson(12 * h), Asks: poisson(5 * m), Purges: 4 * h},
		{Name: "fails over", Keys: 1, TTL: 10 * m, Observe: 2 * week, Changes: poisson(h), Asks: poisson(m), Other: func(at time.Duration) bool { return at%(7*h) < 2*h }},
		{Name: "fails over often", Keys: 1, TTL: 10 * m, Observe: 2 * week, Changes: poisson(h), Asks: poisson(m), Other: func(at time.Duration) bool { return at%(41*m) < 20*m }},
		{Name: "asked by daylight", Keys: 1, TTL: 20 * m, Observe: 4 * week, Changes: poisson(2 * h), Asks: paced(m, 1, byDay(7, 19))},
		{Name: "asked and changed by daylight", Keys: 1, TTL: 20 * m, Observe: 4 * week, Changes: paced(h, 1, byDay(8, 18)), Asks: paced(2*m, 2, daylight)},
		{Name: "many cold keys", Keys: 400, TTL: h, Observe: 2 * week, Changes: poisson(8 * h), Asks: poisson(3 * h)},
		{Name: "never changes", Keys: 2, TTL: h, Observe: 2 * week, Changes: never, Asks: poisson(5 * m)},
		{Name: "always another", Keys: 1, TTL: 10 * m, Observe: week, Changes: poisson(s), Asks: poisson(m)},
	}
}

func never(*rand.Rand, int, time.Duration) []time.Duration { return nil }
