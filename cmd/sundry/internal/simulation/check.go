package simulation

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Bounds of the promises.
const (
	// inTouchTime is how long an instance must have been in touch with Redis to know what others have changed.
	inTouchTime = 4 * time.Second
	// confirmEvery is for how long an instance serves a copy without comparing it with Redis.
	confirmEvery = 5 * time.Second
	// sameTime is what the clocks of two instances may differ by, as each reads that of Redis.
	sameTime = 60 * time.Millisecond
	// readings is what the dates of a change and a load may differ by where both instances are in touch with Redis: each takes 10 ms for
	// the same time.
	readings = 20 * time.Millisecond
	// slowReadings is what they may differ by otherwise: half of what one way takes longer than the other, 67 ms on the slowest link.
	slowReadings = 70 * time.Millisecond
	// operatorTime is how long a call of an operator may take.
	operatorTime = 3 * time.Second
	// waitWithCopy is how long a client waits if there is a copy: the soft timeout, and what answering takes.
	waitWithCopy = 320 * time.Millisecond
	// waitWithout is how long a client waits without a copy: the time of a fill, and two reads of Redis.
	waitWithout = 5*time.Second + 250*time.Millisecond
	// usableTime is how old a copy may be that is used after an error, whatever an operator has set.
	usableTime = 20 * time.Second
)

// check compares what was observed with the promises.
func (f *fleet) check() {
	for _, r := range rules() {
		if f.schedule.Jumps && r.compares {
			continue
		}
		if r.fleet != nil {
			r.fleet(f)
		}
		for _, q := range f.requests {
			if r.response != nil && !q.unsafe {
				r.response(f, &r, q)
			}
		}
	}
}

// fail notes that a promise was broken.
func (f *fleet) fail(at time.Time, rule, format string, args ...any) {
	f.failures = append(f.failures, Failure{at.Sub(f.began), rule, fmt.Sprintf(format, args...)})
}

// loadOf returns the load that a response comes from; nil means none.
func (f *fleet) loadOf(q *request) *load {
	if q.load < 1 || q.load > len(f.origin.loads) {
		return nil
	}
	return f.origin.loads[q.load-1]
}

// troubled reports whether an instance, or any for everyone, was in trouble at some time of a period. Of the kinds of trouble that do
// not end at once, all count.
func (f *fleet) troubled(instance int, from, to time.Time) bool {
	for _, t := range f.troubles {
		concerns := instance == everyone || t.instance == everyone || t.instance == instance
		if concerns && !t.from.After(to) && !t.to.Before(from) {
			return true
		}
	}
	return false
}

// inTouch reports whether an instance has been in touch with Redis for long enough at a time.
func (f *fleet) inTouch(instance int, at time.Time) bool {
	return !f.troubled(instance, at.Add(-inTouchTime), at)
}

// originTarget is the target of a client as the origin gets it.
func originTarget(target string) string {
	if id, ok := strings.CutPrefix(target, endpointPath); ok {
		return "/?id=" + id
	}
	if id, ok := strings.CutPrefix(target, ratedPath); ok {
		return "/rated?id=" + id
	}
	return strings.TrimPrefix(target, "/api/web")
}

// clientTarget is the target of the origin as clients request it.
func clientTarget(target string) string {
	if id, ok := strings.CutPrefix(target, "/?id="); ok {
		return endpointPath + id
	}
	if id, ok := strings.CutPrefix(target, "/rated?id="); ok {
		return ratedPath + id
	}
	return "/api/web" + target
}

// isEndpoint reports whether a target is one of an endpoint.
func isEndpoint(target string) bool { return !strings.HasPrefix(target, apiPath) }

func (f *fleet) checkContent(r *rule, q *request) {
	l := f.loadOf(q)
	switch {
	case l == nil && q.status == http.StatusOK && isEndpoint(q.target):
		f.fail(q.received, r.name, "instance %d serves a response for %s that no load has given", q.instance, q.target)
	case l != nil && l.target != originTarget(q.target):
		f.fail(q.received, r.name, "instance %d serves load %d of %s for %s", q.instance, q.load, l.target, q.target)
	}
}

// outdatedBy reports whether a change forbids a response, once it is known.
func (f *fleet) outdatedBy(c *change, q *request, l *load) bool {
	return c.status > 0 && c.status < 300 && c.hits(q.target) && l.began.Before(c.sent.Add(-f.clocksDiffer(c, l))) && (!c.isSoft() || q.isFresh())
}

// clocksDiffer returns by how much the clocks of the instances of a change and of a load may differ: not at all if they are one instance.
func (f *fleet) clocksDiffer(c *change, l *load) time.Duration {
	of := slices.IndexFunc(f.instances, func(i *instance) bool { return i.network.address == l.instance })
	switch {
	case of == c.instance:
		return 0
	case of >= 0 && f.inTouch(of, l.began) && f.inTouch(c.instance, c.sent):
		return readings
	}
	return slowReadings
}

func (f *fleet) checkPurged(r *rule, q *request) {
	l := f.loadOf(q)
	if l == nil {
		return
	}
	for _, c := range f.changes {
		if c.instance == q.instance && (c.start == q.start || !c.unsafe()) && q.sent.After(c.answered) && f.outdatedBy(c, q, l) {
			f.fail(q.received, r.name, "instance %d serves load %d of %s (%s), begun %s before its%s", q.instance, q.load, q.target, q.how, c.sent.Sub(l.began), c.event)
		}
	}
}

func (f *fleet) checkPurgedElsewhere(r *rule, q *request) {
	l := f.loadOf(q)
	if l == nil || !f.inTouch(q.instance, q.sent) {
		return
	}
	for _, c := range f.changes {
		known := f.knownSince(c)
		if known.IsZero() || !q.sent.After(known.Add(inTouchTime)) || !f.outdatedBy(c, q, l) || f.missedMark(c, q, known) {
			continue
		}
		f.fail(q.received, r.name, "instance %d serves load %d of %s (%s), begun %s before%s", q.instance, q.load, q.target, q.how, c.sent.Sub(l.began), c.event)
	}
}

// missedMark reports whether an instance may not know of an unsafe request. If the notice was lost on its way, the instance serves its copy
// once, and goes on if Redis was emptied before that. Then it writes the copy to Redis, where instances find it that have started since.
func (f *fleet) missedMark(c *change, q *request, known time.Time) bool {
	if !c.unsafe() {
		return false
	}
	compared, emptied := *q, false
	for _, t := range f.troubles {
		if t.what == "emptied" && t.from.After(c.sent) && t.from.Before(compared.sent) {
			compared.sent, emptied = t.from, true
		}
	}
	if f.lostNotice(q.instance, c.sent, known) && !f.confirmed(&compared, known) {
		return true
	}
	missed := func(i *instance) bool { return f.lostNotice(i.number, c.sent, known) }
	return emptied && f.instances[q.instance].started[q.start-1].After(c.sent) && slices.ContainsFunc(f.instances, missed)
}

// knownSince returns when Redis has a change at the latest; zero means that it may never have it: Redis lost it before others had it, or
// the instance was restarted that had yet to announce an unsafe request. A restart loses no pending change.
func (f *fleet) knownSince(c *change) time.Time {
	at := c.answered
	if c.pending || c.unsafe() {
		at = f.firstTouch(c.instance, at)
	}
	if at.IsZero() {
		return at
	}
	for _, t := range f.troubles {
		lost := t.what == "emptied" && !t.from.Before(c.sent) && t.from.Before(at.Add(inTouchTime))
		gone := c.unsafe() && t.what == "start" && t.instance == c.instance && !t.from.Before(c.sent) && t.from.Before(at)
		if lost || gone {
			return time.Time{}
		}
	}
	return at
}

// firstTouch returns when an instance has been in touch with Redis for long enough, after a time; zero means never.
func (f *fleet) firstTouch(instance int, after time.Time) time.Time {
	for at := after.Add(inTouchTime); at.Before(f.ended); at = at.Add(time.Second / 2) {
		if f.inTouch(instance, at) {
			return at
		}
	}
	return time.Time{}
}

// older reports whether a load is older than another one. Loads of different instances have no order within sameTime.
func (f *fleet) older(l, than *load) bool {
	by := time.Duration(0)
	if l.instance != than.instance {
		by = sameTime
	}
	return !l.ended.IsZero() && l.ended.Add(by).Before(f.sent(than))
}

// sent returns when an instance may have sent the request of a load, at the earliest: before a pause, at the end of which it arrived.
func (f *fleet) sent(l *load) time.Time {
	at := l.began
	for _, t := range f.troubles {
		if t.what == "pause" && f.instances[t.instance].network.address == l.instance && t.from.Before(at) && t.to.After(l.began.Add(-time.Second)) {
			at = t.from
		}
	}
	return at
}

func (f *fleet) checkOlder(r *rule, q *request) {
	l := f.loadOf(q)
	if l == nil {
		return
	}
	for _, before := range f.requests {
		if before.instance == q.instance && before.start == q.start && before.target == q.target && !before.received.IsZero() && before.received.Before(q.sent) {
			if newer := f.loadOf(before); newer != nil && f.older(l, newer) {
				f.fail(q.received, r.name, "instance %d serves load %d of %s (%s), and has served load %d before", q.instance, q.load, q.target, q.how, before.load)
				return
			}
		}
	}
}

// checkOldest compares with what another instance has stored in Redis while it was in touch, if Redis and the announcements have lost
// nothing since. A copy of an endpoint's response is compared with Redis when it is served.
func (f *fleet) checkOldest(r *rule, q *request) {
	l := f.loadOf(q)
	if l == nil || f.troubled(everyone, q.sent.Add(-inTouchTime), q.sent) {
		return
	}
	for _, other := range f.requests {
		newer := f.loadOf(other)
		if newer == nil || other.target != q.target || !other.received.Add(inTouchTime).Before(q.sent) || !f.older(l, newer) {
			continue
		}
		shared := !f.troubled(other.instance, newer.began.Add(-inTouchTime), other.received.Add(inTouchTime))
		// What Redis has lost, or did not take, is written again when it is served.
		shared = shared || !f.troubled(everyone, other.sent.Add(-inTouchTime), q.sent)
		if shared && !f.lost(q.instance, other.sent.Add(-inTouchTime), q.sent) && f.confirmed(q, other.received) {
			f.fail(q.received, r.name, "instance %d serves load %d of %s (%s), and instance %d has served load %d %s before", q.instance, q.load, q.target, q.how,
				other.instance, other.load, q.sent.Sub(other.received))
			return
		}
	}
}

// confirmed reports whether an instance has compared its copy with Redis between a time and a request: it has served it since, when it was
// no longer confirmed for that time, and when it was in touch with Redis.
func (f *fleet) confirmed(q *request, since time.Time) bool {
	return slices.ContainsFunc(f.requests, func(used *request) bool {
		return used.instance == q.instance && used.start == q.start && used.target == q.target &&
			used.sent.After(since.Add(confirmEvery)) && used.received.Add(time.Second/2).Before(q.sent) && f.inTouch(q.instance, used.sent)
	})
}

// lost reports whether Redis may have lost what was written in a period, or an instance a notice of it.
func (f *fleet) lost(instance int, from, to time.Time) bool {
	for _, t := range f.troubles {
		if (t.what == "emptied" || t.what == "dropped") && t.within(from, to) {
			return true
		}
	}
	return f.lostNotice(instance, from, to)
}

// lostNotice reports whether a notice to an instance was lost in a period.
func (f *fleet) lostNotice(instance int, from, to time.Time) bool {
	return slices.ContainsFunc(f.troubles, func(t trouble) bool { return t.what == "notice" && t.instance == instance && t.within(from, to) })
}

// checkRead checks what an instance has read from Redis, which it may do only if it knows the purges there.
func (f *fleet) checkRead(r *rule, q *request) {
	l := f.loadOf(q)
	if l == nil || !strings.Contains(q.how, "detail=redis") {
		return
	}
	for _, c := range f.changes {
		known := f.knownSince(c)
		if !known.IsZero() && known.Add(inTouchTime).Before(q.sent) && !f.wasEmptied(c.sent, q.sent) && f.outdatedBy(c, q, l) {
			f.fail(q.received, r.name, "instance %d serves load %d of %s (%s), begun %s before%s", q.instance, q.load, q.target, q.how, c.sent.Sub(l.began), c.event)
		}
	}
}

// wasEmptied reports whether Redis has lost what it had in a period.
func (f *fleet) wasEmptied(from, to time.Time) bool {
	return slices.ContainsFunc(f.troubles, func(t trouble) bool { return t.what == "emptied" && t.within(from, to) })
}

// softTimeout is that of the endpoints.
const softTimeout = 300 * time.Millisecond

func (f *fleet) checkSoftTimeout(r *rule, q *request) {
	l := f.loadOf(q)
	if l == nil || !isEndpoint(q.target) || q.received.Sub(q.sent) < softTimeout {
		return
	}
	for _, other := range f.requests {
		newer := f.loadOf(other)
		if newer != nil && other.instance == q.instance && other.start == q.start && other.target == q.target &&
			other.received.Before(q.received.Add(-time.Millisecond)) && f.older(l, newer) {
			f.fail(q.received, r.name, "instance %d serves load %d of %s (%s), and has had load %d", q.instance, q.load, q.target, q.how, other.load)
			return
		}
	}
}

// redisTime is how long reads of Redis may take for a client, and what answering takes.
const redisTime = 300 * time.Millisecond

// checkWaitForOthers checks that a client has its response soon after the last call for its target that began before has ended.
func (f *fleet) checkWaitForOthers(r *rule, q *request) {
	if !isEndpoint(q.target) || f.troubled(everyone, q.sent.Add(-inTouchTime), q.received) {
		return
	}
	idle, last := time.Duration(0), q.sent // time in which no call was under way, until the last one ended
	for _, l := range f.origin.loads {     // in the order in which they began
		if l.target != originTarget(q.target) || !l.ended.After(last) || !l.began.Before(q.received) {
			continue
		}
		idle += max(0, l.began.Sub(last))
		last = l.ended
	}
	if idle += max(0, q.received.Sub(last)); idle > redisTime {
		f.fail(q.received, r.name, "instance %d takes %s for %s (%s) beside the calls", q.instance, idle, q.target, q.how)
	}
}

// usable returns a response that an instance has served, and which it may use at the time of another request; nil means none.
func (f *fleet) usable(q *request) *request {
	for _, before := range f.requests {
		l := f.loadOf(before)
		if l == nil || before.instance != q.instance || before.start != q.start || before.target != q.target || !before.received.Before(q.sent) {
			continue
		}
		if !l.ended.Add(usableTime).After(q.received) || f.mayBePurged(q.target, l.began, q.received) {
			continue
		}
		// Variants of a URL that another instance has stored without knowing of this one take its place.
		if isEndpoint(q.target) || !f.troubled(everyone, l.began.Add(-inTouchTime), q.received) {
			return before
		}
	}
	return nil
}

// mayBePurged reports whether a hard purge or an unsafe request concerns what began at a time, until another time. Readings of the clock
// of Redis differ, so that one of just before may concern it, too.
func (f *fleet) mayBePurged(target string, from, to time.Time) bool {
	for _, c := range f.changes {
		if c.hits(target) && (!c.isSoft() || c.unsafe()) && c.sent.Before(to) && c.answered.Add(time.Second).After(from) {
			return true
		}
	}
	return false
}

func (f *fleet) checkErrors(r *rule, q *request) {
	isError := q.status >= http.StatusInternalServerError || q.status == http.StatusNotFound && isEndpoint(q.target)
	if !isError {
		return
	}
	if copied := f.usable(q); copied != nil {
		f.fail(q.received, r.name, "instance %d serves %d for %s (%s), and has load %d", q.instance, q.status, q.target, q.how, copied.load)
	}
}

// checkWait also finds clients that get no response.
func (f *fleet) checkWait(r *rule, q *request) {
	if f.stopped(q.instance, q.sent.Add(-time.Second), q.received) {
		return
	}
	took := q.received.Sub(q.sent)
	switch {
	case q.status == 0:
		f.fail(q.received, r.name, "instance %d gives no response for %s", q.instance, q.target)
	case !isEndpoint(q.target):
	case took > waitWithout:
		f.fail(q.received, r.name, "instance %d takes %s for %s (%s)", q.instance, took, q.target, q.how)
	case took > waitWithCopy && !f.schedule.Jumps && f.usable(q) != nil: // when the clock is set, old purges are dated anew
		f.fail(q.received, r.name, "instance %d takes %s for %s (%s), and has a copy", q.instance, took, q.target, q.how)
	}
}

// stopped reports whether an instance was not running, or paused, at some time of a period.
func (f *fleet) stopped(instance int, from, to time.Time) bool {
	for _, t := range f.troubles {
		if t.instance == instance && (t.what == "start" || t.what == "pause") && !t.from.After(to) && !t.to.Before(from) {
			return true
		}
	}
	return false
}
