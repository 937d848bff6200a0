package host

import (
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/clients"
)

// A host that stays down is probed more and more seldom, and at once as often as
// ever when it was well in between.
func TestTheBreakerStaysOpenForLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("a", Config{Open: 10 * time.Second, OpenMax: time.Minute})
		fail := func() time.Duration {
			for h.State() != "open" {
				_ = call(h, Failing)
			}
			start := time.Now()
			for h.State() == "open" {
				time.Sleep(100 * time.Millisecond)
			}
			return time.Since(start)
		}
		for _, want := range []time.Duration{10 * time.Second, 20 * time.Second, 40 * time.Second, time.Minute, time.Minute} {
			if took := fail(); took < want*8/10 || took > want*12/10+time.Second {
				t.Errorf("open for %v, want %v, a fifth more or less", took, want)
			}
		}
		for h.State() != "closed" {
			_ = call(h, Healthy)
		}
		if took := fail(); took > 13*time.Second {
			t.Errorf("after it was well: open for %v", took)
		}
	})
}

// A host at which nothing listens is being restarted, as a rule. It is probed each second, because a probe takes no time there, and no more
// often or seldom the longer that lasts; once it listens and hangs, more and more seldom.
func TestAHostAtWhichNothingListensIsProbedEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("a", Config{Open: 10 * time.Second})
		open := func(how Health) time.Duration {
			for h.State() != "open" {
				_ = call(h, how)
			}
			start := time.Now()
			for h.State() == "open" {
				time.Sleep(10 * time.Millisecond)
			}
			return time.Since(start)
		}
		for range 100 {
			if took := open(Down); took < 500*time.Millisecond || took > time.Second {
				t.Fatalf("open for %v, want up to a second", took)
			}
		}
		if took := open(Failing); took < 8*time.Second {
			t.Errorf("once it hangs it is open for %v", took)
		}
		if took := open(Down); took > time.Second {
			t.Errorf("once nothing listens again it is open for %v", took)
		}
	})
}

// A probe has a deadline of its own: while it hangs, the others are rejected.
func TestAProbeHasItsOwnDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("a", Config{Open: 10 * time.Second, Probe: 2 * time.Second})
		within, done, err := h.Enter(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := within.Deadline(); ok {
			t.Error("an ordinary call has a probe's deadline")
		}
		done(Healthy)
		for range 5 {
			_ = call(h, Failing)
		}
		time.Sleep(15 * time.Second)
		start := time.Now()
		within, done, err = h.Enter(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		<-within.Done()
		done(Failing)
		if took := time.Since(start); took != 2*time.Second || h.State() != "open" {
			t.Errorf("the probe ended after %v: %s", took, h.State())
		}
	})
}

// One client, or one key of callers' making, does not soon open a breaker for
// all: it takes four times as many failures, with nobody's success between.
func TestFailuresAreWeighedByCaller(t *testing.T) {
	rows := []struct {
		name   string
		caller func(i int) caller
		pause  time.Duration
		after  int // failures; 0: never
	}{
		{"a key that callers cannot choose", func(int) caller { return caller{client: 1} }, 0, 5},
		{"many keys of many clients", func(i int) caller { return caller{key: uint64(i + 1), client: clients.ID(i + 1)} }, 0, 5},
		{"many keys of unknown clients", func(i int) caller { return caller{key: uint64(i + 1)} }, 0, 5},
		{"one key at once", func(i int) caller { return caller{key: 1, client: clients.ID(i + 1)} }, 0, 0},
		{"one key again and again", func(i int) caller { return caller{key: 1, client: clients.ID(i + 1)} }, 2 * time.Second, 5},
		{"many keys of one client", func(i int) caller { return caller{key: uint64(i + 1), client: 1} }, 2 * time.Second, 20},
		{"many keys of two clients", func(i int) caller { return caller{key: uint64(i + 1), client: clients.ID(i%2 + 1)} }, 0, 5},
	}
	for _, r := range rows {
		synctest.Test(t, func(t *testing.T) {
			h := newHost("a", Config{})
			after := 0
			for i := range 100 {
				if _, done, err := h.Enter(clients.With(t.Context(), r.caller(i).client), r.caller(i).key); err == nil {
					done(Failing)
				}
				if time.Sleep(r.pause); h.State() == "open" {
					after = i + 1
					break
				}
			}
			if after != r.after {
				t.Errorf("%s: open after %d failures, want %d", r.name, after, r.after)
			}
		})
	}
}

// While others get answers, one client's failures open nothing.
func TestOneClientsFailuresBesideOthersSuccesses(t *testing.T) {
	h := newHost("a", Config{})
	for i := range 500 {
		result := Failing
		if i%10 == 9 {
			result = Healthy
		}
		_, done, err := h.Enter(clients.With(t.Context(), 1+clients.ID(i%10)/9), uint64(i+1))
		if err != nil {
			t.Fatalf("after %d calls: %v", i, err)
		}
		done(result)
	}
}

// Slow calls count once the host has answered nothing for a minute.
func TestSlowCallsOfAHostThatAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost("a", Config{})
		_ = call(h, Healthy)
		for range 59 {
			_ = call(h, Slow)
			_ = call(h, Slow)
			time.Sleep(time.Second)
		}
		if h.State() != "closed" {
			t.Error("it is not called any more, although it answered less than a minute ago")
		}
		for range 6 {
			_ = call(h, Slow)
			time.Sleep(time.Second)
		}
		if h.State() != "open" {
			t.Error("it is still called, although it has answered nothing for a minute")
		}
	})
}
