package guard

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// maxURL is the longest URL, in bytes, as given and as sent.
const maxURL = 2048

// CheckURL parses a caller's URL and returns it with its host in canonical form
// and without the scheme's default port. It requires http or https, a host, no
// credentials, and a port of Config.Web. Addresses are checked here, names only as
// such: their addresses are checked when they are dialled. Every error is a
// *ForbiddenError, and none contains more of the URL than its host.
func (g *Guard) CheckURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, g.refuse("URL", "longer than 2048 bytes")
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil: // its text contains the URL with its credentials
		return nil, g.refuse("URL", "cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, g.refuse("URL", "scheme is not http or https")
	case u.Hostname() == "":
		return nil, g.refuse("URL", "has no host")
	case u.User != nil:
		return nil, g.refuse(u.Host, "URL contains credentials")
	}
	name, literal, err := g.checkName(u.Hostname())
	if err != nil {
		return nil, err
	}
	port, standard, err := webPort(u, g.cfg.Web)
	if err != nil || !standard && !g.mayBeAllowed(literal) {
		return nil, g.refuse(u.Host, refusedPort)
	}
	u.Host = joinHost(name, port)
	if len(u.String()) > maxURL {
		return nil, g.refuse(name, "URL is longer than 2048 bytes after escaping")
	}
	return u, nil
}

// mayBeAllowed reports whether a target can be in an allowed range: a name's
// addresses are known only when it is dialled.
func (g *Guard) mayBeAllowed(literal netip.Addr) bool {
	if !literal.IsValid() {
		return len(g.allowed()) > 0
	}
	return containsAddr(g.allowed(), literal.Unmap())
}

// webPort is the port in decimal, or empty for the scheme's default, and whether
// the policy allows it.
func webPort(u *url.URL, policy PortPolicy) (text string, standard bool, err error) {
	standardPort := uint64(80)
	if u.Scheme == "https" {
		standardPort = 443
	}
	port := standardPort
	if given := u.Port(); given != "" {
		if port, err = strconv.ParseUint(given, 10, 16); err != nil {
			return "", false, err
		}
	}
	if port != standardPort {
		text = strconv.FormatUint(port, 10)
	}
	return text, policy(uint16(port)), nil
}

func joinHost(name, port string) string {
	joined := net.JoinHostPort(name, port)
	if port == "" {
		return joined[:len(joined)-1] // keeps the brackets of an IPv6 address, drops the colon
	}
	return joined
}
