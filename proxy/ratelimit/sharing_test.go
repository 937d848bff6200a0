package ratelimit

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/clients"
	"sundry/cache/far"
	"sundry/upstreams/lib/longtest"
)

// roundTrip to a board takes this long.
const roundTrip = 20 * time.Millisecond

// board is where the instances of a test tell each other what clients have used: the script
// of far.Rates, without Redis.
type board struct {
	mu      sync.Mutex
	away    error
	secret  []byte
	seen    map[int]time.Time    // each instance
	full    map[string]time.Time // when what each client has used is restored
	reports map[int][]far.Report // of each instance
}

func newBoard() *board {
	return &board{seen: map[int]time.Time{}, full: map[string]time.Time{}, reports: map[int][]far.Report{}}
}

func (b *board) set(away error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = away
}

// seat is the board as one instance knows it.
type seat struct {
	*board
	self     int
	cut, off atomic.Bool // from the board; by a setting
}

func (s *seat) Exchange(_ context.Context, told far.Report) (f far.Fleet, err error) {
	time.Sleep(roundTrip / 2)
	defer time.Sleep(roundTrip / 2)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away != nil || s.cut.Load() {
		return f, errors.Join(s.away, errors.New("cut off"))
	}
	if s.secret == nil {
		s.secret = told.Secret
	}
	now := time.Now()
	s.seen[s.self], s.reports[s.self] = now, append(s.reports[s.self], told)
	maps.DeleteFunc(s.seen, func(_ int, at time.Time) bool { return now.Sub(at) > 5*time.Second })
	for _, u := range told.Used {
		left := max(-told.Lag, s.full[u.Client].Sub(now)) + u.Time
		s.full[u.Client] = now.Add(min(left, told.Most))
	}
	for client, full := range s.full {
		if full.After(now) {
			f.Used = append(f.Used, far.Used{Client: client, Time: full.Sub(now)})
		}
	}
	f.Secret, f.Instances = s.secret, len(s.seen)
	return f, nil
}

// limiter returns the one in force.
func (s *seat) limiter(l *Limiter) func() *Limiter {
	return func() *Limiter {
		if s.off.Load() {
			return nil
		}
		return l
	}
}

// fleet is a number of instances at one board.
type fleet struct {
	*board
	seats    []*seat
	limiters []*Limiter
	sharing  []*Sharing
}

// run runs a fleet while f does, on a fake clock. It begins when all have met.
func run(t *testing.T, n int, l limits, f func(t *testing.T, fleet *fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		fl := &fleet{board: newBoard()}
		ctx, stop := context.WithCancel(t.Context())
		var done sync.WaitGroup
		defer done.Wait()
		defer stop()
		for i := range n {
			limiter, at := New(l.rate, l.burst), &seat{board: fl.board, self: i}
			s := NewSharing(at, nil, slog.New(slog.DiscardHandler))
			fl.seats, fl.limiters, fl.sharing = append(fl.seats, at), append(fl.limiters, limiter), append(fl.sharing, s)
			done.Go(func() { s.Run(ctx, at.limiter(limiter)) })
		}
		time.Sleep(2 * (maxInterval + roundTrip))
		f(t, fl)
	})
}

// admittedByAll makes so many requests at each instance.
func (f *fleet) admittedByAll(who netip.Addr, times int) (n int) {
	for _, l := range f.limiters {
		n += request(l, who, times, time.Now())
	}
	return n
}

// bound is what the documentation of Sharing promises.
func bound(n int, l limits, length time.Duration) float64 {
	return 9./8*(float64(l.burst)+l.rate*length.Seconds()) + float64((n-1)*l.burst) + float64(n)*l.rate*lag.Seconds()
}

// TestAClientThatSpreadsIsHeldToItsLimit: to the bound in any time, and to its rate
// in the long run.
func TestAClientThatSpreadsIsHeldToItsLimit(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	const step, steps = 10 * time.Millisecond, 12_000
	spreads := map[string]func(step, instance, n int) (times int){
		"at all at once":         func(int, int, int) int { return 4 },
		"at one after the other": func(step, i, n int) int { return within(step/100%n == i, 20) },
		"at random":              func(int, int, int) int { return within(rand.IntN(3) == 0, rand.IntN(20)) },
		"with pauses":            func(step, _, _ int) int { return within(step/500%2 == 0, 20) },
		"little at most of them": func(step, i, _ int) int { return within(i == 0, 20) + within((step+7*i)%57 == 0, 1) },
	}
	for _, row := range []struct {
		n      int
		limits limits
	}{{2, limits{50, 200}}, {3, limits{50, 200}}, {3, limits{1, 5}}, {8, limits{20, 10}}, {20, limits{50, 200}}} {
		for name, times := range spreads {
			t.Run(name, func(t *testing.T) {
				if row.n > 3 {
					longtest.Story(t)
				}
				run(t, row.n, row.limits, func(t *testing.T, f *fleet) {
					total := make([]int, 1, steps+1) // admitted until each step
					for step := range steps {
						n := 0
						for i, l := range f.limiters {
							n += request(l, caller(1), times(step, i, row.n), time.Now())
						}
						total = append(total, total[step]+n)
						time.Sleep(10 * time.Millisecond)
					}
					for _, length := range []time.Duration{step, time.Second, 5 * time.Second, 20 * time.Second, time.Minute} {
						if n, most := highest(total, int(length/step)), bound(row.n, row.limits, length); float64(n) > most {
							t.Errorf("%d instances, %v: %d are admitted within %v, more than %.0f", row.n, row.limits, n, length, most)
						}
					}
					long := total[steps] - total[steps/2]
					if most := 9./8*row.limits.rate*60 + float64(row.limits.burst) + float64(row.n)*row.limits.rate*lag.Seconds(); name != "with pauses" && float64(long) > most {
						t.Errorf("%d instances, %v: %d in the last minute, more than %.0f", row.n, row.limits, long, most)
					}
				})
			})
		}
	}
}

func within(yes bool, n int) int {
	if yes {
		return n
	}
	return 0
}

// highest is the highest number of requests within so many steps.
func highest(total []int, steps int) (most int) {
	for i := steps; i < len(total); i++ {
		most = max(most, total[i]-total[i-steps])
	}
	return most
}

// TestTheBoundMeansSomething: without sharing, a client gets more than it says.
func TestTheBoundMeansSomething(t *testing.T) {
	for _, n := range []int{3, 8, 20} {
		l := limits{50, 200}
		alone := float64(n) * (float64(l.burst) + l.rate*60)
		if most := bound(n, l, time.Minute); most > 0.6*alone {
			t.Errorf("%d instances: %.0f of %.0f", n, most, alone)
		}
	}
}

// TestAClientWithinItsLimitMaySpread: all it is allowed at one instance it is allowed
// at all together, even where a burst is short.
func TestAClientWithinItsLimitMaySpread(t *testing.T) {
	for _, l := range []limits{{50, 200}, {50, 5}, {1, 20}} {
		run(t, 5, l, func(t *testing.T, f *fleet) {
			alone, admitted := New(l.rate, l.burst), 0
			for range 60 * 100 {
				for range rand.IntN(3) {
					if !alone.Allow(caller(1), time.Now()).OK {
						continue
					}
					admitted++
					if !f.limiters[rand.IntN(5)].Allow(caller(1), time.Now()).OK {
						t.Fatalf("%v: request %d is refused", l, admitted)
					}
				}
				time.Sleep(10 * time.Millisecond)
			}
			var told float64
			for _, s := range f.sharing {
				told += testutil.ToFloat64(s.told)
			}
			if told == 0 {
				t.Error("nobody told of it")
			}
		})
	}
}

func (f *fleet) debits() (n float64) {
	for _, s := range f.sharing {
		n += testutil.ToFloat64(s.debits)
	}
	return n
}

// TestAClientOfOneInstanceIsLimitedAsEver: whatever it does there, and the others
// elsewhere.
func TestAClientOfOneInstanceIsLimitedAsEver(t *testing.T) {
	run(t, 3, limits{20, 30}, func(t *testing.T, f *fleet) {
		alone := New(20, 30)
		for step := range 6000 {
			for range rand.IntN(3) {
				if got, want := f.limiters[0].Allow(caller(1), time.Now()), alone.Allow(caller(1), time.Now()); got != want {
					t.Fatalf("step %d: %+v, alone %+v", step, got, want)
				}
			}
			f.admittedByAll(caller(2), 1)
			time.Sleep(10 * time.Millisecond)
		}
	})
}

// TestWithoutTheOthersEachLimitsForItself: and when they are back, nobody is refused
// for what happened before, and the fleet is one again.
func TestWithoutTheOthersEachLimitsForItself(t *testing.T) {
	run(t, 3, limits{1, 100}, func(t *testing.T, f *fleet) {
		f.set(errors.New("away"))
		time.Sleep(2 * maxInterval)
		if n := f.admittedByAll(caller(1), 1000); n != 300 {
			t.Errorf("%d of three bursts are admitted", n)
		}
		for i, s := range f.sharing {
			if n := testutil.ToFloat64(s.instances); n != 1 {
				t.Errorf("instance %d counts %v", i, n)
			}
		}
		request(f.limiters[0], caller(2), 100, time.Now())
		f.set(nil)
		time.Sleep(4 * maxInterval)
		if n := f.debits(); n != 0 {
			t.Errorf("%v debits for what happened during the outage", n)
		}
		if n := request(f.limiters[1], caller(2), 1000, time.Now()); n != 100 {
			t.Errorf("%d are admitted afterwards at another", n)
		}
		time.Sleep(3 * maxInterval)
		if n := request(f.limiters[2], caller(2), 1000, time.Now()); n > 10 {
			t.Errorf("%d are admitted at the third once it heard of those", n)
		}
		if n := testutil.ToFloat64(f.sharing[0].instances); n != 3 {
			t.Errorf("%v instances", n)
		}
	})
}

// TestWhatWasMissedIsHeard: an instance that was cut off alone hears what a client has used
// elsewhere, less what is restored.
func TestWhatWasMissedIsHeard(t *testing.T) {
	for away, want := range map[time.Duration]int{5 * maxInterval: 10, maxInterval: 5} {
		run(t, 3, limits{1, 100}, func(t *testing.T, f *fleet) {
			f.seats[0].cut.Store(true)
			request(f.limiters[1], caller(1), 100, time.Now())
			time.Sleep(away)
			f.seats[0].cut.Store(false)
			time.Sleep(maxInterval + 2*roundTrip)
			if n := request(f.limiters[0], caller(1), 1000, time.Now()); n > want+5 || n < want-5 {
				t.Errorf("after %v: %d are admitted, want about %d", away, n, want)
			}
		})
	}
}

// TestALostAnswerIsNotToldAgain: the report may have arrived.
func TestALostAnswerIsNotToldAgain(t *testing.T) {
	run(t, 2, limits{1, 100}, func(t *testing.T, f *fleet) {
		request(f.limiters[0], caller(1), 50, time.Now())
		f.set(errors.New("timeout"))
		time.Sleep(maxInterval + roundTrip)
		f.set(nil)
		time.Sleep(3 * maxInterval)
		if n := request(f.limiters[1], caller(1), 1000, time.Now()); n != 100 {
			t.Errorf("%d are admitted", n)
		}
	})
}

// TestANewcomerLearns: the secret of the others, and what they told a moment ago.
func TestANewcomerLearns(t *testing.T) {
	run(t, 2, limits{1, 100}, func(t *testing.T, f *fleet) {
		f.admittedByAll(caller(1), 50)
		time.Sleep(2 * maxInterval)
		l := New(1, 100)
		s := NewSharing(&seat{board: f.board, self: 2}, nil, slog.New(slog.DiscardHandler))
		s.round(t.Context(), l)
		if !bytes.Equal(s.pseudonyms.secret, f.secret) {
			t.Error("it knows clients by its own secret")
		}
		if n := request(l, caller(1), 1000, time.Now()); n > 10 {
			t.Errorf("%d are admitted by an instance that has just started", n)
		}
		if n := request(l, caller(2), 1000, time.Now()); n != 100 {
			t.Errorf("another client: %d are admitted", n)
		}
	})
}

// TestTurnedOffItIsSilent: while there is no limiter to share, nothing is told, and what
// was admitted meanwhile is not told afterwards.
func TestTurnedOffItIsSilent(t *testing.T) {
	run(t, 2, limits{1, 100}, func(t *testing.T, f *fleet) {
		f.seats[0].off.Store(true)
		time.Sleep(maxInterval)
		f.mu.Lock()
		clear(f.reports)
		f.mu.Unlock()
		request(f.limiters[0], caller(1), 50, time.Now())
		time.Sleep(6 * maxInterval)
		for i, s := range f.sharing {
			if n := testutil.ToFloat64(s.instances); n != 1 {
				t.Errorf("instance %d counts %v", i, n)
			}
		}
		f.mu.Lock()
		silent := len(f.reports[0]) == 0
		f.mu.Unlock()
		if !silent {
			t.Error("it reports on")
		}
		f.seats[0].off.Store(false)
		time.Sleep(3 * maxInterval)
		if n := request(f.limiters[1], caller(1), 1000, time.Now()); n != 100 {
			t.Errorf("%d are admitted", n)
		}
	})
}

// TestReportsAreIgnoredWhereTheSecretIsNone: what is stored in its place makes nobody
// forget its clients.
func TestReportsAreIgnoredWhereTheSecretIsNone(t *testing.T) {
	run(t, 2, limits{1, 100}, func(t *testing.T, f *fleet) {
		f.admittedByAll(caller(1), 100)
		f.mu.Lock()
		f.secret = []byte("short")
		f.mu.Unlock()
		time.Sleep(2 * maxInterval)
		if n := f.admittedByAll(caller(1), 1000); n > 10 {
			t.Errorf("%d are admitted", n)
		}
	})
}

// TestReportsNameNoAddress: neither a client's address nor what is computed of it
// without the secret is in them.
func TestReportsNameNoAddress(t *testing.T) {
	run(t, 2, limits{1, 100}, func(t *testing.T, f *fleet) {
		who := netip.MustParseAddr("198.51.100.77")
		f.admittedByAll(who, 100)
		time.Sleep(2 * maxInterval)
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.full) != 1 {
			t.Errorf("%d names are told", len(f.full))
		}
		for told := range f.full {
			for name, b := range map[string][]byte{"address": who.AsSlice(), "number": binary.BigEndian.AppendUint64(nil, uint64(clients.Of(who))), "text": []byte(who.String())} {
				if strings.Contains(told, string(b)) {
					t.Errorf("the %s is in %x", name, told)
				}
			}
		}
	})
}

func TestWorthTelling(t *testing.T) {
	for _, row := range []struct {
		burst int64
		n     int
		want  uint32
	}{{200, 2, 12}, {200, 3, 8}, {200, 10, 2}, {200, 100, 1}, {1, 2, 1}, {1 << 60, 2, math.MaxUint32}} {
		if got := worthTelling(row.burst, row.n); got != row.want {
			t.Errorf("a burst of %d, %d instances: %d, want %d", row.burst, row.n, got, row.want)
		}
	}
}
