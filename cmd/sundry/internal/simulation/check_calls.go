package simulation

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// freshShare is the share of its TTL for which a response is fresh and not refreshed ahead of time, at least: jitter and eager have
// their defaults.
const freshShare = 0.9 * 0.9

// unsharedTime is for how long no client of an API waits for a request of another one, after a response that was not for both.
const unsharedTime = 10 * time.Second

// checkOneCall checks C1.
func (f *fleet) checkOneCall() {
	f.eachOverlap(func(before, l *load) {
		if !isAPI(l.target) && !f.changedFor(l, before.began) {
			f.fail(l.began, "C1", "load %d of %s begins while load %d goes on", l.number, l.target, before.number)
		}
	})
}

// checkOneRequest checks C3.
func (f *fleet) checkOneRequest() {
	f.eachOverlap(func(before, l *load) {
		if isAPI(l.target) && l.instance == before.instance && !f.changedFor(l, before.began) && !f.unshared(before) && !f.hadMeanwhile(before, l) {
			f.fail(l.began, "C3", "load %d of %s begins while load %d goes on at the same instance", l.number, l.target, before.number)
		}
	})
}

// eachOverlap calls a function for each load of a target that begins while one before goes on.
func (f *fleet) eachOverlap(do func(before, l *load)) {
	for n, l := range f.origin.loads {
		for _, before := range f.origin.loads[:n] {
			if l.target == before.target && (before.ended.IsZero() || before.ended.After(l.began)) {
				do(before, l)
			}
		}
	}
}

// changedFor reports whether there was trouble from a time until a load, or its target was purged. Which tags a response of the API has
// that is under way nobody knows, so each purge of a tag counts.
func (f *fleet) changedFor(l *load, from time.Time) bool {
	from = from.Add(-inTouchTime)
	return f.troubled(everyone, from, l.began) || slices.ContainsFunc(f.changes, func(c *change) bool {
		concerns := c.hits(clientTarget(l.target)) || isAPI(l.target) && strings.HasPrefix(c.event.Do, "purge tag")
		return concerns && !c.sent.After(l.began) && c.answered.After(from)
	})
}

// unshared reports whether the response of a load of the API, or one for the same URL shortly before it, was not for all clients: an
// error, or another variant than those who waited for it want.
func (f *fleet) unshared(l *load) bool {
	url, lang, _ := strings.Cut(l.target, " ")
	return slices.ContainsFunc(f.origin.loads, func(other *load) bool {
		of, in, _ := strings.Cut(other.target, " ")
		if of != url || other.instance != l.instance || other.began.After(l.began) {
			return false
		}
		isError := other.status != http.StatusOK && f.noticed(other).After(l.began.Add(-unsharedTime))
		return isError || in != lang && !other.ended.Before(l.began)
	})
}

// noticed returns when its instance has noticed the end of a load: later if it was paused.
func (f *fleet) noticed(l *load) time.Time {
	at := l.ended
	for _, t := range f.troubles {
		if t.what == "pause" && f.instances[t.instance].network.address == l.instance && t.from.Before(l.ended) && t.to.After(at) {
			at = t.to
		}
	}
	return at
}

// hadMeanwhile reports whether an instance served a stored response while a load went on, until another one began, which was no miss then
// but a refresh.
func (f *fleet) hadMeanwhile(before, l *load) bool {
	return slices.ContainsFunc(f.requests, func(q *request) bool {
		return q.hit && q.target == clientTarget(l.target) && f.instances[q.instance].network.address == l.instance &&
			!q.sent.Before(before.began) && !q.sent.After(l.began)
	})
}

// checkTTL checks C2: while all is well, there is no call for a key of the endpoint as long as a response for it is fresh.
func (f *fleet) checkTTL() {
	for n, l := range f.origin.loads {
		if isAPI(l.target) || isRated(l.target) {
			continue
		}
		for _, before := range f.origin.loads[:n] {
			if l.target != before.target || !before.given || before.ended.IsZero() || !before.ended.Before(l.began) {
				continue
			}
			ttl := f.shortestTTL(before.began, l.began)
			age := l.began.Sub(before.began)
			if age < time.Duration(freshShare*float64(ttl)) && !f.changedFor(l, before.began) {
				f.fail(l.began, "C2", "load %d of %s begins %s after load %d, with a TTL of %s", l.number, l.target, age, before.number, ttl)
			}
		}
	}
}

// shortestTTL returns the shortest TTL of the endpoint that may have been in force in a period.
func (f *fleet) shortestTTL(from, to time.Time) time.Duration {
	shortest := time.Hour
	for _, v := range f.possible(ttlSetting, to, func(c *change) bool {
		known := f.knownSince(c)
		return c.status != 0 && !known.IsZero() && known.Add(inTouchTime).Before(from) && !f.isLost(c, known, from)
	}) {
		if ttl, err := time.ParseDuration(v.text); err == nil {
			shortest = min(shortest, ttl)
		}
	}
	return shortest
}
