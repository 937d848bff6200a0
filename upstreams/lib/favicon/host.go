package favicon

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"sundry/metrics/words"
	"sundry/upstreams/lib/guard"
)

// maxInput is the longest input, in bytes.
const maxInput = 2048

var (
	errSpelling = words.Because(errors.New("not a domain; expected one as in example.org, or a page of one as in https://example.org/about"),
		"is not a domain", "不是域名")
	errScheme = words.Because(fmt.Errorf("%w: scheme is not http or https; expected a domain as in example.org", ErrForbidden),
		"has a scheme other than http and https", "的协议不是 http 或 https")
	errAddress = words.Because(fmt.Errorf("%w: an IP address; expected a domain as in example.org", ErrForbidden),
		"is an IP address", "是 IP 地址")
	errSingle = words.Because(errors.New("a name without a dot; expected a full domain as in example.org"),
		"is a name without a dot", "不含点号，不是完整的域名")
	errCredentials = words.Because(fmt.Errorf("%w: user name or password in the URL; expected a domain as in example.org", ErrForbidden),
		"contains a user name or password", "含有用户名或密码")
	errPort = words.Because(fmt.Errorf("%w: port is not 80 or 443; expected a domain as in example.org", ErrForbidden),
		"has a port other than 80 and 443", "的端口不是 80 或 443")
)

// Host parses a caller's input, a domain or an http(s) URL with any path, and
// returns the host alone: lower case, punycode, without a final dot. The error
// says what is allowed, and does not contain the input; it is
// ErrForbidden for an address in any spelling, other schemes, credentials, and
// ports other than 80 and 443.
func Host(raw string) (string, error) {
	raw = strings.TrimSpace(raw)
	if len(raw) > maxInput {
		return "", errSpelling
	}
	u, err := parse(raw)
	switch {
	case err != nil:
		return "", err
	case u.User != nil:
		return "", errCredentials
	case u.Port() != "" && u.Port() != "80" && u.Port() != "443":
		return "", errPort
	case strings.HasPrefix(u.Host, "["):
		return "", errAddress
	}
	return domain(u.Hostname())
}

// parse parses a URL, or a domain as browsers do, with https.
func parse(raw string) (*url.URL, error) {
	scheme, _, hasScheme := strings.Cut(raw, "://")
	switch {
	case !hasScheme || strings.ContainsAny(scheme, "./?#"):
		if _, err := netip.ParseAddr(raw); err == nil {
			return nil, errAddress // IPv6 without brackets is not valid in a URL
		}
		raw = "https://" + strings.TrimPrefix(raw, "//")
	case !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https"):
		return nil, errScheme
	}
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return nil, errSpelling // the cause would contain the input
	}
	return u, nil
}

// domain checks a name and returns its canonical form.
func domain(name string) (string, error) {
	canonical, err := guard.CheckHost(name)
	switch {
	case errors.Is(err, guard.ErrAmbiguousAddress):
		return "", errAddress
	case err != nil:
		return "", errSpelling
	}
	if _, err := netip.ParseAddr(canonical); err == nil {
		return "", errAddress
	}
	if !strings.Contains(canonical, ".") {
		return "", errSingle
	}
	return canonical, nil
}
