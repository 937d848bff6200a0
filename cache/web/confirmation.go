package web

import (
	"context"
	"slices"
	"time"

	"sundry/cache/entry"
)

// Confirmations of the responses of APIs (see package confirm). After an outage, in which marks may have been missed, a response is compared
// with Redis before it is served.

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
		s.knowsMarks(key, o, outage)
	}
}

// knowsMarks notes that the marks until an outage are known of a response. Marks of a long key are not announced, so that each use of it
// needs a look.
func (s *Store) knowsMarks(key string, o *Object, outage int64) {
	if len(s.farKey(key)) <= entry.MostAnnounced {
		o.outage.Store(outage)
	}
}

// looked notes that a response is the newest as far as a look tells.
func (s *Store) looked(key string, o *Object, outage int64, now time.Time) {
	s.knowsMarks(key, o, outage)
	s.confirmed.Looked(o.hash, true, now)
}

// confirm looks into Redis in the background if a response that is served is to be confirmed.
func (s *Store) confirm(key string, o *Object, rules *Rules, now time.Time) {
	if len(o.Body) > mostFar || !s.confirmed.Claim(o.hash, o.Requested, now) {
		return
	}
	if !s.confirmed.Begin() {
		s.confirmed.Looked(o.hash, false, now)
		return
	}
	s.background(func() {
		defer s.confirmed.End()
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
		s.confirmed.Looked(o.hash, false, now)
		return
	}
	if s.confirmed.IsConfirmedBy(o.hash, s.hash(version)) {
		return
	}
	if _, there := s.lookUp(ctx, key, s.Get(key).Of(rules), o, s.selectorOf(o, rules), rules, now); there {
		s.confirmed.Confirmed(o.hash, s.hash(version))
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
