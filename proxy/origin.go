package proxy

import (
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strings"
)

// hostName matches what the Host field of a plain request holds: a name, or an address,
// and a port.
var hostName = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// CheckHost accepts what may stand in a URL as host and port.
func CheckHost(host string) error {
	if !hostName.MatchString(host) {
		return fmt.Errorf("host %q: expected a name or an address, and a port if need be", host)
	}
	return nil
}

// origin is where callers reach the service, such as https://api.example.org: what the
// settings say, else what the request says. It is "" where neither does.
func (s *Server) origin(r *http.Request) string {
	settings := s.current.Load().settings
	switch {
	case settings.PublicURL != "":
		return settings.PublicURL
	case !hostName.MatchString(r.Host):
		return ""
	}
	return scheme(r, settings.Trusted) + "://" + strings.ToLower(r.Host)
}

// scheme is that of the request as its sender saw it, as far as a trusted proxy or the
// connection tell.
func scheme(r *http.Request, trusted []netip.Prefix) string {
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && isTrusted(peer.Addr().Unmap().WithZone(""), trusted) {
		if strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
			return "https"
		}
	}
	if r.TLS != nil {
		return "https"
	}
	return "http"
}
