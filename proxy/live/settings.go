// Package live holds what operators change while Sundry runs: cache settings,
// held breakers, purges and one-off operations. It promises that a change is either
// refused, or in force on this instance at once (or reported as one that could not
// be applied yet) and on every other one within seconds, once the store that
// they share can be reached; that no purge is lost while an instance runs that
// knows it, whatever becomes of the store; and that stored settings survive a
// restart, except those of a store in memory. So do changes that cannot be stored yet,
// if there is a data directory.
//
// The settings are a set of records. Two sets merge to one, in any order and any number of
// times: the latest record of a subject is in force. Catching up with other instances, making
// up for an outage, and mending a store that was emptied or rolled back are therefore the same.
package live

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"sundry/cache/policy"
	"sundry/upstreams/host"
)

// Limits of the set. The last record of each subject is held besides, whatever its age.
const (
	maxAudit = 200 // newest records
	maxDrops = 200 // drops of different keys that were stored last
)

// What a change does, as the API and the audit log spell it.
const (
	DoCache   = "cache"   // set the cache settings of an endpoint
	DoBreaker = "breaker" // hold the breaker of a host, or release it
	DoPurge   = "purge"   // make the entries of an endpoint stale or gone
	DoDrop    = "drop"    // remove one entry
	DoReset   = "reset"   // let the breaker of a host forget its failures
	DoRestore = "restore" // in the audit log alone: the store had lost something
)

// Names of those who make changes where no operator does: the autopilot, and the service itself.
// Operators must have other names.
const (
	ByAutopilot = "autopilot"
	BySundry    = "sundry"
)

// Record is one change in the audit log.
type Record struct {
	Seq int64 `json:"seq"` // one more than any that its instance knew
	// ID is that of the change, which keeps it when it gets another number.
	ID     string    `json:"id,omitempty"`
	At     time.Time `json:"at"` // by the clock of the store
	By     string    `json:"by"`
	Do     string    `json:"do"`
	Target string    `json:"target"` // an endpoint, an API or a host
	// Before and After are the settings of the target; null for none.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Note is soft or hard for a purge, the key for a drop, the reason that was given for a
	// change of cache settings, and the reason for records that no operator made.
	Note string `json:"note,omitempty"`
	// Undoes is the number of the change that this one undid; 0 means none.
	Undoes int64 `json:"undoes,omitempty"`

	raw json.RawMessage // the record as it was read, with the fields of newer versions; nil if it was made here
}

// subject is what the latest of some records decides.
type subject struct{ do, target, detail string }

func (r *Record) subject() subject {
	if r.Do == DoPurge || r.Do == DoDrop {
		return subject{r.Do, r.Target, r.Note}
	}
	return subject{r.Do, r.Target, ""}
}

// lasts reports whether a record is in force until there is a later one. Others are carried out once. Records that only a newer version
// knows count as lasting.
func (r *Record) lasts() bool { return r.Do != DoDrop && r.Do != DoReset && r.Do != DoRestore }

// inOrder compares the times of records, then their numbers and IDs.
func inOrder(a, b Record) int {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID))
}

// CacheSettings of an endpoint, by name, which replace those of its file.
type CacheSettings struct {
	Values map[string]string `json:"values"`
	Until  time.Time         `json:"until,omitzero"` // when they expire; zero means never
}

// isActive reports whether the settings have not expired at a time.
func (c *CacheSettings) isActive(now time.Time) bool { return c.Until.IsZero() || now.Before(c.Until) }

// BreakerHold keeps the breaker of a host open or closed.
type BreakerHold struct {
	Force string    `json:"force"`          // open or closed
	Until time.Time `json:"until,omitzero"` // when the hold expires; zero means never
}

// Settings are what operators and the autopilot changed while Sundry runs: a set of records that all
// instances share, and what follows from them. Methods are pure rules, and return new settings; time is an argument.
type Settings struct {
	records []Record        // in the order of time
	drops   map[string]bool // IDs of the drops to carry out
	floor   time.Time       // drops from before it may be missing; zero means that none is

	// Seq is the highest number of a change.
	Seq int64
	// Cache settings, by endpoint.
	Cache map[string]CacheSettings
	// Breakers that are held, by host.
	Breakers map[string]BreakerHold
	// Purges by endpoint or API, or for all.
	Purges map[string]policy.Purge
	// Audit holds the newest records, the newest last.
	Audit []Record
}

// merge returns the settings that hold what either does. It is commutative, associative and idempotent, except that the floor may depend on
// the order, and be later than it has to be.
func (s *Settings) merge(o *Settings) *Settings {
	if len(o.records) == 0 && o.floor.IsZero() {
		return s
	}
	all := settingsOf(slices.Concat(s.records, o.records), policy.Later(s.floor, o.floor))
	all.Seq = max(all.Seq, s.Seq, o.Seq)
	return all
}

// and returns the settings with one more record.
func (s *Settings) and(r Record) *Settings { return s.merge(&Settings{records: []Record{r}}) }

// settingsOf makes settings of records without those that say nothing any more. It modifies all, which may hold a record twice.
func settingsOf(all []Record, floor time.Time) *Settings {
	s := &Settings{floor: floor, Cache: map[string]CacheSettings{}, Breakers: map[string]BreakerHold{}, Purges: map[string]policy.Purge{}}
	all = unique(all)
	s.keepDrops(all)
	known, byHand := map[subject]bool{}, map[subject]bool{}
	for i, r := range slices.Backward(all) {
		last := !known[r.subject()]
		known[r.subject()] = true
		lastByHand := r.By != ByAutopilot && !byHand[r.subject()]
		byHand[r.subject()] = byHand[r.subject()] || lastByHand
		if len(all)-i <= maxAudit || r.lasts() && (last || lastByHand) || s.drops[r.ID] {
			s.records = append(s.records, r)
		}
		if last {
			s.enforce(&r)
		}
		s.Seq = max(s.Seq, r.Seq)
	}
	slices.Reverse(s.records)
	s.Audit = s.records[max(0, len(s.records)-maxAudit):]
	return s
}

// keepDrops chooses the drops to carry out: of each key, and of all keys, those that were stored last. An instance that has known one of them
// has known all that were stored before it.
func (s *Settings) keepDrops(all []Record) {
	drops := slices.DeleteFunc(slices.Clone(all), func(r Record) bool { return r.Do != DoDrop })
	slices.SortFunc(drops, func(a, b Record) int { return cmp.Or(cmp.Compare(b.Seq, a.Seq), inOrder(b, a)) })
	known := map[subject]bool{}
	s.drops = map[string]bool{}
	for _, r := range drops {
		switch {
		case known[r.subject()]:
		case len(s.drops) < maxDrops:
			s.drops[r.ID] = true
		default:
			s.floor = policy.Later(s.floor, r.At.Add(time.Millisecond))
		}
		known[r.subject()] = true
	}
}

// mayMiss reports whether drops may be unknown to settings that were stored before these.
func (s *Settings) mayMiss(before *Settings) bool {
	if len(s.drops) == 0 || !s.floor.After(before.floor) {
		return false
	}
	return !slices.ContainsFunc(before.records, func(r Record) bool { return s.drops[r.ID] })
}

// unique sorts records by time, and removes all but the latest of an ID.
func unique(all []Record) []Record {
	slices.SortFunc(all, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.ID, b.ID), b.At.Compare(a.At), cmp.Compare(b.Seq, a.Seq))
	})
	all = slices.CompactFunc(all, func(a, b Record) bool { return a.ID == b.ID })
	slices.SortFunc(all, inOrder)
	return all
}

// enforce puts the last record of a subject into force. Settings of a newer version that cannot be read have no effect.
func (s *Settings) enforce(r *Record) {
	switch r.Do {
	case DoCache:
		var v CacheSettings
		if r.After != nil && json.Unmarshal(r.After, &v) == nil {
			s.Cache[r.Target] = v
		}
	case DoBreaker:
		var v BreakerHold
		if r.After != nil && json.Unmarshal(r.After, &v) == nil {
			s.Breakers[r.Target] = v
		}
	case DoPurge:
		p := s.Purges[r.Target]
		if r.Note == "hard" {
			p.Hard = r.At
		} else {
			p.Soft = r.At
		}
		s.Purges[r.Target] = p
	}
}

// without returns the records that other settings lack.
func (s *Settings) without(o *Settings) (more []Record) {
	if s == o {
		return nil
	}
	has := make(map[string]bool, len(o.records))
	for i := range o.records {
		has[o.records[i].ID] = true
	}
	for _, r := range s.records {
		if !has[r.ID] {
			more = append(more, r)
		}
	}
	return more
}

// record returns the record of a change, whatever its number is by now.
func (s *Settings) record(id string) (r Record, ok bool) {
	i := slices.IndexFunc(s.records, func(r Record) bool { return r.ID == id })
	if i < 0 {
		return r, false
	}
	return s.records[i], true
}

// last returns the latest record of a subject that counts; zero if there is none.
func (s *Settings) last(of subject, counts func(*Record) bool) (r Record) {
	for _, r := range slices.Backward(s.records) {
		if r.subject() == of && counts(&r) {
			return r
		}
	}
	return r
}

func isAny(*Record) bool      { return true }
func isByHand(r *Record) bool { return r.By != ByAutopilot }

// LastChanged returns when the cache settings of an endpoint were last changed, by anybody; zero means never.
func (s *Settings) LastChanged(endpoint string) time.Time {
	return s.last(subject{DoCache, endpoint, ""}, isAny).At
}

// ActiveCache returns the cache settings in force at a time, by endpoint.
func (s *Settings) ActiveCache(now time.Time) map[string]map[string]string {
	active := map[string]map[string]string{}
	for endpoint, c := range s.Cache {
		if c.isActive(now) {
			active[endpoint] = c.Values
		}
	}
	return active
}

// HeldBreakers returns the breakers held at a time, by host.
func (s *Settings) HeldBreakers(now time.Time) map[string]host.Force {
	held := map[string]host.Force{}
	for name, b := range s.Breakers {
		f, err := host.ParseForce(b.Force)
		if err == nil && (b.Until.IsZero() || now.Before(b.Until)) {
			held[name] = f
		}
	}
	return held
}

// NextExpiry returns when something expires after now; zero means that nothing does.
func (s *Settings) NextExpiry(now time.Time) (next time.Time) {
	var ends []time.Time
	for _, c := range s.Cache {
		ends = append(ends, c.Until)
	}
	for b := range maps.Values(s.Breakers) {
		ends = append(ends, b.Until)
	}
	for _, at := range ends {
		if at.After(now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// purgesSince returns the purges, with a hard one of everything created before missed, unless
// that is zero.
func (s *Settings) purgesSince(missed time.Time) map[string]policy.Purge {
	all := make(map[string]policy.Purge, len(s.Purges)+1)
	maps.Copy(all, s.Purges)
	if !missed.IsZero() {
		p := all[policy.AllEndpoints]
		p.Hard = policy.Later(p.Hard, missed)
		all[policy.AllEndpoints] = p
	}
	return all
}
