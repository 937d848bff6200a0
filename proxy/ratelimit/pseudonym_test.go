package ratelimit

import (
	"bytes"
	"net/netip"
	"testing"
)

// TestHashIsSipHash: with the key and the message of eight bytes that its authors
// publish.
func TestHashIsSipHash(t *testing.T) {
	s, ok := parseSecret([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
	if !ok {
		t.Fatal("a secret is refused")
	}
	if got := s.hash(0x0706050403020100); got != 0x93f5f5799a932462 {
		t.Errorf("%x", got)
	}
}

func TestSecretsAreStoredWhole(t *testing.T) {
	a, b := newSecret(), newSecret()
	if *a == *b {
		t.Error("two secrets are the same")
	}
	if got, ok := parseSecret(a.bytes()); !ok || *got != *a {
		t.Errorf("%v %v, stored as %x", got, ok, a.bytes())
	}
	for _, bad := range [][]byte{nil, {}, bytes.Repeat([]byte{1}, 15), bytes.Repeat([]byte{1}, 17)} {
		if _, ok := parseSecret(bad); ok {
			t.Errorf("%x is a secret", bad)
		}
	}
}

// TestPseudonymsDependOnTheSecret: and on nothing else but the client.
func TestPseudonymsDependOnTheSecret(t *testing.T) {
	a, b, who := newSecret(), newSecret(), netip.MustParseAddr("192.0.2.1")
	same, _ := parseSecret(a.bytes())
	if a.pseudonymOf(who) != same.pseudonymOf(who) {
		t.Error("one secret, two pseudonyms")
	}
	if a.pseudonymOf(who) == b.pseudonymOf(who) || a.tag() == b.tag() {
		t.Error("two secrets, one pseudonym")
	}
}
