package ratelimit

import (
	"slices"
	"testing"
	"time"
)

// TestClientsAreRenamed: under a new secret they have what remained of their bursts, and
// nobody else's.
func TestClientsAreRenamed(t *testing.T) {
	a, b := New(10, 40, nil), New(10, 40, nil)
	now := b.epoch.Add(time.Hour)
	b.tell(1)
	request(b, client(1), 30, now)
	request(b, client(2), 100, now)
	request(b, client(4), 5, now) // and no more
	for _, s := range []*secret{b.secret(), a.secret(), a.secret()} {
		b.adopt(s, now)
		b.tell(1)
		for i, want := range []int{5, 0, 5} {
			if got := request(b, client(1+i), 5, now); got != want {
				t.Errorf("client %d: %d are admitted, want %d", 1+i, got, want)
			}
		}
		now = now.Add(500 * time.Millisecond) // they get five back
		request(b, client(2), 5, now)
	}
	if a.secret().pseudonymOf(client(1)) != b.secret().pseudonymOf(client(1)) {
		t.Error("the two know the client by different names")
	}
	if n := b.Clients(now); n != 2 {
		t.Errorf("%d clients are stored, of which two have not their whole burst", n)
	}
	var told []pseudonym
	for _, u := range b.takeUses(10, now) {
		told = append(told, u.client)
	}
	for i := range 3 {
		if !slices.Contains(told, a.secret().pseudonymOf(client(1+i))) || len(told) != 3 {
			t.Errorf("%x are told, not client %d", told, 1+i)
		}
	}
	if c := New(20, 0, b); *c.secret() != *a.secret() {
		t.Error("a reload forgets the secret")
	}
}

// TestRenamingEnds: when all bursts are restored, an old name is not looked for.
func TestRenamingEnds(t *testing.T) {
	l := New(10, 40, nil)
	before := l.secret().pseudonymOf(client(1))
	l.adopt(newSecret(), l.epoch)
	after := l.epoch.Add(4 * time.Second)
	s, b := l.place(before)
	s.buckets[b][0] = slot{before, l.at(after) + l.burst}
	if n := request(l, client(1), 1, after); n != 1 || s.buckets[b][0].client != before {
		t.Errorf("%d admitted, the old slot is %v", n, s.buckets[b][0])
	}
}
