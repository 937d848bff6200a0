package guard

import (
	"net"
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
	name, _, err := g.named(u.Hostname())
	if err != nil {
		return nil, err
	}
	port, ok := g.webPort(u)
	if !ok {
		return nil, g.refuse(u.Host, "port must not be reached")
	}
	u.Host = joinHost(name, port)
	if len(u.String()) > maxURL {
		return nil, g.refuse(name, "URL is longer than 2048 bytes when it is escaped")
	}
	return u, nil
}

// webPort is the port in decimal, or empty for the scheme's own.
func (g *Guard) webPort(u *url.URL) (string, bool) {
	own := uint64(80)
	if u.Scheme == "https" {
		own = 443
	}
	port := own
	if text := u.Port(); text != "" {
		var err error
		if port, err = strconv.ParseUint(text, 10, 16); err != nil {
			return "", false
		}
	}
	if !g.cfg.Web(uint16(port)) {
		return "", false
	}
	if port == own {
		return "", true
	}
	return strconv.FormatUint(port, 10), true
}

func joinHost(name, port string) string {
	joined := net.JoinHostPort(name, port)
	if port == "" {
		return joined[:len(joined)-1] // with the brackets of an IPv6 address, without the colon
	}
	return joined
}
