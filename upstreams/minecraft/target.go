package minecraft

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// DefaultPort of the game.
const DefaultPort = 25565

// Target is a checked, canonical server address.
type Target struct {
	Host string // lower case, punycode, without brackets
	Port uint16
	// Explicit means that a port other than the default was given: then no
	// SRV record is looked up.
	Explicit bool
}

// ErrPort refuses a port that game servers do not use.
var ErrPort = errors.New("port is not one that game servers use")

var (
	errEmpty     = errors.New("host is missing")
	errLength    = errors.New("host is longer than 253 characters")
	errLabel     = errors.New("host must consist of labels of 1 to 63 letters, digits, - and _ with dots between them")
	errIDN       = errors.New("host is not a valid internationalized domain name")
	errAmbiguous = errors.New("ambiguous form of an IPv4 address")
	errZone      = errors.New("IPv6 address must not have a zone")
	errBrackets  = errors.New("brackets must contain an IPv6 address, followed by nothing or by :port")
)

// ParseTarget parses host, host:port, [v6]:port or a bare IPv6 address. White
// space around it is dropped. The error says what is wrong, and contains at most
// the port.
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
	if t.Host, err = canonicalHost(host); err != nil {
		return Target{}, err
	}
	return t, nil
}

func splitPort(s string) (host, port string, err error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Is6() {
		return s, "", nil
	}
	if rest, ok := strings.CutPrefix(s, "["); ok {
		host, after, closed := strings.Cut(rest, "]")
		port, hasPort := strings.CutPrefix(after, ":")
		if !closed || after != "" && (!hasPort || port == "") {
			return "", "", errBrackets
		}
		if a, err := netip.ParseAddr(host); err != nil || !a.Is6() {
			return "", "", errBrackets
		}
		return host, port, nil
	}
	host, port, found := strings.Cut(s, ":")
	if found && port == "" {
		return "", "", errors.New("port is missing after the colon")
	}
	return host, port, nil
}

// canonicalHost returns the canonical form of a name or address, and refuses forms
// that only some resolvers parse as an address.
func canonicalHost(host string) (string, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return "", errZone
		}
		return a.Unmap().String(), nil
	}
	name, err := ascii(strings.ToLower(strings.TrimSuffix(host, ".")))
	switch {
	case err != nil:
		return "", err
	case name == "":
		return "", errEmpty
	case len(name) > 253:
		return "", errLength
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if !validLabel(l) {
			return "", errLabel
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", errAmbiguous
	}
	return name, nil
}

// ascii converts an internationalized name to punycode, and checks one that is in
// punycode. Plain names are not passed to IDNA: it refuses the underscore.
func ascii(name string) (string, error) {
	plain := !strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII })
	if plain && !strings.Contains(name, "xn--") {
		return name, nil
	}
	puny, err := idna.Lookup.ToASCII(name)
	if err != nil {
		return "", errIDN
	}
	return puny, nil
}

func validLabel(l string) bool {
	return l != "" && len(l) <= 63 && l[0] != '-' && l[len(l)-1] != '-' &&
		!slices.ContainsFunc([]byte(l), func(c byte) bool {
			return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_'
		})
}

// String is the canonical form, without the default port.
func (t Target) String() string {
	if t.Port == DefaultPort {
		return t.Host
	}
	return net.JoinHostPort(t.Host, strconv.Itoa(int(t.Port)))
}

// AllowedPort reports whether a game server may use a port. Those of other services
// are refused, so that callers cannot probe them from here.
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
