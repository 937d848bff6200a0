package uri

import (
	"net/http"
	"net/netip"
	"strconv"
	"strings"

	"sundry/metrics/words"
)

// ErrHost is the error of a request with a malformed Host field, or authority of an absolute URI.
var ErrHost = words.NewError("malformed host; expected a name or an address, with a port if needed, such as Host: example.org:8080",
	"Host 格式有误；应为名称或地址，可带端口，例如 Host: example.org:8080")

// CheckHost returns ErrHost if the authority of a request is malformed. The field Host may be empty, as in HTTP/1.0.
func CheckHost(r *http.Request) error {
	if u := r.URL; u.User != nil || u.Scheme != "" && u.Host == "" || r.Host != "" && !ValidHost(r.Host) {
		return ErrHost
	}
	return nil
}

// ValidHost reports whether a text is a host with an optional port (RFC 9110, section 7.2). It is stricter than the grammar of
// URIs: names have no commas and other sub-delimiters, and literals are IPv6 addresses without a zone.
func ValidHost(host string) bool {
	if literal, ok := strings.CutPrefix(host, "["); ok {
		address, port, ok := strings.Cut(literal, "]")
		return ok && isIPv6(address) && (port == "" || port[0] == ':' && isPort(port[1:]))
	}
	name, port, _ := strings.Cut(host, ":")
	return isName(name) && isPort(port)
}

func isIPv6(text string) bool {
	address, err := netip.ParseAddr(text)
	return err == nil && address.Is6() && address.Zone() == ""
}

// isPort reports whether a text is a port, which may be empty (RFC 3986, section 3.2.3).
func isPort(text string) bool {
	if text == "" {
		return true
	}
	_, err := strconv.ParseUint(text, 10, 16)
	return err == nil
}

// isName reports whether a text is a name, in which octets outside ASCII are escaped.
func isName(text string) bool {
	for i := 0; i < len(text); i++ {
		if isUnreserved(text[i]) {
			continue
		}
		octet, ok := byte(0), false
		if text[i] == '%' {
			octet, ok = octetOf(text[i+1:])
		}
		if !ok || octet < 0x80 && !isUnreserved(octet) {
			return false
		}
		i += len("41")
	}
	return text != ""
}

func isUnreserved(octet byte) bool {
	return octet >= '0' && octet <= '9' || octet >= 'A' && octet <= 'Z' || octet >= 'a' && octet <= 'z' ||
		octet == '-' || octet == '.' || octet == '_' || octet == '~'
}

// octetOf returns the octet that the two hexadecimal digits at the beginning of a text stand for; ok is false if there are none.
func octetOf(text string) (octet byte, ok bool) {
	if len(text) < 2 {
		return 0, false
	}
	high, low := digit(text[0]), digit(text[1])
	return high<<4 | low, high < 16 && low < 16
}

// digit returns the value of a hexadecimal digit, and 16 for other octets.
func digit(octet byte) byte {
	lower := octet | 0x20
	switch {
	case octet >= '0' && octet <= '9':
		return octet - '0'
	case lower >= 'a' && lower <= 'f':
		return lower - 'a' + 10
	}
	return 16
}
