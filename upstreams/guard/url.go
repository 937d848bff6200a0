package guard

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// maxURL is the longest URL that is followed, in bytes, as given and as sent.
const maxURL = 2048

// CheckURL reads a caller's URL and returns it with its host in canonical
// spelling and without the scheme's own port. It wants http or https, a host, no
// credentials, and a port of Config.Web. Addresses are checked here, names only
// for what they say: where they lead is checked when they are dialled. Every
// error is a *ForbiddenError, and none repeats more of the URL than its host.
func (g *Guard) CheckURL(raw string) (*url.URL, error) {
	if len(raw) > maxURL {
		return nil, g.refuse("URL", "longer than 2048 bytes")
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil: // its text repeats the URL, credentials and all
		return nil, g.refuse("URL", "cannot be read")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, g.refuse("URL", "neither http nor https")
	case u.Hostname() == "":
		return nil, g.refuse("URL", "names no host")
	case u.User != nil:
		return nil, g.refuse(u.Host, "URL holds credentials")
	}
	name, literal, err := g.named(u.Hostname())
	if err != nil {
		return nil, err
	}
	port, usual, err := webPort(u, g.cfg.Web)
	if err != nil || !usual && !g.mayBeOpened(literal) {
		return nil, g.refuse(u.Host, refusedPort)
	}
	u.Host = joinHost(name, port)
	if len(u.String()) > maxURL {
		return nil, g.refuse(name, "URL is longer than 2048 bytes when it is escaped")
	}
	return u, nil
}

// mayBeOpened tells whether a target can be in an opened range: a name's
// addresses are known only when it is dialled.
func (g *Guard) mayBeOpened(literal netip.Addr) bool {
	if !literal.IsValid() {
		return len(g.allowed()) > 0
	}
	return within(literal.Unmap(), g.allowed())
}

// webPort is the port in decimal, or empty for the scheme's own, and whether it
// is one of the policy's.
func webPort(u *url.URL, policy PortPolicy) (text string, usual bool, err error) {
	own := uint64(80)
	if u.Scheme == "https" {
		own = 443
	}
	port := own
	if given := u.Port(); given != "" {
		if port, err = strconv.ParseUint(given, 10, 16); err != nil {
			return "", false, err
		}
	}
	if port != own {
		text = strconv.FormatUint(port, 10)
	}
	return text, policy(uint16(port)), nil
}

func joinHost(name, port string) string {
	joined := net.JoinHostPort(name, port)
	if port == "" {
		return joined[:len(joined)-1] // with the brackets of an IPv6 address, without the colon
	}
	return joined
}
