package ratelimit

import (
	"encoding/binary"
	"net/netip"
	"runtime"
	"slices"
	"testing"
	"time"
)

// client is one of many.
func client(i int) netip.Addr {
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
	type step struct {
		at    time.Duration
		of    int // client
		times int
	}
	// A burst is restored in four seconds.
	for name, row := range map[string]struct {
		steps []step
		want  []uint32
	}{
		"nobody":                               {nil, nil},
		"nobody who has used little":           {[]step{{0, 1, 4}, {0, 2, 4}}, nil},
		"who has used much":                    {[]step{{0, 1, 5}, {0, 2, 4}}, []uint32{5}},
		"little by little":                     {[]step{{0, 1, 2}, {time.Second, 1, 2}, {2 * time.Second, 1, 2}}, []uint32{6}},
		"nothing that is long ago":             {[]step{{0, 1, 4}, {5 * time.Second, 1, 4}}, nil},
		"only what was admitted":               {[]step{{0, 1, 1000}}, []uint32{40}},
		"the heaviest first":                   {[]step{{0, 1, 6}, {0, 2, 9}, {0, 3, 7}}, []uint32{9, 7, 6}},
		"the heaviest, where there is no room": {[]step{{0, 1, 6}, {0, 2, 9}, {0, 3, 7}, {0, 4, 5}}, []uint32{9, 7, 6}},
		"what came together before the window": {[]step{{0, 1, 6}, {5 * time.Second, 1, 2}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := New(10, 40, nil)
			l.tell(5)
			var end time.Time
			for _, s := range row.steps {
				end = l.epoch.Add(s.at)
				request(l, client(s.of), s.times, end)
			}
			if got := numbers(l.takeUses(3, end)); !slices.Equal(got, row.want) {
				t.Errorf("%v, want %v", got, row.want)
			}
		})
	}
}

// TestNothingIsToldTwice: and what was told is counted anew from then on.
func TestNothingIsToldTwice(t *testing.T) {
	l := New(10, 40, nil)
	l.tell(5)
	at := func(d time.Duration) time.Time { return l.epoch.Add(d) }
	request(l, client(1), 8, at(0))
	for i, row := range []struct {
		at    time.Duration
		times int
		want  []uint32
	}{
		{3500 * time.Millisecond, 0, []uint32{8}},
		{3500 * time.Millisecond, 0, nil},
		{3600 * time.Millisecond, 3, nil},         // too little by itself
		{4500 * time.Millisecond, 3, []uint32{6}}, // the window began when it was told
	} {
		request(l, client(1), row.times, at(row.at))
		if got := numbers(l.takeUses(3, at(row.at))); !slices.Equal(got, row.want) {
			t.Errorf("%d: %v, want %v", i, got, row.want)
		}
	}
}

// TestWhoHadNoRoomIsToldLater: with its next request.
func TestWhoHadNoRoomIsToldLater(t *testing.T) {
	l := New(10, 40, nil)
	l.tell(1)
	for i := range 300 {
		request(l, client(i), 1+i%30, l.epoch)
	}
	told := map[pseudonym]uint32{}
	for range 30 {
		uses := l.takeUses(10, l.epoch)
		if len(uses) != 10 {
			t.Fatalf("%d clients are told", len(uses))
		}
		for _, u := range uses {
			told[u.client] += u.n
		}
		for i := range 300 {
			request(l, client(i), 1, l.epoch)
		}
	}
	if len(told) < 30 {
		t.Errorf("%d clients were told in thirty reports", len(told))
	}
	for who, n := range told {
		if n > 40 {
			t.Errorf("%x: %d requests were told, and at most 40 admitted", who, n)
		}
	}
}

// TestASlotsTallyIsItsClients: a client that gets the slot of another begins with
// nothing, and so does one that was debited.
func TestASlotsTallyIsItsClients(t *testing.T) {
	l := New(1, 20, nil)
	l.tell(5)
	now := l.epoch
	crowd := limiterShards * shardBuckets * bucketWays
	for i := range crowd {
		request(l, client(i), 4, now)
	}
	now = now.Add(time.Minute)
	l.tallies(func(s *tallies) { s.window = 1 << 31 }) // older requests would be forgotten anyway
	for i := range crowd {
		request(l, client(crowd+i), 2, now)
	}
	if uses := l.takeUses(maxTold, now); len(uses) > 0 {
		t.Errorf("%d clients with two requests are told, %v", len(uses), uses[0])
	}
}

// tallies changes those of all shards.
func (l *Limiter) tallies(change func(*tallies)) {
	for i := range l.shards {
		change(l.shards[i].tallies)
	}
}

func TestDebits(t *testing.T) {
	type debit struct {
		after time.Duration
		n     uint32
	}
	// A burst of 40 is restored in four seconds, and a lag is 25 requests long.
	for name, row := range map[string]struct {
		used   int // before the debits
		debits []debit
		want   int           // admitted at once after them
		next   time.Duration // until the next one, if none is
	}{
		"of nothing":                         {0, nil, 40, 0},
		"what is restored within a lag":      {0, []debit{{0, 25}}, 40, 0},
		"what others admitted":               {0, []debit{{0, 55}}, 10, 0},
		"in addition to what was used here":  {15, []debit{{0, 40}}, 10, 0},
		"not what is restored already":       {15, []debit{{0, 20}}, 25, 0},
		"by several":                         {0, []debit{{0, 25}, {0, 15}, {0, 15}}, 10, 0},
		"less what is restored in between":   {0, []debit{{0, 55}, {time.Second, 0}}, 20, 0},
		"little by little, within the rate":  {0, slices.Repeat([]debit{{time.Second, 10}}, 60), 40, 0},
		"little by little, above the rate":   {0, slices.Repeat([]debit{{time.Second, 11}}, 30), 25, 0},
		"a debt":                             {40, []debit{{0, 65}}, 0, 4*time.Second + 100*time.Millisecond},
		"a debt of no more than a minute":    {40, slices.Repeat([]debit{{0, 65}}, 100), 0, time.Minute + 100*time.Millisecond},
		"no more than one instance can have": {0, []debit{{0, 1 << 31}}, 0, 4*time.Second + 100*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			l, who := New(10, 40, nil), client(1)
			l.tell(5)
			now := l.epoch.Add(time.Hour)
			if got := request(l, who, row.used, now); got != row.used {
				t.Fatalf("%d of %d are admitted", got, row.used)
			}
			for _, d := range row.debits {
				now = now.Add(d.after)
				l.debit(use{l.secret().pseudonymOf(who), d.n}, now)
			}
			if got := request(l, who, 100, now); got != row.want {
				t.Errorf("%d are admitted, want %d", got, row.want)
			}
			if a := l.Allow(who, now); row.want == 0 && a.Next != row.next || !a.Low || a.Remaining != 0 {
				t.Errorf("%+v, want the next after %v", a, row.next)
			}
			if got := request(l, client(2), 100, now); got != 40 {
				t.Errorf("another client: %d are admitted", got)
			}
		})
	}
}

// TestDebitsTakeNoMemory: of a million clients that were never here.
func TestDebitsTakeNoMemory(t *testing.T) {
	l := New(0.01, 3, nil)
	l.tell(1)
	greedy := client(1)
	request(l, greedy, 3, l.epoch)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range uint64(1_000_000) {
		l.debit(use{pseudonym(i * 0x9e3779b97f4a7c15), 1}, l.epoch)
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("they take %d KiB", grown>>10)
	}
	if l.Allow(greedy, l.epoch).OK {
		t.Error("they evicted a client that is refused")
	}
	if uses := l.takeUses(maxTold, l.epoch); len(uses) > 1 {
		t.Errorf("%d are told on", len(uses))
	}
}
