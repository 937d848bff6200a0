package ratelimit

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"

	"sundry/cache/clients"
)

// caller is one of many.
func caller(i int) netip.Addr {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(i))
	return netip.AddrFrom4(b)
}

// request makes so many requests at once, and returns how many were admitted.
func request(l *Limiter, who netip.Addr, times int, at time.Time) (admitted int) {
	for range times {
		if l.Allow(who, at).OK {
			admitted++
		}
	}
	return admitted
}

// numbers of uses, in their order.
func numbers(uses []use) (n []uint32) {
	for _, u := range uses {
		n = append(n, u.n)
	}
	return n
}

func TestWhatIsTold(t *testing.T) {
	type calls struct{ of, times int }
	for name, row := range map[string]struct {
		calls []calls
		want  []uint32
	}{
		"nobody":                     {nil, nil},
		"nobody who has used little": {[]calls{{1, 4}, {2, 4}}, nil},
		"who has used much":          {[]calls{{1, 5}, {2, 4}}, []uint32{5}},
		"little by little":           {[]calls{{1, 2}, {1, 2}, {1, 2}}, []uint32{6}},
		"only what was admitted":     {[]calls{{1, 1000}}, []uint32{40}},
		"the heaviest first":         {[]calls{{1, 6}, {2, 9}, {3, 7}}, []uint32{9, 7, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			l := New(10, 40)
			for _, c := range row.calls {
				request(l, caller(c.of), c.times, l.epoch)
			}
			if got := numbers(l.takeUses(5)); !slices.Equal(got, row.want) {
				t.Errorf("%v, want %v", got, row.want)
			}
		})
	}
}

// TestNothingIsToldTwice: and what was told or forgotten is counted anew from then on.
func TestNothingIsToldTwice(t *testing.T) {
	l := New(10, 40)
	for i, row := range []struct {
		times int
		want  []uint32
	}{{8, []uint32{8}}, {0, nil}, {3, nil}, {3, []uint32{6}}} {
		request(l, caller(1), row.times, l.epoch)
		if got := numbers(l.takeUses(5)); !slices.Equal(got, row.want) {
			t.Errorf("%d: %v, want %v", i, got, row.want)
		}
	}
	request(l, caller(1), 4, l.epoch)
	l.forgetUses()
	request(l, caller(1), 4, l.epoch)
	if got := l.takeUses(5); len(got) > 0 {
		t.Errorf("what was forgotten is told: %v", got)
	}
}

// TestTheHeaviestAreTold where there is no room for all.
func TestTheHeaviestAreTold(t *testing.T) {
	l := New(10, 40)
	for i := range 2 * maxTold {
		request(l, caller(i), 5+i%2, l.epoch)
	}
	got := numbers(l.takeUses(5))
	if len(got) != maxTold || slices.Min(got) != 6 {
		t.Errorf("%d clients are told, the least has used %d", len(got), slices.Min(got))
	}
}

// TestASlotsUsesAreItsClients: a client that gets the slot of another begins with nothing.
func TestASlotsUsesAreItsClients(t *testing.T) {
	l := New(1, 20)
	crowd := limiterShards * shardBuckets * bucketWays
	for i := range crowd {
		request(l, caller(i), 4, l.epoch)
	}
	for i := range crowd {
		request(l, caller(crowd+i), 2, l.epoch.Add(time.Minute))
	}
	for _, u := range l.takeUses(5) {
		t.Errorf("a client with %d requests is told", u.n)
	}
}

func TestDebits(t *testing.T) {
	// A burst of 40 is restored in four seconds.
	for name, row := range map[string]struct {
		used int // before the debit
		left time.Duration
		want int           // admitted at once after it
		next time.Duration // until the next one, if none is
	}{
		"of nothing":                        {0, 0, 40, 0},
		"what was used by others":           {0, 3 * time.Second, 10, 0},
		"more than was used here":           {15, 3 * time.Second, 10, 0},
		"less than was used here":           {15, time.Second, 25, 0},
		"hardly more than was used here":    {15, 1550 * time.Millisecond, 25, 0},
		"a debt":                            {40, 6500 * time.Millisecond, 0, 2600 * time.Millisecond},
		"a debt of no more than a minute":   {40, time.Hour, 0, time.Minute + 100*time.Millisecond},
		"a debt of one who was never there": {0, time.Hour, 0, time.Minute + 100*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			l, who := New(10, 40), caller(1)
			now := l.epoch.Add(time.Hour)
			if got := request(l, who, row.used, now); got != row.used {
				t.Fatalf("%d of %d are admitted", got, row.used)
			}
			l.debit(clients.Of(who), row.left, now)
			if got := request(l, who, 100, now); got != row.want {
				t.Errorf("%d are admitted, want %d", got, row.want)
			}
			if a := l.Allow(who, now); row.want == 0 && a.Next != row.next || !a.Low || a.Remaining != 0 {
				t.Errorf("%+v, want the next after %v", a, row.next)
			}
			if got := request(l, caller(2), 100, now); got != 40 {
				t.Errorf("another client: %d are admitted", got)
			}
		})
	}
}

// TestDebitsTakeNoMemory: of a million clients that were never here.
func TestDebitsTakeNoMemory(t *testing.T) {
	l := New(0.01, 3)
	greedy := caller(1)
	request(l, greedy, 3, l.epoch)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range uint64(1_000_000) {
		l.debit(clients.ID(i*0x9e3779b97f4a7c15), 150*time.Second, l.epoch)
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("they take %d KiB", grown>>10)
	}
	if l.Allow(greedy, l.epoch).OK {
		t.Error("they evicted a client that is refused")
	}
	if uses := l.takeUses(1); len(uses) > 1 {
		t.Errorf("%d are told on", len(uses))
	}
}
