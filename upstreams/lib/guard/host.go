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
	maxHost = 253  // bytes of the longest possible name (RFC 1035)
	maxRaw  = 1024 // bytes of input that may become such a name in punycode
)

var (
	errHost = errors.New("not a host name or address")
	// ErrAmbiguousAddress refuses forms that only some resolvers parse as an
	// address.
	ErrAmbiguousAddress = errors.New("ambiguous form of an IP address")
)

// localNames are names of this machine or link, and of the metadata services of
// clouds (RFC 6761, RFC 6762). They are refused whichever ranges are allowed.
func localNames() []string { return []string{"localhost", "local", "internal"} }

// privateNames are used in private networks by convention, or reserved.
func privateNames() []string {
	return []string{"intranet", "lan", "home", "corp", "home.arpa", "localdomain", "onion", "test", "invalid"}
}

// CheckHost returns the canonical form of a name or address: lower case,
// punycode, without brackets or final dot. Forms that only some resolvers parse
// as an address (127.1, 0x7f.1, 2130706433, full-width digits), IPv4-mapped
// addresses and zones are refused, with ErrAmbiguousAddress.
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
			return "", ErrAmbiguousAddress
		}
		return a.String(), nil
	}
	name, err := ASCII(strings.ToLower(trimDot(host)))
	if err != nil || !validName(name) {
		return "", errHost
	}
	if numeric(name[strings.LastIndexByte(name, '.')+1:]) {
		return "", ErrAmbiguousAddress
	}
	return name, nil
}

// ASCII converts an international name to punycode, and checks one that is in
// punycode. Plain names are not passed to IDNA: it refuses the underscore of game servers' names
// and the doubled hyphens of large sites'.
func ASCII(name string) (string, error) {
	foreign := func(r rune) bool { return r > unicode.MaxASCII }
	if !strings.Contains(name, "xn--") && !strings.ContainsFunc(name, foreign) {
		return name, nil
	}
	return idna.Lookup.ToASCII(name)
}

func isLocal(name string) bool   { return under(name, localNames()) }
func isPrivate(name string) bool { return under(name, privateNames()) }

// under reports whether a canonical name is in the list or below a name of it.
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
		if !IsLabel(label) {
			return false
		}
	}
	return true
}

// IsLabel reports whether a text in lower case may be a label of a name.
func IsLabel(l string) bool {
	return l != "" && len(l) <= 63 && l[0] != '-' && l[len(l)-1] != '-' &&
		!slices.ContainsFunc([]byte(l), func(c byte) bool {
			return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_'
		})
}

// numeric reports whether a last label makes the host an address for some
// resolvers: the rule "ends in a number" of WHATWG's URL standard.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
