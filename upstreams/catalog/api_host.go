package catalog

import (
	"net/netip"
	"slices"
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

// Named returns the API that a name in lower case belongs to, or else that with the longest domain that the name is in; nil means none.
func (c *Catalog) Named(name string) *API {
	for {
		if i := slices.IndexFunc(c.APIs, func(a *API) bool { return slices.Contains(a.Hosts, name) }); i >= 0 {
			return c.APIs[i]
		}
		_, domain, ok := strings.Cut(strings.TrimPrefix(name, allBelow), ".")
		if !ok {
			return nil
		}
		name = allBelow + domain
	}
}
