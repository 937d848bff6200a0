package catalog

import (
	"net/netip"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// What host may be in the file of an API, beside a name.
const (
	hostOfOrigin = "origin"
	hostOfCaller = "caller"
)

// allBelow begins a name of hosts that means all names below it.
const allBelow = "*."

// IsHostToSend reports whether a text is origin, caller, or a name that an API may get as Host.
func IsHostToSend(text string) bool { return httpguts.ValidHostHeader(text) }

// sentTo returns the Host that an address gets, by the host of the file, which may be ""; "" means that of each request. An application of
// the operator's own is meant for the names by which clients know it, one of somebody else for its own.
func sentTo(t *Target, host string) string {
	near := t.IsLocal() || isNear(t.URL.Hostname())
	switch {
	case host == hostOfCaller, host == "" && near:
		return ""
	case host != hostOfOrigin && host != "":
		return host
	case t.IsLocal():
		return socketHost
	}
	return t.URL.Host
}

// isNear reports whether a host is this machine, in a private network, or a name without a dot, which containers have.
func isNear(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap()
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified()
	}
	name := strings.TrimSuffix(host, ".")
	return !strings.Contains(name, ".") || strings.HasSuffix(strings.ToLower(name), ".localhost")
}

// ExampleHost is the first of the API's hosts, or a name below it; "" means that it has none.
func (a *API) ExampleHost() string {
	if len(a.Hosts) == 0 {
		return ""
	}
	return strings.Replace(a.Hosts[0], "*", "www", 1)
}

// HasHost reports whether one of the API's hosts is a name, which is in lower case.
func (a *API) HasHost(name string) bool {
	for _, h := range a.Hosts {
		below, all := strings.CutPrefix(h, allBelow)
		if h == name || all && strings.HasSuffix(name, "."+below) {
			return true
		}
	}
	return false
}
