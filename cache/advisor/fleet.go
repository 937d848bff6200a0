package advisor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"
)

// Shelf is where the instances of a fleet leave their states for each other, each under a
// name of its own.
type Shelf interface {
	Put(ctx context.Context, name string, value []byte) error
	Names(ctx context.Context) ([]string, error)
	// Get returns nil if there is none, as Take does, which removes it. Of those who take
	// one at a time, one gets it.
	Get(ctx context.Context, name string) ([]byte, error)
	Take(ctx context.Context, name string) ([]byte, error)
}

// Fleet shares what an advisor knows with those of the other instances. It is not for
// concurrent use.
type Fleet struct {
	Advisor *Advisor
	Shelf   Shelf
	Self    string // names this instance, and no other one ever
	Log     *slog.Logger
}

const (
	// abandoned is the age from which a state is that of an instance that died. Another
	// one takes it over.
	abandoned = 20 * time.Minute
	// unreadable is the age from which a state is removed that nobody could read, of
	// another version.
	unreadable = 24 * time.Hour
	// maxInstances bounds those whose states are read.
	maxInstances = 64
)

// Round takes over what instances left that are no more, reads what the others know, and
// shows them what this one knows. The state of one that leaves is taken over at once. Its
// error is that of the shelf; of what cannot be read, a line is logged.
func (f *Fleet) Round(ctx context.Context, now time.Time, leaves bool) error {
	if leaves {
		return f.put(ctx, now, true)
	}
	names, err := f.Shelf.Names(ctx)
	if err != nil {
		return fmt.Errorf("read who is there: %w", err)
	}
	var others []*saved
	for _, name := range names[:min(len(names), maxInstances)] {
		if name == f.Self {
			continue
		}
		other, err := f.look(ctx, name, now)
		switch {
		case errors.Is(err, ErrState):
			f.Log.Warn("what another instance has observed cannot be read", "instance", name, "error", err)
		case err != nil:
			return fmt.Errorf("read what another instance has observed: %w", err)
		case other != nil:
			others = append(others, other)
		}
	}
	f.Advisor.setElsewhere(others, now)
	return f.put(ctx, now, false)
}

// look reads the state of another instance. It returns nil where there is none, or it was
// taken over.
func (f *Fleet) look(ctx context.Context, name string, now time.Time) (*saved, error) {
	v, err := f.Shelf.Get(ctx, name)
	if v == nil || err != nil {
		return nil, err
	}
	other, gone, bad := judge(v, now)
	if !gone {
		return other, bad
	}
	if v, err = f.Shelf.Take(ctx, name); v == nil || err != nil {
		return nil, err
	}
	switch other, gone, bad = judge(v, now); {
	case bad != nil:
		return nil, nil //nolint:nilerr // of no use to anybody, and removed
	case !gone: // it came back meanwhile, and will write its state again
		return other, nil
	}
	f.Advisor.inherit(other, now)
	f.Log.Info("took over what an instance had observed that is no more", "instance", name)
	return nil, nil
}

// judge reads what stands on the shelf; gone: its instance is no more, or nobody has been
// able to read it for long. bad is ErrState.
func judge(v []byte, now time.Time) (other *saved, gone bool, bad error) {
	at, left, state := unwrap(v)
	other, bad = parseState(state)
	age := now.Sub(at)
	if bad != nil {
		return nil, age >= unreadable, bad
	}
	return other, left || age >= abandoned, nil
}

func (f *Fleet) put(ctx context.Context, now time.Time, leaves bool) error {
	if err := f.Shelf.Put(ctx, f.Self, wrap(f.Advisor.State(now), now, leaves)); err != nil {
		return fmt.Errorf("write what this instance has observed: %w", err)
	}
	return nil
}

// envelope is in front of a state on the shelf, in all versions: when it was written, in
// Unix milliseconds, and whether its instance has left.
const envelope = 8 + 1

func wrap(state []byte, at time.Time, left bool) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(at.UnixMilli()))
	if left {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	return append(b, state...)
}

func unwrap(b []byte) (at time.Time, left bool, state []byte) {
	if len(b) < envelope {
		return time.Time{}, false, nil
	}
	return time.UnixMilli(int64(binary.LittleEndian.Uint64(b))), b[8] == 1, b[envelope:]
}

// elsewhere is what other instances know of a space.
type elsewhere struct {
	history *history
	rates   *rates
	tallies []*savedSpace
}

// setElsewhere replaces what is known of the other instances.
func (a *Advisor) setElsewhere(others []*saved, now time.Time) {
	a.mu.RLock()
	spaces := maps.Clone(a.spaces)
	a.mu.RUnlock()
	for name, s := range spaces {
		var known []*savedSpace
		for _, o := range others {
			if of := o.spaces[name]; of != nil && of.version == s.ruledVersion() {
				known = append(known, of)
			}
		}
		s.setElsewhere(newElsewhere(known, now))
	}
}

// ruledVersion is the version of what makes the content.
func (s *space) ruledVersion() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

func (s *space) setElsewhere(e *elsewhere) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e != nil || s.elsewhere != nil {
		s.elsewhere = e
		s.history.seen++
	}
}

// newElsewhere returns nil if nobody knows anything.
func newElsewhere(known []*savedSpace, now time.Time) *elsewhere {
	if len(known) == 0 {
		return nil
	}
	e := &elsewhere{rates: &rates{top: map[mark]rate{}}, tallies: known}
	histories := make([]*history, len(known))
	for i, k := range known {
		histories[i] = &k.history
		e.rates.add(k.traffic.rates(k.at))
	}
	e.history = joined(histories...)
	e.history.makeRoom(now.UnixMilli(), fleetObservations)
	for _, k := range known {
		k.history, k.traffic = history{}, traffic{} // they are in the others now
	}
	return e
}

// Restore takes over a state: that of this instance before a restart, or of one that is no
// more. What it says of spaces that have no rule here counts as absent, as does what is
// about another version of their content. With an error, which is ErrState, nothing has
// changed.
func (a *Advisor) Restore(state []byte, now time.Time) error {
	old, err := parseState(state)
	if err != nil {
		return err
	}
	a.inherit(old, now)
	return nil
}

// inherit takes over a state that was read.
func (a *Advisor) inherit(old *saved, now time.Time) {
	for name, of := range old.spaces {
		if s := a.known(name); s != nil {
			s.inherit(of, now)
		}
	}
}

const (
	// ownTime is for how long requests are observed until what an instance before has
	// observed of them is no longer needed.
	ownTime = 6 * time.Hour
	// away is how long an instance may be gone until what it has measured of a rule no
	// longer goes on.
	away = 30 * time.Minute
)

// inherit takes over what an instance knew that is no more.
func (s *space) inherit(of *savedSpace, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.version != s.version {
		return
	}
	seen := s.history.seen + of.history.seen + 1
	h := joined(&s.history, &of.history)
	h.makeRoom(now.UnixMilli(), maxObservations*7/8)
	s.history, s.history.seen = *h, seen
	if own := s.traffic.seconds(now); own < ownTime.Seconds() && own < of.traffic.seconds(of.at) {
		s.traffic.inherit(&of.traffic, of.at)
	}
	switch {
	case of.tally.rule == s.tally.rule && now.Sub(of.at) < away:
		s.tally.add(&of.tally)
	case s.tally.before == nil && !of.tally.nothing():
		s.tally.before = of.tally.measured(of.at, of.old, of.oldKnown)
	case s.tally.before == nil:
		s.tally.before = of.tally.before
	}
}
