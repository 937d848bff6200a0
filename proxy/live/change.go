package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"sundry/cache/policy"
	"sundry/upstreams/host"
)

// ErrOvertaken means that the target was changed since the change was decided about.
var ErrOvertaken = errors.New("somebody else was first")

// Change is what an operator requests.
type Change struct {
	ID     string            `json:"id"` // given by Replicator.Change
	By     string            `json:"by"`
	Do     string            `json:"do"`
	Target string            `json:"target"`          // an endpoint, an API or a host
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
	// Expected is when the target was last changed, as far as the decision about the change
	// knew: if it was changed since, the change is refused with ErrOvertaken. Nil means that it does not matter.
	Expected *time.Time `json:"-"` // such a change is never pending
	// Note is the reason of DoCache, for the audit log; "" if none was given.
	Note string `json:"note,omitempty"`
}

// note returns what the record of a change says beside its target.
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

// With returns the settings after a change.
func (s *Settings) With(c Change, now time.Time) (*Settings, error) {
	r, err := s.recordFor(&c, now)
	if err != nil {
		return nil, err
	}
	return s.and(r), nil
}

// recordFor returns the record of a change that is made now. It is later than the last one of its subject, even
// if that was dated by a clock that is ahead.
func (s *Settings) recordFor(c *Change, now time.Time) (Record, error) {
	r := Record{Seq: s.Seq + 1, ID: c.ID, At: auditTime(now), By: c.By, Do: c.Do, Target: c.Target, Note: c.note(), Undoes: c.Undoes}
	last := s.last(r.subject(), isAny)
	if c.Expected != nil && !last.At.Equal(*c.Expected) {
		return r, ErrOvertaken
	}
	if !r.At.After(last.At) {
		r.At = last.At.Add(time.Millisecond)
	}
	until := c.Until
	if c.For > 0 {
		until = r.At.Add(c.For)
	}
	switch c.Do {
	case DoCache:
		if values := s.valuesAfter(c, r.At); len(values) > 0 {
			r.After = encoded(CacheSettings{values, until})
		}
		r.Before = last.After
	case DoBreaker:
		if _, err := host.ParseForce(c.Force); err != nil {
			return r, err
		}
		if c.Force != host.Unforced.String() {
			r.After = encoded(BreakerHold{c.Force, until})
		}
		r.Before = last.After
	case DoPurge, DoDrop, DoReset:
	default:
		return r, fmt.Errorf("unknown change %q", c.Do)
	}
	return r, nil
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

// encoded returns the JSON of a setting.
func encoded(setting any) json.RawMessage {
	b, err := json.Marshal(setting)
	if err != nil {
		return nil // cannot happen: strings and times always encode
	}
	return b
}

// auditTime returns a time as records hold it: in UTC, and in milliseconds, so that
// it is the same after it was stored as JSON.
func auditTime(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// withNote returns the settings with a record of what became of the store.
func (s *Settings) withNote(id, note string, now time.Time) *Settings {
	return s.and(Record{Seq: s.Seq + 1, ID: id, At: auditTime(now), By: BySundry, Do: DoRestore, Target: policy.AllEndpoints, Note: note})
}

// Order is a one-off operation that every instance carries out once. To repeat it does no harm.
type Order struct {
	Seq    int64     `json:"seq"`
	At     time.Time `json:"at,omitzero"`   // when the operator requested it: entries created later are not dropped
	Do     string    `json:"do"`            // DoDrop or DoReset
	Target string    `json:"target"`        // an endpoint, an API or a host
	Key    string    `json:"key,omitempty"` // of DoDrop
}

// ordersOf returns the one-off operations among records. An instance that is starting carries out drops alone, because Redis, or what it
// has stored on its disk, may still have the entries. Resets concern breakers that have counted failures, and its breakers have not.
func ordersOf(records []Record, starting bool) (orders []Order) {
	for _, r := range records {
		if r.Do == DoDrop || r.Do == DoReset && !starting {
			orders = append(orders, Order{r.Seq, r.At, r.Do, r.Target, r.Note})
		}
	}
	return orders
}
