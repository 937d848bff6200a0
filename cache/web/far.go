package web

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sundry/cache/entry"
)

// Far is what instances share, as this package uses it: Redis, which only helps. None of its methods returns an error: what
// cannot be read is a miss, what cannot be written is dropped, or tried again.
type Far interface {
	// Look reads a value within a small time budget. No lease is asked for.
	Look(ctx context.Context, key string, lease time.Duration) entry.Found
	// Version returns a text that is another one as soon as one of these keys has another value, or another mark. ok is false if it cannot be
	// read within the budget.
	Version(ctx context.Context, keys ...string) (version string, ok bool)
	// Share writes a value created then, unless there is a newer one. It never blocks. make is called when it is written; 0: it is not. If
	// purged is not nil, the value is that of a URI: purged is called with the time of the last mark of the key, until which values are invalid, also those of its variants.
	Share(key string, created time.Time, replaceable bool, size int, make func() ([]byte, time.Duration), purged func(at time.Time))
	// Mark is Share of a value of one byte that must arrive, and notifies all instances: see Marked. Values that take its place, or are
	// newer, tell of it: see entry.Found.
	// Unless lasting is set, a key that had no value stores it only as long as a fill may take.
	Mark(key string, created time.Time, value []byte, ttl time.Duration, lasting bool)
}

const (
	// mostFar is the size in bytes of the largest body that instances share.
	mostFar = 1 << 20
	// ClockSkew is by how much the instances' readings of the clock that they share may differ: of two responses that were asked
	// for within it, that is the newer one which they share.
	ClockSkew = 50 * time.Millisecond
	// farTime is for how long they do at most: as long as purges are remembered.
	farTime = 24 * time.Hour
	// farVersion is the first byte of an object's value, farGone that of one that says that the URI was purged.
	farVersion = 5
	farGone    = 2
)

// Under a URI instances share the newest response, and beside it each variant of one that varies. A purge is a value as well, so that it
// keeps out what an instance that is slow, or was stopped, writes after it. Redis remembers the time of the purge beside the values that
// take its place: what is older is invalid, be it the response of the URI, a variant, or in the memory of who reads or writes it.

// shared is what a value says of an object beside its body.
type shared struct {
	Status int         `json:"status"`
	Header http.Header `json:"header"`
	// Octets are the fields that are no UTF-8, which JSON does not keep as they are.
	Octets    map[string][][]byte `json:"octets,omitempty"`
	Requested time.Time           `json:"requested"`
	Received  time.Time           `json:"received"`
	Born      time.Time           `json:"born"`
	Names     []string            `json:"names,omitempty"`
	Elsewhere bool                `json:"elsewhere,omitempty"` // see Part
	Selected  map[string]string   `json:"selected,omitempty"`
	Site      string              `json:"site,omitempty"`
	Tags      []string            `json:"tags,omitempty"`
	Origin    string              `json:"origin,omitempty"`
	// Lifetime is shorter than the response says where it was purged softly.
	Lifetime *time.Duration `json:"lifetime,omitempty"`
}

// encode is the value of an object.
func encode(o *Object) ([]byte, error) {
	header, octets := textual(o.Header)
	head, err := json.Marshal(&shared{
		Status: o.Status, Header: header, Octets: octets, Requested: o.Requested, Received: o.Received, Born: o.Born, Names: o.Names, Selected: o.Selected, Site: o.Site,
		Elsewhere: o.Part != nil && o.Part.Elsewhere, Tags: o.Tags, Origin: o.origin, Lifetime: &o.Lifetime,
	})
	if err != nil {
		return nil, fmt.Errorf("object: %w", err)
	}
	b := append(make([]byte, 0, len(head)+len(o.Body)+binary.MaxVarintLen64+1), farVersion)
	b = binary.AppendUvarint(b, uint64(len(head)))
	return append(append(b, head...), o.Body...), nil
}

// textual returns the fields that are UTF-8, and the others: names of files are often in GBK or Latin-1. Fields with a name that
// net/http sends to no client are left out.
func textual(h http.Header) (text http.Header, octets map[string][][]byte) {
	text = make(http.Header, len(h))
	for name, lines := range h {
		switch {
		case !isFieldName(name) || len(lines) == 0:
		case !slices.ContainsFunc(lines, func(line string) bool { return !utf8.ValidString(line) }):
			text[name] = lines
		default:
			if octets == nil {
				octets = map[string][][]byte{}
			}
			for _, line := range lines {
				octets[name] = append(octets[name], []byte(line))
			}
		}
	}
	return text, octets
}

// decode reads a value and checks it. Its times are by this machine's clock, by which it was created then; zero means that they are
// as they were written.
func decode(b []byte, created time.Time, rules *Rules, now time.Time) (*Object, error) {
	if len(b) == 0 || b[0] != farVersion {
		return nil, errNoObject
	}
	n, used := binary.Uvarint(b[1:])
	if used <= 0 || n > uint64(len(b)-1-used) || n > mostHead {
		return nil, errNoObject
	}
	head, body := b[1+used:1+used+int(n)], b[1+used+int(n):]
	var s shared
	if err := json.Unmarshal(head, &s); err != nil {
		return nil, fmt.Errorf("shared object: %w", err)
	}
	if s.Origin != rules.Origin {
		return nil, errOrigin
	}
	if s.Header == nil { // no instance writes that
		s.Header = http.Header{}
	}
	for name, lines := range s.Octets {
		for _, line := range lines {
			s.Header[name] = append(s.Header[name], string(line))
		}
	}
	var off time.Duration
	if !created.IsZero() {
		off = created.Sub(s.Requested)
	}
	r := Response{Status: s.Status, Header: s.Header, Requested: s.Requested.Add(off), Received: s.Received.Add(off)}
	t := TermsOf(&r, rules)
	t.Born = s.Born.Add(off)
	if len(s.Names) > maxVary+len(routing) { // the key of so many would take all memory
		return nil, errNoObject
	}
	if s.Lifetime != nil {
		t.Lifetime = max(0, min(t.Lifetime, *s.Lifetime))
	}
	o := &Object{Response: r, Terms: t, Names: s.Names, Selected: s.Selected, Site: s.Site, Body: body, Tags: s.Tags, Groups: GroupsIn(r.Header["Cache-Groups"]), origin: s.Origin}
	o.selecting = o.keyFor(o.Names)
	if part, ok := StoredPart(r.Header, int64(len(body))); ok && r.Status == http.StatusPartialContent {
		part.Elsewhere = s.Elsewhere
		o.Part = &part
	}
	if err := o.check(rules, now); err != nil {
		return nil, err
	}
	return o, nil
}

// farKey is the key of a URI, and of a variant of it.
func (s *Store) farKey(key string) string { return s.Name + ":" + key }

func (s *Store) variantKey(key, selecting string) string {
	return s.farKey(key) + " " + strings.TrimPrefix(digestOf(s.digestKey.Load(), "", []string{selecting}), digestMark)
}

// Find is Get, but looks into Redis where nothing here that the request selects is fresh, or may be used before a look. What it finds is
// kept here. A fresh response is confirmed behind the one that is served.
func (s *Store) Find(ctx context.Context, key string, request *Selector, rules *Rules, now time.Time) Variants {
	v := s.Get(key).Of(rules)
	if s.Far == nil {
		return v
	}
	selected := v.Select(request, rules.Languages)
	if selected == nil || selected.Left(now) <= 0 || s.doubts(selected) {
		v, _ = s.lookUp(ctx, key, v, selected, request, rules, now)
		return v
	}
	s.confirm(key, selected, rules, now)
	return v
}

// lookUp adds to the variants what Redis has for a request. selected is the variant that the request selects; nil means none. there reports
// whether Redis has it, or a newer one.
func (s *Store) lookUp(ctx context.Context, key string, v Variants, selected *Object, request *Selector, rules *Rules, now time.Time) (all Variants, there bool) {
	outage := s.outages.Load()
	o, found := s.look(ctx, key, s.farKey(key), rules, now)
	v, answered := v.requestedAfter(found.Purged), found.Answered
	if o != nil {
		v = s.found(key, v, o, request, outage, now)
	}
	if o != nil && o.selecting != "" && !request.Selects(o) {
		var variant entry.Found
		o, variant = s.look(ctx, key, s.variantKey(key, request.keyOf(o.Names)), rules, now)
		if answered = variant.Answered; o != nil && o.Requested.After(found.Purged) {
			v = s.found(key, v, o, request, outage, now)
		}
	}
	switch {
	case selected == nil:
	case !answered:
		s.confirmed.Looked(selected.hash, false, now)
	case selected.Requested.After(found.Purged):
		there = s.compare(ctx, key, selected, o, outage, now)
	}
	return s.unpurged(key, v), there
}

// Ready returns the stored response that answers a request at now whose only fields are those by which it selects. The response is
// fresh, complete, and of a status that has a body. nil means that there is none, that selects cannot tell about one that may be it, or
// that it may be used only after a look into Redis.
func (s *Store) Ready(key string, rules *Rules, now time.Time, selects func(*Object) (yes, known bool)) *Object {
	for _, o := range s.Get(key).Of(rules) {
		switch yes, known := selects(o); {
		case known && !yes:
			continue
		case !known || o.Part != nil || !bodyAllowed(o.Status) || o.Judge(&Directives{}, now) != Reuse || s.Far != nil && s.doubts(o):
			return nil
		}
		if s.Far != nil {
			s.confirm(key, o, rules, now)
		}
		return o
	}
	return nil
}

// unpurged are the variants that no purge is about, as one may be known now.
func (s *Store) unpurged(key string, v Variants) Variants {
	return slices.DeleteFunc(slices.Clone(v), func(o *Object) bool {
		gone, _ := s.purgedSince(key, o)
		return gone
	})
}

// found keeps an object of another instance, and is the variants with it: memory may have no room for it.
func (s *Store) found(key string, v Variants, o *Object, request *Selector, outage int64, now time.Time) Variants {
	o.client = request.Client
	for _, old := range v {
		if old.covers(o) && (old.Requested.After(o.Requested.Add(ClockSkew)) || old.is(o)) {
			return v
		}
	}
	s.put(key, o, ClockSkew)
	s.looked(key, o, outage, now)
	return s.with(v, o)
}

// is reports whether two objects are the same response, as far as clocks tell.
func (o *Object) is(other *Object) bool {
	apart := o.Requested.Sub(other.Requested).Abs()
	return apart < ClockSkew && o.Status == other.Status && bytes.Equal(o.Body, other.Body) && maps.EqualFunc(o.Header, other.Header, slices.Equal)
}

// look reads an object, and what was found; nil: there is none, or it was purged.
func (s *Store) look(ctx context.Context, key, farKey string, rules *Rules, now time.Time) (*Object, entry.Found) {
	found := s.Far.Look(ctx, farKey, 0)
	if !found.Purged.IsZero() {
		found.Purged = s.goneBefore(key, found.Purged, found.Created, now)
	}
	o, purged, err := readFar(&found, rules, now)
	switch {
	case purged:
		s.gone(key, found.Created.Add(ClockSkew))
		return nil, found
	case errors.Is(err, errOrigin):
		return nil, found
	case err != nil:
		s.broken.far.Inc()
		found.Value = nil
		return nil, found
	case o == nil:
		return nil, found
	case !s.learnGroups(ctx, key, o):
		found.Answered = false
		return nil, found
	}
	gone, stale := s.purgedSince(key, o)
	switch {
	case gone:
		return nil, found
	case !stale.IsZero():
		return o.staleFrom(stale), found
	}
	return o, found
}

// readFar reads what was found; nil means that it was nothing. purged reports whether it is that the URI was purged.
func readFar(found *entry.Found, rules *Rules, now time.Time) (o *Object, purged bool, err error) {
	v := found.Value
	switch {
	case v == nil && !found.Broken:
		return nil, false, nil
	case v == nil, len(v) > mostHead+mostFar, found.Created.After(now.Add(entry.Skew)):
		return nil, false, errNoObject
	case len(v) == 1 && v[0] == farGone:
		return nil, true, nil
	}
	o, err = decode(v, found.Created, rules, now)
	return o, false, err
}

// share writes an object for the other instances, unless it is too large for them.
func (s *Store) share(key string, o *Object) {
	if s.Far == nil || len(o.Body) > mostFar {
		return
	}
	value := func() ([]byte, time.Duration) {
		if gone, _ := s.purgedSince(key, o); gone {
			return nil, 0
		}
		b, err := encode(o)
		if err != nil {
			return nil, 0 // of a header, which can be encoded
		}
		return b, min(farTime, max(o.Left(time.Now()), 0)+max(o.IfError, o.WhileRevalidate, staleTime))
	}
	if o.selecting != "" { // before the value that tells of it
		s.Far.Share(s.variantKey(key, o.selecting), o.Requested, o.Part != nil, o.Weight(), value, nil)
	}
	s.Far.Share(s.farKey(key), o.Requested, o.Part != nil, o.Weight(), value, func(at time.Time) {
		if known := s.lastPurge(key); known.After(at.Add(ClockSkew)) { // Redis has lost it
			s.shareGone(s.farKey(key), known)
		}
		s.goneBefore(key, at, o.Requested, time.Now())
	})
}

// shareGone tells the other instances that a URI was purged, by its key or that of a variant.
func (s *Store) shareGone(farKey string, at time.Time) {
	if s.Far != nil {
		s.Far.Mark(farKey, at, []byte{farGone}, farTime, false)
	}
}

// staleTime is for how long instances share what is stale, for validation.
const staleTime = 10 * time.Minute
