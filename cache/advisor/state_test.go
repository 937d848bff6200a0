package advisor

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"sundry/cache"
)

// experienced is an advisor that has seen a week.
func experienced() (*Advisor, time.Time) {
	policy, chance := usual(10*time.Minute, 0), rand.New(rand.NewPCG(5, 5))
	a := ruled(&policy, monday0())
	end := monday0().Add(7 * 24 * time.Hour)
	tr := trial{policy: policy, rate: 0.1, key: 1, tell: a, changes: every(24*time.Hour, 6*time.Hour)(chance, monday0(), end)}
	tr.skip(chance, monday0(), end)
	for at := monday0(); at.Before(end); at = at.Add(time.Minute) {
		a.Requested("s", chance.Uint64N(50)+1, 1, at)
	}
	return a, end
}

// ruled is an advisor for which a rule is in force.
func ruled(policy *cache.Policy, now time.Time) *Advisor {
	a := New(Config{Zone: shanghai()})
	a.InForce([]Question{{Space: "s", Version: "one", Policy: policy, Now: now}})
	return a
}

// TestStateOutlivesARestart: the advice is the same, what is measured goes on, and what comes
// after the restart is added to what came before.
func TestStateOutlivesARestart(t *testing.T) {
	policy := usual(10*time.Minute, 0)
	a, end := experienced()
	a.Called("s")
	state := a.State(end)
	b := ruled(&policy, end.Add(time.Minute))
	if err := b.Restore(state, end.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	hourly := usual(time.Hour, 0)
	before, after := ask(a, &hourly, end), ask(b, &hourly, end)
	if after.Change != before.Change || after.Verdict != Schedule || after.Reason != before.Reason {
		t.Errorf("%+v, before %+v", after, before)
	}
	if m := ask(b, &policy, end.Add(time.Hour)).Measured; !m.Since.Equal(monday0()) || m.Requests != 7*24*60 || m.CallsPerHour == 0 || !m.OldKnown {
		t.Errorf("%+v", m)
	}
	for at := end.Add(time.Minute); at.Before(end.AddDate(0, 0, 7)); at = at.Add(time.Minute) {
		for _, each := range []*Advisor{a, b} {
			each.Requested("s", 1, 1, at)
		}
	}
	end = end.AddDate(0, 0, 7)
	one, two := ask(a, &hourly, end), ask(b, &hourly, end)
	if math.Abs(one.RequestsPerSecond-two.RequestsPerSecond) > 0.05*one.RequestsPerSecond || math.Abs(one.Present.HitRatio-two.Present.HitRatio) > 0.01 {
		t.Errorf("%+v, without a restart %+v", two, one)
	}
	t.Logf("%d bytes", len(state))
}

// TestAStateOfSomethingElse: of another version of the content, or of an endpoint that is
// gone, nothing is taken over; of another rule, what had been measured is that of the one
// before, and so it is where too much time has passed.
func TestAStateOfSomethingElse(t *testing.T) {
	a, end := experienced()
	state, policy, other := a.State(end), usual(10*time.Minute, 0), usual(time.Minute, 0)
	for _, row := range []struct {
		name      string
		space     string
		version   string
		policy    *cache.Policy
		away      time.Duration
		refreshes bool
		goesOn    bool
	}{
		{"the same", "s", "one", &policy, time.Minute, true, true}, {"another version", "s", "two", &policy, time.Minute, false, false},
		{"gone", "t", "one", &policy, time.Minute, false, false}, {"another rule", "s", "one", &other, time.Minute, true, false},
		{"a day away", "s", "one", &policy, 24 * time.Hour, true, false},
	} {
		now, b := end.Add(row.away), New(Config{})
		q := Question{Space: row.space, Version: row.version, Policy: row.policy, Now: now}
		b.InForce([]Question{q})
		if err := b.Restore(state, now); err != nil {
			t.Fatal(err)
		}
		got := b.Advise(&q)
		if (got.Change.Refreshes > 0) != row.refreshes || got.Measured.Since.Equal(now) == row.goesOn || (got.Before != nil) != (row.refreshes && !row.goesOn) || len(b.spaces) != 1 {
			t.Errorf("%s: %+v, measured %+v, before %+v", row.name, got.Change, got.Measured, got.Before)
		}
		if got.Before != nil && (got.Before.TTL != policy.TTL || got.Before.Requests != 7*24*60) {
			t.Errorf("%s: before %+v", row.name, got.Before)
		}
	}
}

// TestADamagedStateIsRefused, wherever the damage is, and leaves nothing behind.
func TestADamagedStateIsRefused(t *testing.T) {
	a, end := experienced()
	state := a.State(end)
	policy := usual(time.Hour, 0)
	b := ruled(&policy, end)
	untouched := b.State(end)
	for i := range state {
		torn, flipped := state[:i], bytes.Clone(state)
		flipped[i] ^= 0x41
		for _, bad := range [][]byte{torn, flipped} {
			if err := b.Restore(bad, end); !errors.Is(err, ErrState) {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
	if !bytes.Equal(b.State(end), untouched) {
		t.Error("something was restored")
	}
}

// sealed puts magic and checksum around a body.
func sealed(body []byte) []byte {
	return seal(append([]byte(stateMagic), body...))
}

// FuzzRestore: whatever stands in a state, it is refused or can be advised from and
// written again.
func FuzzRestore(f *testing.F) {
	a, end := experienced()
	f.Add(bodyOf(a.State(end)))
	f.Add(bodyOf(New(Config{}).State(end)))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, policy := New(Config{}), cache.Policy{TTL: time.Hour}
		old, err := parseState(sealed(body))
		if err != nil {
			if !errors.Is(err, ErrState) {
				t.Error(err)
			}
			return
		}
		var rules []Question
		for name := range old.spaces {
			rules = append(rules, Question{Space: name, Policy: &policy, Now: end})
		}
		a.InForce(rules)
		for name, of := range old.spaces {
			if s := a.known(name); s != nil {
				s.version = of.version
			}
		}
		if err := a.Restore(sealed(body), end); err != nil {
			t.Error(err)
		}
		for _, q := range rules[:min(1, len(rules))] {
			_ = a.Advise(&q)
		}
		if _, err := parseState(a.State(end)); err != nil {
			t.Errorf("written again: %v", err)
		}
	})
}

func bodyOf(state []byte) []byte { return state[len(stateMagic) : len(state)-8] }
