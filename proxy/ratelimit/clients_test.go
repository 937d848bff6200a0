package ratelimit

import (
	"bytes"
	"net/netip"
	"testing"

	"sundry/cache/clients"
)

func TestSecretsAreStoredWhole(t *testing.T) {
	a, b := newPseudonyms(), newPseudonyms()
	if bytes.Equal(a.secret, b.secret) {
		t.Error("two secrets are the same")
	}
	if got, err := pseudonymsBy(a.secret); err != nil || got.of(1) != a.of(1) {
		t.Errorf("%v, stored as %x", err, a.secret)
	}
	for _, bad := range [][]byte{nil, {}, bytes.Repeat([]byte{1}, 15), bytes.Repeat([]byte{1}, 17)} {
		if _, err := pseudonymsBy(bad); err == nil {
			t.Errorf("%x is a secret", bad)
		}
	}
}

// TestPseudonymsDependOnTheSecret: and who knows it reads the client from one.
func TestPseudonymsDependOnTheSecret(t *testing.T) {
	a, b, who := newPseudonyms(), newPseudonyms(), clients.Of(netip.MustParseAddr("192.0.2.1"))
	if a.of(who) == b.of(who) {
		t.Error("two secrets, one pseudonym")
	}
	if got, ok := a.client(a.of(who)); !ok || got != who {
		t.Errorf("%x is read as %x (%v)", who, got, ok)
	}
	for _, name := range []string{"", "short", b.of(who), a.of(who) + "x"} {
		if got, ok := a.client(name); ok {
			t.Errorf("%q is read as %x", name, got)
		}
	}
}
