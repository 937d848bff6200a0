package proxy

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"sundry/proxy/uri"
)

// TestOnlyTheProxysOwnHeaderIsBelieved: a header that a trusted proxy does not
// write comes from the client, as the proxy passes it on unchanged.
func TestOnlyTheProxysOwnHeaderIsBelieved(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	const forged = "203.0.113.99"
	both := http.Header{"X-Forwarded-For": {forged}, "Forwarded": {"for=192.0.2.1"}}
	other := http.Header{"X-Forwarded-For": {"192.0.2.1"}, "Forwarded": {"for=" + forged}}
	for _, r := range []struct {
		header http.Header
		by     Forwarded
		want   string
	}{
		{both, ByForwarded, "192.0.2.1"},
		{both, ByXForwardedFor, forged}, // such a proxy writes it
		{other, ByXForwardedFor, "192.0.2.1"},
		{other, ByEither, "192.0.2.1"},
		{http.Header{"Forwarded": {"for=" + forged}}, ByXForwardedFor, "10.0.0.1"},
		{http.Header{"X-Forwarded-For": {forged}}, ByForwarded, "10.0.0.1"},
		{http.Header{"Forwarded": {"for=192.0.2.1"}}, ByEither, "192.0.2.1"},
		{http.Header{"Forwarded": {`for="[2001:db8::7]:4711";proto=https, for=10.0.0.2`}}, ByForwarded, "2001:db8::7"},
		{http.Header{"Forwarded": {"for=" + forged + ", proto=https;by=10.0.0.1"}}, ByForwarded, "10.0.0.1"}, // it does not say who called
		{http.Header{"Forwarded": {"for=" + forged, "proto=https"}}, ByEither, "10.0.0.1"},
		{http.Header{"Forwarded": {"for=" + forged + ", for=unknown"}}, ByForwarded, "10.0.0.1"},
	} {
		got := callerAddress(uri.ParseHop("10.0.0.1:1234"), r.header["X-Forwarded-For"], r.header["Forwarded"], trusted, r.by)
		if got.String() != r.want {
			t.Errorf("%v by %q: %s, want %s", r.header, r.by, got, r.want)
		}
		direct := callerAddress(uri.ParseHop("198.51.100.1:1234"), r.header["X-Forwarded-For"], r.header["Forwarded"], trusted, r.by)
		if direct.String() != "198.51.100.1" {
			t.Errorf("%v of an untrusted peer: %s", r.header, direct)
		}
	}
}

// splitCallerAddress is callerAddress in its plain form: it makes a list of all hops.
func splitCallerAddress(peer netip.Addr, xff, forwarded []string, trusted []netip.Prefix, by Forwarded) netip.Addr {
	if len(trusted) == 0 || !isTrusted(peer, trusted) {
		return peer
	}
	for _, hop := range slices.Backward(splitHops(xff, forwarded, by)) {
		addr := plainHop(hop)
		if !addr.IsValid() {
			return peer
		}
		if !isTrusted(addr, trusted) {
			return addr
		}
		peer = addr
	}
	return peer
}

func splitHops(xff, forwarded []string, by Forwarded) []string {
	if by == ByXForwardedFor || by != ByForwarded && len(xff) > 0 {
		return splitList(xff)
	}
	var hops []string
	for _, element := range splitList(forwarded) {
		before := len(hops)
		for pair := range strings.SplitSeq(element, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if strings.EqualFold(name, "for") {
				hops = append(hops, strings.Trim(value, `"`))
			}
		}
		if len(hops) == before {
			hops = append(hops, "unknown")
		}
	}
	return hops
}

func splitList(lines []string) []string {
	var out []string
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			out = append(out, strings.TrimSpace(item))
		}
	}
	return out
}

func plainHop(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone("")
	}
	a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]"))
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap().WithZone("")
}

// FuzzCallerAddress compares with the plain form. Lines of a header are separated by
// line feeds.
func FuzzCallerAddress(f *testing.F) {
	for _, peer := range []string{"10.0.0.1:80", "[::1]:80", "198.51.100.1:1", "::ffff:10.0.0.1", "fe80::1%eth0", "[fe80::1%eth0]:80"} {
		f.Add(peer, "192.0.2.1, 10.0.0.2", "for=192.0.2.1;by=10.0.0.1, for=\"[::1]\"")
		f.Add(peer, "192.0.2.1,10.0.0.3\n10.0.0.2:80, ::1", "")
		f.Add(peer, "", "for=10.0.0.3 ; For=10.0.0.4;for=192.0.2.7\nproto=https")
		f.Add(peer, "1.2.3.4:5:6,[::1],[::1]:,[1.2.3.4]:80,[1.2.3.4],]", "for=unknown, for=10.0.0.2")
		f.Add(peer, ",\n", ";;,\n=")
	}
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fe80::/10")}
	f.Fuzz(func(t *testing.T, remote, xff, forwarded string) {
		if got, want := uri.ParseHop(remote), plainHop(remote); got != want {
			t.Fatalf("%q: %s, want %s", remote, got, want)
		}
		lines := func(s string) []string {
			if s == "" {
				return nil
			}
			return strings.Split(s, "\n")
		}
		for _, peer := range []netip.Addr{plainHop(remote), trusted[0].Addr()} {
			for _, by := range []Forwarded{"", ByEither, ByXForwardedFor, ByForwarded} {
				got := callerAddress(peer, lines(xff), lines(forwarded), trusted, by)
				if want := splitCallerAddress(peer, lines(xff), lines(forwarded), trusted, by); got != want {
					t.Fatalf("peer %s, X-Forwarded-For %q, Forwarded %q, by %q: %s, want %s", peer, xff, forwarded, by, got, want)
				}
			}
		}
	})
}

// TestCallerAddressAllocatesNothing for addresses of every spelling.
func TestCallerAddressAllocatesNothing(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	xff, forwarded := []string{"192.0.2.1, 2001:db8::1", "10.0.0.3:80,10.0.0.2"}, []string{`for="[2001:db8::1]:80", for=10.0.0.2;by=x`}
	for _, by := range []Forwarded{ByXForwardedFor, ByForwarded} {
		if n := testing.AllocsPerRun(100, func() {
			if a := callerAddress(uri.ParseHop("10.0.0.1:80"), xff, forwarded, trusted, by); a.String() == "" || a.Is4() {
				t.Error(a)
			}
		}); n > 1 { // the String
			t.Errorf("by %s: %v allocations", by, n)
		}
	}
}
