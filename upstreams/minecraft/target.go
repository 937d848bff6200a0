package minecraft

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// DefaultPort of the game.
const DefaultPort = 25565

// Target is a checked, canonical server address.
type Target struct {
	Host string // lower case, punycode, without brackets
	Port uint16
	// Explicit means that a port other than the default was given: then no
	// SRV record is looked for.
	Explicit bool
}

// ErrPort refuses a port that a game server does not use.
var ErrPort = errors.New("port is not one of a game server")

var (
	errAddress = errors.New("not a server name or address")
	errNumeric = errors.New("odd spelling of an address")
)

// ParseTarget reads host, host:port, [v6]:port or a bare IPv6 address.
func ParseTarget(s string) (Target, error) {
	host, port, err := splitPort(strings.TrimSpace(s))
	if err != nil {
		return Target{}, err
	}
	t := Target{Port: DefaultPort}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return Target{}, fmt.Errorf("port %.10q is not a number from 1 to 65535", port)
		}
		t.Port, t.Explicit = uint16(n), n != DefaultPort
	}
	t.Host, err = canonicalHost(host)
	return t, err
}

func splitPort(s string) (host, port string, err error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Is6() {
		return s, "", nil
	}
	if rest, ok := strings.CutPrefix(s, "["); ok {
		host, after, closed := strings.Cut(rest, "]")
		port, hasPort := strings.CutPrefix(after, ":")
		if !closed || after != "" && !hasPort {
			return "", "", errAddress
		}
		if a, err := netip.ParseAddr(host); err != nil || !a.Is6() {
			return "", "", errAddress
		}
		return host, port, nil
	}
	host, port, found := strings.Cut(s, ":")
	if found && port == "" {
		return "", "", errors.New("nothing follows the colon")
	}
	return host, port, nil
}

// canonicalHost refuses what only some resolvers take for an address.
func canonicalHost(host string) (string, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return "", errNumeric
		}
		return a.Unmap().String(), nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if puny, err := idna.Lookup.ToASCII(name); err == nil {
		name = puny
	}
	if name == "" || len(name) > 253 {
		return "", errAddress
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if !validLabel(l) {
			return "", errAddress
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", errNumeric
	}
	return name, nil
}

func validLabel(l string) bool {
	return l != "" && len(l) <= 63 && l[0] != '-' && l[len(l)-1] != '-' &&
		!slices.ContainsFunc([]byte(l), func(c byte) bool {
			return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_'
		})
}

// String is the canonical spelling: the default port is left out.
func (t Target) String() string {
	if t.Port == DefaultPort {
		return t.Host
	}
	return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
}

// AllowedPort tells a port that a game server may use, from those of services
// that nobody should be able to probe from here.
func AllowedPort(p uint16) bool {
	if p < 1024 {
		return false
	}
	switch p {
	case 1433, 1521, 2049, 2375, 2376, 2379, 2380, 3306, 3389, 5432, 5672, 5900, 6379, 6443, 8086, 9042, 9092, 9200, 9300, 10250, 11211, 15672, 27017:
		return false
	}
	return true
}
