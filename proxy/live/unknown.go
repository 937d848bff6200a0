package live

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"sundry/cache/policy"
)

// Unknown are fields of a stored object that this version of Sundry does not know, by name.
// During a rolling upgrade a newer one has stored them: they are carried along through every
// change, so that it finds them again. Newer versions add fields, and leave the types of
// those that there are.
type Unknown map[string]json.RawMessage

// decode reads a JSON object into a struct, for whose fields the names in its tags count, and
// returns the fields that it does not have.
func decode(b []byte, into any) (unknown Unknown, err error) {
	strict := json.NewDecoder(bytes.NewReader(b))
	strict.DisallowUnknownFields()
	if strict.Decode(into) == nil {
		return nil, nil // as it is most of the time
	}
	if err := json.Unmarshal(b, into); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &unknown); err != nil {
		return nil, err
	}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(into).Elem()) {
		known, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		maps.DeleteFunc(unknown, func(name string, _ json.RawMessage) bool { return strings.EqualFold(name, known) })
	}
	if len(unknown) == 0 {
		return nil, nil
	}
	return unknown, nil
}

// encode writes a struct and the fields that it does not have as one JSON object.
func encode(known any, unknown Unknown) ([]byte, error) {
	b, err := json.Marshal(known)
	if err != nil || len(unknown) == 0 {
		return b, err
	}
	all := maps.Clone(unknown)
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// with adds what is unknown of another object, but for fields that there are already.
func (u Unknown) with(o Unknown) Unknown {
	if len(o) == 0 {
		return u
	}
	all := maps.Clone(o)
	maps.Copy(all, u)
	return all
}

// carryUnknown takes what is unknown from the two settings that were merged. Of a field that
// both have, the value of the target's later change counts; where that is the same, the newer
// settings'.
func (s *Settings) carryUnknown(a, b *Settings) {
	older, newer := a, b
	if a.isNewer(b) {
		older, newer = b, a
	}
	s.Unknown = newer.Unknown.with(older.Unknown)
	for target, v := range s.Cache {
		v.Unknown = carried(older.Cache[target].Unknown, newer.Cache[target].Unknown, older.lastChanged(DoCache, target), newer.lastChanged(DoCache, target))
		s.Cache[target] = v
	}
	for target, v := range s.Breakers {
		v.Unknown = carried(older.Breakers[target].Unknown, newer.Breakers[target].Unknown, older.lastChanged(DoBreaker, target), newer.lastChanged(DoBreaker, target))
		s.Breakers[target] = v
	}
	for target, v := range s.Purges {
		o, n := older.Purges[target], newer.Purges[target]
		v.Unknown = carried(o.Unknown, n.Unknown, later(o.Soft, o.Hard), later(n.Soft, n.Hard))
		s.Purges[target] = v
	}
}

// carried is what is unknown of a target, by when older and newer settings last changed it.
func carried(older, newer Unknown, olderAt, newerAt time.Time) Unknown {
	if olderAt.After(newerAt) {
		return older.with(newer)
	}
	return newer.with(older)
}

// isNewer reports whether what is unknown of these settings is newer than that of others: by
// the last change of a kind that only newer versions know, since no other may have touched it;
// where that is the same, by the last of all.
func (s *Settings) isNewer(o *Settings) bool {
	every := func(*Record) bool { return true }
	ours, theirs := s.lastOf((*Record).isUnknown), o.lastOf((*Record).isUnknown)
	if ours.Equal(theirs) {
		ours, theirs = s.lastOf(every), o.lastOf(every)
	}
	return !theirs.After(ours)
}

// isUnknown reports whether a record is of a kind that this version does not know.
func (r *Record) isUnknown() bool {
	return !slices.Contains([]string{DoCache, DoBreaker, DoPurge, DoDrop, DoReset, DoRestore, DoOvertaken}, r.Do)
}

// The stored objects. A type without their methods is what encoding/json sees.
type (
	plainSettings      Settings
	plainCacheSettings CacheSettings
	plainBreakerHold   BreakerHold
	plainOrder         Order
	plainRecord        Record
)

// UnmarshalJSON implements json.Unmarshaler.
func (s *Settings) UnmarshalJSON(b []byte) (err error) {
	s.Unknown, err = decode(b, (*plainSettings)(s))
	return err
}

// MarshalJSON implements json.Marshaler.
func (s *Settings) MarshalJSON() ([]byte, error) { return encode((*plainSettings)(s), s.Unknown) }

// UnmarshalJSON implements json.Unmarshaler.
func (c *CacheSettings) UnmarshalJSON(b []byte) (err error) {
	c.Unknown, err = decode(b, (*plainCacheSettings)(c))
	return err
}

// MarshalJSON implements json.Marshaler.
func (c CacheSettings) MarshalJSON() ([]byte, error) {
	return encode(plainCacheSettings(c), c.Unknown)
}

// UnmarshalJSON implements json.Unmarshaler.
func (h *BreakerHold) UnmarshalJSON(b []byte) (err error) {
	h.Unknown, err = decode(b, (*plainBreakerHold)(h))
	return err
}

// MarshalJSON implements json.Marshaler.
func (h BreakerHold) MarshalJSON() ([]byte, error) { return encode(plainBreakerHold(h), h.Unknown) }

// StoredPurge is a purge as it is stored.
type StoredPurge struct {
	policy.Purge
	Unknown Unknown `json:"-"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *StoredPurge) UnmarshalJSON(b []byte) (err error) {
	p.Unknown, err = decode(b, &p.Purge)
	return err
}

// MarshalJSON implements json.Marshaler.
func (p StoredPurge) MarshalJSON() ([]byte, error) { return encode(p.Purge, p.Unknown) }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Order) UnmarshalJSON(b []byte) (err error) {
	o.Unknown, err = decode(b, (*plainOrder)(o))
	return err
}

// MarshalJSON implements json.Marshaler.
func (o Order) MarshalJSON() ([]byte, error) { return encode(plainOrder(o), o.Unknown) }

// UnmarshalJSON implements json.Unmarshaler.
func (r *Record) UnmarshalJSON(b []byte) (err error) {
	r.Unknown, err = decode(b, (*plainRecord)(r))
	return err
}

// MarshalJSON implements json.Marshaler.
func (r Record) MarshalJSON() ([]byte, error) { return encode(plainRecord(r), r.Unknown) }
