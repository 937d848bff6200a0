package guard

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// maxHost is the longest name there is (RFC 1035).
const maxHost = 253

var (
	errHost  = errors.New("not a host name or address")
	errOddIP = errors.New("odd spelling of an address")
)

// privateNames lead to this machine or this network by convention (RFC 6761,
// RFC 6762, and what clouds call their metadata).
func privateNames() []string {
	return []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa", "localdomain", "onion", "test", "invalid"}
}

// CheckHost returns the canonical spelling of a name or address. Spellings
// that only some resolvers take for an address (127.1, 0x7f.1, 2130706433,
// full-width digits) are refused before anybody resolves them.
func CheckHost(host string) (string, error) {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return "", errOddIP
		}
		return a.Unmap().String(), nil
	}
	if host == "" || strings.Contains(host, ":") {
		return "", errHost
	}
	name, err := idna.Lookup.ToASCII(trimDot(strings.ToLower(host)))
	if err != nil {
		// The strict profile refuses the underscore that game servers' names use.
		name = trimDot(strings.ToLower(host))
	}
	if !validName(name) {
		return "", errHost
	}
	labels := strings.Split(name, ".")
	if numeric(labels[len(labels)-1]) {
		return "", errOddIP
	}
	return name, nil
}

// isPrivate tells a canonical name that leads to this machine or network.
func isPrivate(name string) bool {
	return slices.ContainsFunc(privateNames(), func(p string) bool { return name == p || strings.HasSuffix(name, "."+p) })
}

func trimDot(s string) string { return strings.TrimSuffix(s, ".") }

// validName checks letters, digits, hyphen and underscore in labels of 1 to 63.
func validName(name string) bool {
	if name == "" || len(name) > maxHost {
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

// numeric tells a label that some resolvers read as a number.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		_, err := strconv.ParseUint(hex, 16, 64)
		return hex == "" || err == nil
	}
	return strings.Trim(label, "0123456789") == ""
}
