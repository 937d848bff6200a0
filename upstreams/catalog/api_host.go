package catalog

import (
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// The values of host in the file of an API that are not names.
const (
	hostOfOrigin = "origin"
	hostOfCaller = "caller"
)

// allBelow is the prefix of a name in hosts that stands for all names below it.
const allBelow = "*."

// IsHostToSend reports whether a text is origin, caller, or a name that an API may get as Host.
func IsHostToSend(text string) bool { return httpguts.ValidHostHeader(text) }

// sentTo returns the Host that an address gets; "" means the Host of each request. host is the value in the file, which may be "". By
// default, an application of the operator's own gets the names by which clients know it, and one of somebody else its own name.
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

// isNear reports whether a host is this machine, is in a private network, or has a name without a dot, as containers have.
func isNear(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		a = a.Unmap()
		return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsUnspecified()
	}
	name := strings.TrimSuffix(host, ".")
	return !strings.Contains(name, ".") || strings.HasSuffix(strings.ToLower(name), ".localhost")
}

// ExampleHost returns the first of the API's hosts, or a name below it; "" means that the API has none.
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
