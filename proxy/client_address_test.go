package proxy

import (
	"net/http"
	"net/netip"
	"testing"
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
	} {
		got := callerAddress(&http.Request{RemoteAddr: "10.0.0.1:1234", Header: r.header}, trusted, r.by)
		if got.String() != r.want {
			t.Errorf("%v by %q: %s, want %s", r.header, r.by, got, r.want)
		}
		direct := callerAddress(&http.Request{RemoteAddr: "198.51.100.1:1234", Header: r.header}, trusted, r.by)
		if direct.String() != "198.51.100.1" {
			t.Errorf("%v of an untrusted peer: %s", r.header, direct)
		}
	}
}
