package mcp

import (
	"net/netip"
	"testing"
	"time"

	"sundry/cache/clients"
)

// TestPlaces: a message takes them by its size, a client no more than its part, and slow
// ones make room.
func TestPlaces(t *testing.T) {
	const all = 64
	p, now := NewPlaces(all), time.Now()
	one, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")
	cut := map[string]int{}
	take := func(name string, client netip.Addr, n int64, after time.Duration) *place {
		return p.take(clients.Of(client), (n-1)*placeSize, now.Add(after), func() { cut[name]++ })
	}
	arrived := take("arrived", one, 6, 0)
	slow := take("slow", one, 10, 0)
	if arrived == nil || slow == nil || !arrived.arrived(5*placeSize) {
		t.Fatal("two messages have no place")
	}
	if take("too soon", one, 1, arrivesWithin-1) != nil || len(cut) > 0 {
		t.Errorf("a client has more than a quarter, or a message is cut off that may still arrive: %v", cut)
	}
	if second := take("second", other, 9, 0); second == nil || len(cut) > 0 {
		t.Error("another client has no place")
	}
	if take("same network", other.Next(), 8, 0) != nil {
		t.Error("a network has more than a quarter")
	}
	third := take("third", one, 1, arrivesWithin)
	if third == nil || cut["slow"] != 1 || len(cut) != 1 || slow.arrived(7) {
		t.Errorf("the slow message of the client is not cut off for its next: %v", cut)
	}
	slow.release()
	var nobody netip.Addr
	if rest := take("rest", nobody, all-6-9-1, arrivesWithin); rest == nil {
		t.Error("whose client is unknown cannot have the rest")
	} else if late := take("late", netip.MustParseAddr("198.51.100.1"), 9, arrivesWithin); late == nil || cut["second"] != 1 || len(cut) != 2 {
		t.Errorf("with all places taken, the slowest is not cut off: %v", cut)
	} else if take("large", nobody, all, time.Hour) != nil {
		t.Error("a message is cut off that has arrived")
	} else {
		rest.release()
		late.release()
	}
	if shrunk := take("shrinks", nobody, 17, 0); !shrunk.arrived(1) || shrunk.n != 1 {
		t.Error("a message of unknown size keeps the places of the largest")
	} else {
		shrunk.release()
	}
	third.release()
	arrived.release()
	if !p.TryAcquire(all) || len(p.clients) != 0 || p.reading.Len() != 0 {
		t.Errorf("afterwards, something is taken: %v, %d on their way", p.clients, p.reading.Len())
	}
}

// TestSlowMessagesAreNotCutOffInVain: where all that may be cut off is not enough for a
// message, none is.
func TestSlowMessagesAreNotCutOffInVain(t *testing.T) {
	const all = 64
	one, other := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("198.51.100.1")
	type message struct {
		client  netip.Addr
		n       int64
		arrived bool
	}
	for name, row := range map[string]struct {
		before []message
		wants  message
		cut    int // of those before; -1: there is no room
	}{
		"the rest has arrived":                  {[]message{{n: 60, arrived: true}, {n: 4}}, message{n: 5}, -1},
		"more than there are":                   {[]message{{n: 4}, {n: 60}}, message{n: all + 1}, -1},
		"the client's rest has arrived":         {[]message{{one, 12, true}, {one, 4, false}}, message{client: one, n: 5}, -1},
		"more than a client may":                {[]message{{one, 4, false}, {one, 12, false}}, message{client: one, n: all/clientPart + 1}, -1},
		"room for the client, and none for all": {[]message{{n: 48, arrived: true}, {one, 15, false}, {other, 1, true}}, message{client: one, n: 16}, -1},
		"one of the client is enough":           {[]message{{other, 1, false}, {one, 8, false}, {one, 8, false}}, message{client: one, n: 8}, 1},
		"all are just enough":                   {[]message{{n: 4, arrived: true}, {n: 30}, {n: 30}}, message{n: 60}, 2},
		"of the client, not the oldest":         {[]message{{other, 16, false}, {n: 32, arrived: true}, {one, 8, false}, {one, 8, true}}, message{client: one, n: 8}, 1},
	} {
		p, now, cut := NewPlaces(all), time.Now(), 0
		for _, m := range row.before {
			got := p.take(clients.Of(m.client), (m.n-1)*placeSize, now, func() { cut++ })
			if got == nil || m.arrived && !got.arrived((m.n-1)*placeSize) {
				t.Fatalf("%s: no place for %v", name, m)
			}
		}
		got := p.take(clients.Of(row.wants.client), (row.wants.n-1)*placeSize, now.Add(arrivesWithin), func() {})
		if (got == nil) != (row.cut < 0) || cut != max(row.cut, 0) {
			t.Errorf("%s: room: %v, and %d are cut off, want %d", name, got != nil, cut, row.cut)
		}
	}
}
