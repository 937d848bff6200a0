package simulation

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// Names of the settings that operators change, as the audit log has them.
const (
	ttlSetting  = "cache"
	holdSetting = "breaker"
)

// value is that of a setting.
type value struct {
	text  string        // a TTL, or how a breaker is held
	until time.Time     // when it ends at the latest; zero means never
	early time.Duration // how much earlier than that it may end
}

// Values from before any change.
const (
	firstTTL = "40s"
	released = "auto"
)

// at returns the text of the value at a time, if the value it ends with is fallback.
func (v value) at(now time.Time, fallback string) string {
	if !v.until.IsZero() && !now.Before(v.until) {
		return fallback
	}
	return v.text
}

// String returns the text, and when the value ends.
func (v value) String() string {
	if v.until.IsZero() {
		return v.text
	}
	return v.text + " until " + v.until.Format(time.TimeOnly)
}

// firstValue returns the value of a setting from before any change.
func firstValue(setting string) string {
	if setting == ttlSetting {
		return firstTTL
	}
	return released
}

// settingActions are changes of settings, and looks at what is in force.
func settingActions() map[string]action {
	return map[string]action{
		"set ttl": {weight: 3, draw: func(r *rand.Rand, e *Event) { e.N = pick(r, 2+r.IntN(8), 10+r.IntN(50)) }, run: func(f *fleet, e Event) {
			set := fmt.Sprintf("%ds", e.N)
			f.operate(e, http.MethodPut, "endpoints/own/cache", map[string]any{"set": map[string]string{"ttl": set}}).sets(ttlSetting, value{text: set})
		}},
		"hold breaker": {weight: 2, draw: func(r *rand.Rand, e *Event) { e.Target, e.For = pick(r, "open", "closed", "auto"), seconds(r, 10) },
			run: func(f *fleet, e Event) {
				c := f.operate(e, http.MethodPost, "upstreams/"+originAddress, map[string]any{"do": e.Target, "for": e.For.String()})
				c.sets(holdSetting, value{e.Target, c.answered.Add(e.For), c.answered.Sub(c.sent)})
			}},
		"undo": {weight: 3, draw: func(r *rand.Rand, e *Event) { e.Target, e.N = pick(r, ttlSetting, holdSetting), r.IntN(4)/3 },
			run: (*fleet).undo},
		"look": {weight: 3, fleet: true, run: func(f *fleet, _ Event) { f.look() }},
	}
}

// sets notes which setting a change sets.
func (c *change) sets(setting string, v value) { c.setting, c.value = setting, v }

// record is one of the audit log.
type record struct {
	Seq    int64
	ID     string
	Do     string
	Target string
	Before settingValue
	After  settingValue
}

// settingValue is one in the audit log: of cache settings, or of a hold.
type settingValue struct {
	Values map[string]string
	Force  string
	Until  time.Time
}

// undo undoes the last change of a setting that the audit log of an instance has, or the last but N.
func (f *fleet) undo(e Event) {
	i := f.instances[e.On]
	start := i.starts
	var log struct{ Audit []record }
	got, err := i.admin.send(http.MethodGet, adminURL+"audit", http.Header{}, nil)
	if err != nil || json.Unmarshal(got.body, &log) != nil {
		return // nothing is promised about what an operator could not read
	}
	undone, ok := lastOf(log.Audit, e)
	if !ok {
		return
	}
	c := f.operate(e, http.MethodPost, "audit/"+undone.ID+"/undo", nil)
	f.note(func() {
		c.sets(e.Target, f.before(undone))
		if sameProcess := c.start == start && i.starts == start; e.N > 0 && sameProcess && c.status != 0 && c.status != http.StatusConflict {
			f.fail(c.answered, "O3", "%s undoes change %d with status %d, which a later one has overtaken", e, undone.Seq, c.status)
		}
	})
}

// lastOf returns the record that an event undoes. A change that left the value as it was neither overtakes others nor is overtaken.
func lastOf(log []record, e Event) (undone record, ok bool) {
	overtaken := false
	for _, r := range slices.Backward(log) {
		if r.Do != e.Target || r.Target != "own" && r.Target != originAddress {
			continue
		}
		changed := r.Do == holdSetting || r.Before.Values["ttl"] != r.After.Values["ttl"]
		if e.N == 0 || overtaken && changed {
			return r, true
		}
		overtaken = overtaken || changed
	}
	return record{}, false
}

// before returns the value that a change has replaced. Times in the audit log are by the clock of Redis.
func (f *fleet) before(r record) value {
	b := r.Before
	switch {
	case r.Do == ttlSetting && b.Values["ttl"] != "":
		return value{text: b.Values["ttl"]}
	case r.Do == ttlSetting || b.Force == "":
		return value{text: firstValue(r.Do)}
	case b.Until.IsZero():
		return value{text: b.Force}
	}
	return value{text: b.Force, until: b.Until.Add(-f.schedule.Clock)}
}
