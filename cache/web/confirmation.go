package web

import (
	"context"
	"slices"
	"time"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

// A response in memory may be older than what another instance has written to Redis since, and Redis may have lost what was written. So a
// fresh response that is served is confirmed: behind it, Redis is looked into. What is newer there takes its place, and what Redis lacks is
// written again. After an outage, in which marks may have been missed, the look comes first.

// doubts reports whether a response may be served only after a look into Redis: a mark may have been missed.
func (s *Store) doubts(o *Object) bool { return o.outage.Load() != s.outages.Load() }

// Missed is to be called when marks may have been missed until now.
func (s *Store) Missed() {
	s.missedAt.Store(time.Now().UnixNano())
	s.outages.Add(1)
}

// missedNothing notes that no outage was since a response was requested.
func (s *Store) missedNothing(key string, o *Object) {
	if outage := s.outages.Load(); o.Requested.UnixNano() > s.missedAt.Load() {
		s.looked(key, o, outage, o.Requested)
	}
}

// looked notes that a response is the newest as far as a look at a time tells. Marks of a long key are not announced, so that each use of
// it needs a look.
func (s *Store) looked(key string, o *Object, outage int64, now time.Time) {
	if len(s.farKey(key)) <= entry.MostAnnounced {
		o.outage.Store(outage)
	}
	o.confirmed.Store(now.Add(policy.ConfirmEvery).UnixNano())
}

// dueAgain notes that Redis was not looked into.
func (o *Object) dueAgain(now time.Time) { o.confirmed.Store(now.Add(policy.ConfirmAgain).UnixNano()) }

// isDue reports whether a response is to be confirmed by the caller. The others' uses need no confirmation then.
func (o *Object) isDue(now time.Time) bool {
	until := o.confirmed.Load()
	left := until - now.UnixNano()
	if left > 0 && left <= int64(policy.ConfirmEvery) { // or the clock was set back
		return false
	}
	return o.confirmed.CompareAndSwap(until, now.Add(policy.ConfirmEvery).UnixNano())
}

// confirm looks into Redis in the background if a response that is served is to be confirmed.
func (s *Store) confirm(key string, o *Object, rules *Rules, now time.Time) {
	if len(o.Body) > mostFar || !o.isDue(now) {
		return
	}
	if s.confirming.Add(1) > policy.MostConfirming {
		s.confirming.Add(-1)
		o.dueAgain(now)
		return
	}
	s.background(func() {
		defer s.confirming.Add(-1)
		s.lookBehind(context.Background(), key, o, rules, now)
	})
}

// lookBehind looks into Redis for a response that was served, if Redis has another version than at the last such look. A version is some
// bytes long, where a response may have a megabyte.
func (s *Store) lookBehind(ctx context.Context, key string, o *Object, rules *Rules, now time.Time) {
	keys := []string{s.farKey(key)}
	if o.selecting != "" {
		keys = append(keys, s.variantKey(key, o.selecting))
	}
	version, ok := s.Far.Version(ctx, keys...)
	if !ok {
		o.dueAgain(now)
		return
	}
	if seen := o.version.Load(); seen != nil && *seen == version {
		return
	}
	o.version.Store(nil)
	if _, there := s.lookUp(ctx, key, s.Get(key).Of(rules), o, s.selectorOf(o, rules), rules, now); there {
		o.version.Store(&version)
	}
}

// compare notes that looks have found nothing newer than a response, but perhaps another one; nil means nothing. What Redis has lost, or did
// not take, is written again. there is false if it is, or if the groups of the response could not be looked up.
func (s *Store) compare(ctx context.Context, key string, selected, found *Object, outage int64, now time.Time) (there bool) {
	if s.doubts(selected) && !s.learnGroups(ctx, key, selected) {
		return false
	}
	lacks := found == nil || selected.covers(found) && selected.Requested.After(found.Requested.Add(ClockSkew))
	if lacks {
		s.share(key, selected)
	}
	s.looked(key, selected, outage, now)
	return !lacks
}

// selectorOf returns a selector like that of the request for which a response was sent.
func (s *Store) selectorOf(o *Object, rules *Rules) *Selector {
	request := &Selector{Client: o.client, Site: o.Site, fields: selectedFields(o.Selected), rules: rules, key: s.digestKey.Load()}
	for name, text := range o.Selected {
		request.values = append(request.values, fieldValue{name, text})
		if IsRouting(name) {
			request.routed = append(request.routed, name)
		}
	}
	slices.Sort(request.routed)
	return request
}

// selectedFields are the values of the fields of a request by which a response is selected.
type selectedFields map[string]string

// Lines implements Fields.
func (f selectedFields) Lines(name string) []string {
	if text, ok := f[name]; ok {
		return []string{text}
	}
	return nil
}
