package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"sundry/cache/policy"
)

// storedSettings are settings as JSON. Audit holds all records. The other fields repeat what follows from them, for versions from before the
// records, which share a store with this one during a rolling upgrade.
type storedSettings struct {
	Seq      int64                    `json:"seq"`
	Cache    map[string]CacheSettings `json:"cache,omitempty"`
	Breakers map[string]BreakerHold   `json:"breakers,omitempty"`
	Purges   map[string]policy.Purge  `json:"purges,omitempty"`
	Orders   []Order                  `json:"orders,omitempty"`
	Audit    []Record                 `json:"audit,omitempty"`
	// CompleteTo is the Seq of the last version that stores all records. If it is not Seq, an older version has stored since.
	CompleteTo int64 `json:"complete_to"`
	// DropsKnownSince is the floor.
	DropsKnownSince time.Time `json:"drops_known_since,omitzero"`
}

// maxOrders is the number of one-off operations that older versions store.
const maxOrders = 50

// stored returns settings as they are stored.
func (s *Settings) stored() storedSettings {
	st := storedSettings{Seq: s.Seq, Cache: s.Cache, Breakers: s.Breakers, Purges: s.Purges, Audit: s.records, CompleteTo: s.Seq, DropsKnownSince: s.floor}
	st.Orders = ordersOf(s.records, false)
	slices.SortStableFunc(st.Orders, func(a, b Order) int { return cmp.Compare(a.Seq, b.Seq) })
	st.Orders = st.Orders[max(0, len(st.Orders)-maxOrders):]
	return st
}

// encode returns the JSON of settings; nil if they hold nothing.
func (s *Settings) encode() ([]byte, error) {
	if s.Seq == 0 {
		return nil, nil
	}
	return json.Marshal(s.stored())
}

// maxSeq is the highest number that JSON holds exactly everywhere.
const maxSeq = 1 << 53

// parse reads stored settings. Nothing, or an empty value, is empty settings.
func parse(raw []byte) (*Settings, error) {
	if len(raw) == 0 {
		return settingsOf(nil, time.Time{}), nil
	}
	var st storedSettings
	if err := json.Unmarshal(raw, &st); err != nil {
		return nil, err
	}
	return st.settings()
}

func (st *storedSettings) settings() (*Settings, error) {
	last := st.Seq
	for i := range st.Audit {
		r := &st.Audit[i]
		if r.ID == "" {
			r.ID = fmt.Sprintf("%d at %d", r.Seq, r.At.UnixMilli())
		}
		last = max(last, r.Seq)
	}
	if last < 0 || last > maxSeq {
		return nil, fmt.Errorf("number %d of the last change is not possible", last)
	}
	all, floor := slices.Clone(st.Audit), st.DropsKnownSince
	if st.CompleteTo != st.Seq {
		all = append(all, st.unaudited()...)
		if len(st.Audit) >= maxAudit && len(st.Orders) >= maxOrders {
			floor = policy.Later(floor, st.Audit[0].At)
		}
	}
	s := settingsOf(all, floor)
	s.Seq = max(s.Seq, st.Seq)
	return s, nil
}

// unaudited returns records of what an older version has stored whose audit log no longer has the changes.
func (st *storedSettings) unaudited() (records []Record) {
	add := func(do, target, note string, at time.Time, after json.RawMessage) {
		r := Record{ID: fmt.Sprintf("%s %s %s %d", do, target, note, at.UnixMilli()), At: at, By: BySundry, Do: do, Target: target, Note: note, After: after}
		isLater := func(o Record) bool { return o.subject() == r.subject() && !o.At.Before(at) }
		if !slices.ContainsFunc(st.Audit, isLater) {
			records = append(records, r)
		}
	}
	for target, v := range st.Cache {
		add(DoCache, target, "", time.Time{}, encoded(v))
	}
	for target, v := range st.Breakers {
		add(DoBreaker, target, "", time.Time{}, encoded(v))
	}
	for target, p := range st.Purges {
		if !p.Soft.IsZero() {
			add(DoPurge, target, "soft", p.Soft, nil)
		}
		if !p.Hard.IsZero() {
			add(DoPurge, target, "hard", p.Hard, nil)
		}
	}
	for _, o := range st.Orders {
		if o.Do == DoDrop {
			add(DoDrop, o.Target, o.Key, o.At, nil)
		}
	}
	return records
}

// A type without the methods of Record is what encoding/json sees.
type plainRecord Record

// UnmarshalJSON implements json.Unmarshaler. The record stays as it was read: a newer version may have added fields.
func (r *Record) UnmarshalJSON(b []byte) error {
	r.raw = slices.Clone(b)
	return json.Unmarshal(b, (*plainRecord)(r))
}

// MarshalJSON implements json.Marshaler.
func (r Record) MarshalJSON() ([]byte, error) {
	if r.raw != nil {
		return r.raw, nil
	}
	return json.Marshal(plainRecord(r))
}
