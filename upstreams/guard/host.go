package guard

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

const (
	maxHost = 253  // bytes of the longest name there is (RFC 1035)
	maxRaw  = 1024 // bytes of what may become such a name in punycode
)

var (
	errHost = errors.New("not a host name or address")
	// ErrOddAddress refuses spellings that only some resolvers take for an
	// address.
	ErrOddAddress = errors.New("odd spelling of an address")
)

// localNames lead to this machine or link, and to what clouds tell their own
// machines (RFC 6761, RFC 6762). No opened range opens them.
func localNames() []string { return []string{"localhost", "local", "internal"} }

// privateNames lead into private networks by convention, or nowhere.
func privateNames() []string {
	return []string{"intranet", "lan", "home", "corp", "home.arpa", "localdomain", "onion", "test", "invalid"}
}

// CheckHost returns the canonical spelling of a name or address: lower case,
// punycode, without brackets or final dot. Spellings that only some resolvers
// take for an address (127.1, 0x7f.1, 2130706433, full-width digits), the
// IPv4-mapped one and zones are refused, with ErrOddAddress.
func CheckHost(host string) (string, error) {
	if len(host) > maxRaw {
		return "", errHost
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		if !closed || !strings.Contains(inner, ":") {
			return "", errHost
		}
		host = inner
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" || a.Is4In6() {
			return "", ErrOddAddress
		}
		return a.String(), nil
	}
	name, err := ascii(strings.ToLower(trimDot(host)))
	if err != nil || !validName(name) {
		return "", errHost
	}
	if numeric(name[strings.LastIndexByte(name, '.')+1:]) {
		return "", ErrOddAddress
	}
	return name, nil
}

// ascii turns an international name into punycode, and checks one that came as
// such. Plain names pass by: IDNA refuses the underscore of game servers' names
// and the doubled hyphens of large sites'.
func ascii(name string) (string, error) {
	foreign := func(r rune) bool { return r > unicode.MaxASCII }
	if !strings.Contains(name, "xn--") && !strings.ContainsFunc(name, foreign) {
		return name, nil
	}
	return idna.Lookup.ToASCII(name)
}

func isLocal(name string) bool   { return under(name, localNames()) }
func isPrivate(name string) bool { return under(name, privateNames()) }

// under tells a canonical name that is one of the list or below one.
func under(name string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return name == p || strings.HasSuffix(name, "."+p) })
}

func trimDot(s string) string { return strings.TrimSuffix(s, ".") }

// validName checks letters, digits, hyphen and underscore in labels of 1 to 63.
func validName(name string) bool {
	if len(name) > maxHost {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if slices.ContainsFunc([]byte(label), func(c byte) bool {
			return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_'
		}) {
			return false
		}
	}
	return true
}

// numeric tells a last label that makes the whole a number for some resolvers:
// the rule of WHATWG's URL standard, "ends in a number".
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
