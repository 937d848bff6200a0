package clients

import (
	"math/rand/v2"
	"net/netip"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	of := func(text string) ID { return Of(netip.MustParseAddr(text)) }
	for _, same := range [][2]string{
		{"192.0.2.1", "::ffff:192.0.2.1"}, {"2001:db8::1", "2001:db8:0:0:ffff::2"}, {"fe80::1", "fe80::2%eth0"}, {"::1", "::2"},
	} {
		if of(same[0]) != of(same[1]) {
			t.Errorf("%s and %s are two clients", same[0], same[1])
		}
	}
	for _, other := range [][2]string{{"192.0.2.1", "192.0.2.2"}, {"2001:db8::1", "2001:db8:0:1::1"}, {"0.0.0.0", "::"}, {"::1", "127.0.0.1"}} {
		if of(other[0]) == of(other[1]) {
			t.Errorf("%s and %s are one client", other[0], other[1])
		}
	}
	if Of(netip.Addr{}) != Nobody || of("::1") == Nobody || of("0.0.0.0") == Nobody {
		t.Error("only the invalid address is nobody's")
	}
	if From(With(t.Context(), 7)) != 7 || From(t.Context()) != Nobody {
		t.Error("a context does not tell its client")
	}
}

// TestLimit takes one unit at a time until there is none for a client.
func TestLimit(t *testing.T) {
	t.Parallel()
	fill := func(l *Limit, id ID) (n int64) {
		for l.Take(id, 1) {
			n++
		}
		return n
	}
	l := NewLimit(100)
	for i, want := range []int64{25, 18, 14, 10} {
		if got := fill(l, ID(i+1)); got != want {
			t.Errorf("client %d gets %d of 100 units, not %d", i+1, got, want)
		}
	}
	if l.Take(1, 1) {
		t.Error("a client that holds its share gets more")
	}
	l.Give(1, 20)
	if got := fill(l, 1); got == 0 || l.Used() > l.Total() {
		t.Errorf("a client that has returned 20 units gets %d", got)
	}
	if rest := l.Total() - l.Used(); fill(l, Nobody) != rest || l.Take(99, 1) {
		t.Errorf("nobody gets something else than the %d units that are left", rest)
	}
	if !l.Allows(99, 1) || l.Allows(1, 1) || !l.Allows(Nobody, 1) {
		t.Error("a client's share depends on what is left for all")
	}
	l.Give(Nobody, 1)
	if !l.Take(99, 1) {
		t.Error("a client without any does not get the last one")
	}
	if halves := NewHalves(100); fill(halves, 1) != 50 || fill(halves, 2) != 25 {
		t.Error("of halves, a client does not get half of what others leave")
	}
	small := NewLimit(1)
	if !small.Take(1, 1) || small.Take(2, 1) || small.Take(Nobody, 1) {
		t.Error("there is one unit")
	}
	if small.SetTotal(2); !small.Take(2, 1) || small.Total() != 2 {
		t.Error("there are two units")
	}
	var none *Limit
	if none.Give(1, 1); !none.Take(1, 1<<40) {
		t.Error("nil has bounds")
	}
}

// TestLimitForgets: whatever is taken and returned, in the end nothing is held or remembered.
func TestLimitForgets(t *testing.T) {
	t.Parallel()
	l, held := NewLimit(50), map[ID]int64{}
	for range 10_000 {
		id := ID(rand.IntN(8))
		if n := rand.Int64N(6); rand.IntN(2) == 0 && l.Take(id, n) {
			held[id] += n
		} else if n <= held[id] {
			l.Give(id, n)
			held[id] -= n
		}
		if used := l.Used(); used < 0 || used > 50 {
			t.Fatalf("%d of 50 units are held", used)
		}
	}
	for id, n := range held {
		l.Give(id, n)
	}
	if l.Used() != 0 || len(l.by) != 0 {
		t.Errorf("%d units are held, and %d clients are remembered", l.Used(), len(l.by))
	}
}
