package guard

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"
)

func TestCheckHost(t *testing.T) {
	for in, want := range map[string]string{
		"Example.ORG": "example.org", "example.org.": "example.org", "8.8.8.8": "8.8.8.8", "[2400:3200::1]": "2400:3200::1", "2400:3200:0:0::1": "2400:3200::1",
		"例子.测试": "xn--fsqu00a.xn--0zwm56d", "XN--fsqu00a.example": "xn--fsqu00a.example", "a_b.example.org": "a_b.example.org",
		"r3---sn-x.example": "r3---sn-x.example", "x1.example": "x1.example", "1.2.3.4.example": "1.2.3.4.example", "example.0xyz": "example.0xyz",
		"ＥＸＡＭＰＬＥ.org": "example.org", "例子。测试": "xn--fsqu00a.xn--0zwm56d",
	} {
		if got, err := CheckHost(in); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", in, got, err, want)
		}
	}
}

// ambiguousAddresses are parsed as addresses by some resolvers.
func ambiguousAddresses() []string {
	return []string{
		"127.1", "127.0.1", "127.0.0.1.", "127.0.0.01", "0177.0.0.1", "0177.1", "017700000001", "2130706433", "0x7f.1", "0x7f.0.0.1", "0X7F000001",
		"127.0.0.0x1", "127.0.0.0x", "0x", "example.0x7f", "0xffffffffffffffffffffff7f", "1.2.3.4.5", "256.1.1.1", "999999999999", "0", "00", "4294967295",
		"１２７.0.0.1", "127。0。0。1", "①②⑦.⓪.⓪.①", "127.0.0.1。", "[::ffff:127.0.0.1]", "::ffff:8.8.8.8", "::ffff:7f00:1", "fe80::1%eth0", "fe80::1%25eth0",
		"[fe80::1%lo]", "169.254.43518", "0xa9fea9fe", "8.8.2056",
	}
}

func TestNotAHost(t *testing.T) {
	bad := []string{
		"", ".", "..", "a..b", ".a", "-a.org", "a-.org", "a b.org", "a/b", `a\b`, "a@b", "a\nb", "a\x00b", "a%00", "example.org:80", "example.org..", "xn--a.org", "xn--0.org",
		strings.Repeat("a", 64) + ".org", strings.Repeat("a.", 130) + "org", strings.Repeat("例", 2000), "[example.org]", "[8.8.8.8]", "[::1", "::1]", "[[::1]]", "\xff.org",
	}
	for _, in := range append(bad, ambiguousAddresses()...) {
		if got, err := CheckHost(in); err == nil {
			t.Errorf("%q was accepted as %q", in, got)
		}
	}
}

// aton parses an address like inet_aton(3), the most lenient parser: one to
// four parts, decimal, octal or hexadecimal, the last filling the rest.
func aton(s string) (netip.Addr, bool) {
	parts := strings.Split(strings.TrimSuffix(s, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var whole uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 32) // the prefixes 0b, 0o and _ are accepted by Go only
		rest := 8
		if i == len(parts)-1 {
			rest = 8 * (5 - len(parts))
		}
		if err != nil || strings.ContainsAny(p, "o_") || strings.HasPrefix(p, "0b") || n >= 1<<rest {
			return netip.Addr{}, false
		}
		whole = whole<<rest | n
	}
	return netip.AddrFrom4([4]byte{byte(whole >> 24), byte(whole >> 16), byte(whole >> 8), byte(whole)}), true
}

func FuzzCheckHost(f *testing.F) {
	for _, s := range append(ambiguousAddresses(), "example.org", "[::1]", "a_b.c", "xn--fsqu00a", "8.8.8.8") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, err := CheckHost(s)
		if err != nil {
			return
		}
		if again, err := CheckHost(name); err != nil || again != name {
			t.Errorf("%q is not stable: %q %v", name, again, err)
		}
		if lenient, ok := aton(name); ok && lenient.String() != name {
			t.Errorf("%q became %q, which some resolvers parse as %s", s, name, lenient)
		}
		if _, err := netip.ParseAddr(name); err != nil && !validName(name) {
			t.Errorf("%q became %q", s, name)
		}
	})
}
