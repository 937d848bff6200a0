// Package live is what operators change while Sundry runs: cache settings,
// held breakers, purges and one-off orders. It promises that a change is either
// refused, or in force on this instance at once (or told as one that could not
// be applied yet) and on every other one within seconds, once the store that
// they share can be reached; that no purge is lost while an instance runs that
// knows it, whatever becomes of the store; and that stored settings survive a
// restart, except those of a store in memory. So do changes that cannot be stored yet,
// if there is a file for them.
package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"sundry/upstreams/host"
)

// Bounds of the history that settings carry with them.
const (
	maxAudit  = 200
	maxOrders = 50
)

// What a change does, as the API and the audit log spell it.
const (
	DoCache     = "cache"     // set the cache settings of an endpoint
	DoBreaker   = "breaker"   // hold the breaker of a host, or release it
	DoPurge     = "purge"     // make the entries of an endpoint stale or gone
	DoDrop      = "drop"      // remove one entry
	DoReset     = "reset"     // let the breaker of a host forget its failures
	DoRestore   = "restore"   // in the audit log alone: see Settings.merge
	DoOvertaken = "overtaken" // in the audit log alone: see Settings.withPending
)

// Settings are what operators and the autopilot changed while Sundry runs: one value that all
// instances share. Its methods are pure rules; time is an argument.
type Settings struct {
	// Seq is the number of the last change.
	Seq int64 `json:"seq"`
	// Cache settings, by endpoint.
	Cache map[string]CacheSettings `json:"cache,omitempty"`
	// ByHand is when operators last changed the cache settings of each endpoint: the audit
	// log forgets it after some hundreds of changes.
	ByHand map[string]time.Time `json:"by_hand,omitempty"`
	// Breakers that are held, by host.
	Breakers map[string]BreakerHold `json:"breakers,omitempty"`
	// Purges by endpoint, or for all.
	Purges map[string]StoredPurge `json:"purges,omitempty"`
	// Orders are carried out once by every instance, the newest last.
	Orders []Order `json:"orders,omitempty"`
	// Audit says who changed what, the newest last.
	Audit []Record `json:"audit,omitempty"`

	Unknown Unknown `json:"-"`
}

// CacheSettings of an endpoint, by name, which replace those of its file.
type CacheSettings struct {
	Values map[string]string `json:"values"`
	// Until is when they expire; zero: never.
	Until time.Time `json:"until,omitzero"`

	Unknown Unknown `json:"-"`
}

// isActive reports whether the settings have not expired at a time.
func (c *CacheSettings) isActive(now time.Time) bool { return c.Until.IsZero() || now.Before(c.Until) }

// BreakerHold keeps the breaker of a host open or closed.
type BreakerHold struct {
	Force string `json:"force"` // open or closed
	// Until is when the hold expires; zero: never.
	Until time.Time `json:"until,omitzero"`

	Unknown Unknown `json:"-"`
}

// Record is one change in the audit log.
type Record struct {
	Seq int64 `json:"seq"`
	// ID is that of the change, which keeps it when it gets another number.
	ID     string    `json:"id,omitempty"`
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Do     string    `json:"do"`
	Target string    `json:"target"`
	// Before and After are the settings of the target; null for none.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
	// Note is soft or hard for a purge, the key for a drop, the reason that was given for a
	// change of cache settings, and the reason for records that no operator made.
	Note string `json:"note,omitempty"`
	// Undoes is the change that this one undid; 0: none.
	Undoes int64 `json:"undoes,omitempty"`

	Unknown Unknown `json:"-"`
}

// Change is what an operator asks for.
type Change struct {
	ID     string            `json:"id"` // given by Replicator.Change
	By     string            `json:"by"`
	Do     string            `json:"do"`
	Target string            `json:"target"`          // an endpoint, or a host
	Cache  map[string]string `json:"cache,omitzero"`  // of DoCache: all settings; empty means back to the file
	Set    map[string]string `json:"set,omitzero"`    // of DoCache, in place of Cache: the others remain, and "" removes one
	Force  string            `json:"force,omitempty"` // of DoBreaker: auto, open or closed
	Key    string            `json:"key,omitempty"`   // of DoDrop
	Hard   bool              `json:"hard,omitempty"`  // of DoPurge
	// For is how long cache settings or a hold last; 0 means until Until.
	For time.Duration `json:"for,omitempty"`
	// Until is when they expire; zero means never.
	Until  time.Time `json:"until,omitzero"`
	Undoes int64     `json:"undoes,omitempty"`
	// Expected is when the target was last changed, as far as who decided about the change
	// knew: if it was changed since, the change is refused with ErrOvertaken. nil: whatever
	// was changed before.
	Expected *time.Time `json:"-"` // such a change is never pending
	// Note is the reason of DoCache, for the audit log; "" if none was given.
	Note string `json:"note,omitempty"`
}

// With returns the settings after a change; the receiver stays as it is.
func (s *Settings) With(c Change, now time.Time) (*Settings, error) {
	if c.Expected != nil && !s.lastChanged(c.Do, c.Target).Equal(*c.Expected) {
		return nil, ErrOvertaken
	}
	next := s.clone()
	next.Seq++
	r := Record{Seq: next.Seq, ID: c.ID, At: auditTime(now), By: c.By, Do: c.Do, Target: c.Target, Note: c.note(), Undoes: c.Undoes}
	r.Before = s.state(c.Do, c.Target)
	until := c.Until
	if c.For > 0 {
		until = r.At.Add(c.For)
	}
	switch c.Do {
	case DoCache:
		values := s.valuesAfter(&c, r.At)
		setOrDelete(&next.Cache, c.Target, CacheSettings{values, until, s.Cache[c.Target].Unknown}, len(values) > 0)
		if c.By != ByAutopilot {
			next.setByHand(c.Target, r.At)
		}
	case DoBreaker:
		if _, err := host.ParseForce(c.Force); err != nil {
			return nil, err
		}
		setOrDelete(&next.Breakers, c.Target, BreakerHold{c.Force, until, s.Breakers[c.Target].Unknown}, c.Force != host.Unforced.String())
	case DoPurge:
		next.purge(c, r.At)
	case DoDrop, DoReset:
		next.Orders = newest(append(next.Orders, Order{Seq: next.Seq, At: r.At, Do: c.Do, Target: c.Target, Key: c.Key}), maxOrders)
	default:
		return nil, fmt.Errorf("unknown change %q", c.Do)
	}
	r.After = next.state(c.Do, c.Target)
	next.Audit = newest(append(next.Audit, r), maxAudit)
	return next, nil
}

// valuesAfter returns the cache settings of the target of a change after it.
func (s *Settings) valuesAfter(c *Change, now time.Time) map[string]string {
	if c.Set == nil {
		return c.Cache
	}
	values := map[string]string{}
	if before := s.Cache[c.Target]; before.isActive(now) {
		maps.Copy(values, before.Values)
	}
	maps.Copy(values, c.Set)
	maps.DeleteFunc(values, func(_, v string) bool { return v == "" })
	return values
}

// auditTime returns a time as records hold it: in UTC, and in milliseconds, so that
// it is the same after it was stored as JSON.
func auditTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// note is what the record of a change says beside its target.
func (c *Change) note() string {
	switch {
	case c.Do == DoPurge && c.Hard:
		return "hard"
	case c.Do == DoPurge:
		return "soft"
	case c.Do == DoCache:
		return c.Note
	}
	return c.Key
}

func (s *Settings) purge(c Change, now time.Time) {
	p := s.Purges[c.Target]
	if c.Hard {
		p.Hard = stamp(p.Hard, now)
	} else {
		p.Soft = stamp(p.Soft, now)
	}
	setOrDelete(&s.Purges, c.Target, p, true)
}

// stamp is the time of a purge that is made now. It is later than that of the last one, even
// if that was stamped by a clock that is ahead: by it instances know that there is a new one.
func stamp(last, now time.Time) time.Time {
	if now.After(last) {
		return now
	}
	return last.Add(time.Millisecond)
}

// setOrDelete sets or removes a value of a map that may be nil.
func setOrDelete[V any](m *map[string]V, key string, v V, set bool) {
	if !set {
		delete(*m, key)
		return
	}
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[key] = v
}

// newest returns the last n items of a list.
func newest[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (s *Settings) clone() *Settings {
	next := *s
	next.Cache, next.Breakers, next.Purges = maps.Clone(s.Cache), maps.Clone(s.Breakers), maps.Clone(s.Purges)
	next.ByHand = maps.Clone(s.ByHand)
	next.Orders, next.Audit = slices.Clone(s.Orders), slices.Clone(s.Audit)
	return &next
}

// state returns the settings of a target as the audit log holds them; nil for none.
func (s *Settings) state(do, target string) json.RawMessage {
	var v any
	switch do {
	case DoCache:
		if c, ok := s.Cache[target]; ok {
			v = c
		}
	case DoBreaker:
		if b, ok := s.Breakers[target]; ok {
			v = b
		}
	}
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil // cannot happen: strings and times always encode
	}
	return b
}

// ActiveCache are the cache settings in force at a time, by endpoint.
func (s *Settings) ActiveCache(now time.Time) map[string]map[string]string {
	active := map[string]map[string]string{}
	for endpoint, c := range s.Cache {
		if c.isActive(now) {
			active[endpoint] = c.Values
		}
	}
	return active
}

// HeldBreakers are the breakers held at a time, by host.
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

// NextExpiry is when something expires after now; zero: nothing does.
func (s *Settings) NextExpiry(now time.Time) time.Time {
	var next time.Time
	consider := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, c := range s.Cache {
		consider(c.Until)
	}
	for _, b := range s.Breakers {
		consider(b.Until)
	}
	return next
}
