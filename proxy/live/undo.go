package live

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams/host"
)

// ErrChangedSince means that a change cannot be undone, because what it changed was changed again.
var ErrChangedSince error = words.NewError("the same was changed since: undo the later change first, or set the value instead", "之后又有人改过同一项：请先撤销较晚的更改，或直接设置想要的值")

// ErrNoChange means that the audit log does not have a change.
var ErrNoChange = errors.New("no such change")

// Undo returns the change that restores what a change replaced, without what has expired since. What later changes have set
// beside it remains. The change is given by its ID, or by its number, which may become that of another one while it is pending.
// ErrNoChange means that there is none, and ErrChangedSince that a later one concerns the same settings.
func (s *Settings) Undo(change, by string, now time.Time) (Change, error) {
	isIt := func(r Record) bool { return change == r.ID || change == strconv.FormatInt(r.Seq, 10) }
	i := slices.IndexFunc(s.Audit, isIt)
	if i < 0 {
		return Change{}, ErrNoChange
	}
	if slices.ContainsFunc(s.Audit[i+1:], isIt) {
		return Change{}, words.Errorf("change %s is ambiguous: two changes have this number since the store was rolled back; name it by its id, which the audit log has", "更改 %s 有歧义：存储曾经回退，有两项更改都是这个编号；请改用审计日志中的 id", change)
	}
	r := &s.Audit[i]
	since := slices.DeleteFunc(slices.Clone(s.Audit[i+1:]), func(o Record) bool { return o.Do != r.Do || o.Target != r.Target })
	c, err := Change{}, ErrChangedSince
	switch {
	case r.Do == DoCache:
		c, err = s.undoCache(r, since, now)
	case r.Do != DoBreaker:
		return Change{}, words.Errorf("change %d: a %s cannot be undone", "更改 %d：%s 不能撤销", r.Seq, r.Do)
	case len(since) == 0:
		c, err = undoBreaker(r, now), nil
	}
	if err != nil {
		return Change{}, err
	}
	c.By, c.Do, c.Target, c.Undoes = by, r.Do, r.Target, r.Seq
	return c, nil
}

// undoBreaker returns the hold from before a change, or the release of the breaker if there was none or it has expired.
func undoBreaker(r *Record, now time.Time) Change {
	var before BreakerHold
	if r.Before == nil || json.Unmarshal(r.Before, &before) != nil || !before.Until.IsZero() && !now.Before(before.Until) {
		return Change{Force: host.Unforced.String()}
	}
	return Change{Force: before.Force, Until: before.Until}
}

// undoCache returns the values from before a change of cache settings. since are the later changes of the same endpoint: if
// there are any, the expiry is theirs.
func (s *Settings) undoCache(r *Record, since []Record, now time.Time) (Change, error) {
	before, current := cacheAt(r.Before, now), s.Cache[r.Target]
	if len(since) == 0 && !current.isActive(now) {
		return Change{Cache: before.Values, Until: before.Until}, nil
	}
	c := Change{Set: map[string]string{}, Until: current.Until}
	if len(since) == 0 {
		c.Until = before.Until
	}
	for name := range r.changedCache() {
		if slices.ContainsFunc(since, func(o Record) bool { return o.changedCache()[name] }) {
			return Change{}, ErrChangedSince
		}
		c.Set[name] = before.Values[name] // "" removes it
	}
	return c, nil
}

// changedCache returns the names of the cache settings that a change concerned. A change of no value has set all anew, for
// another time.
func (r *Record) changedCache() map[string]bool {
	before, after := cacheAt(r.Before, r.At).Values, cacheAt(r.After, r.At).Values
	names := map[string]bool{}
	for _, values := range []map[string]string{before, after} {
		for name := range values {
			names[name] = true
		}
	}
	if !maps.Equal(before, after) {
		maps.DeleteFunc(names, func(name string, _ bool) bool { return before[name] == after[name] })
	}
	return names
}

// cacheAt returns cache settings of the audit log, as they are at a time: none if they have expired.
func cacheAt(raw json.RawMessage, now time.Time) CacheSettings {
	var c CacheSettings
	if raw == nil || json.Unmarshal(raw, &c) != nil || !c.isActive(now) {
		return CacheSettings{}
	}
	return c
}
