package shortlink

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sundry/metrics/words"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/lib/webpage"
)

// maxURL is the longest link, in bytes, as given and as sent.
const maxURL = 2048

var (
	errSpelling = words.Because(errors.New("not a link; expected one as in https://t.cn/A6abc or t.cn/A6abc"),
		"is not a link", "不是链接")
	errScheme = words.Because(fmt.Errorf("%w: scheme is not http or https; expected a link as in https://t.cn/A6abc", ErrForbidden),
		"has a scheme other than http and https", "的协议不是 http 或 https")
	errCredentials = words.Because(fmt.Errorf("%w: user name or password in the URL; expected a link as in https://t.cn/A6abc", ErrForbidden),
		"contains a user name or password", "含有用户名或密码")
	errLong = words.Because(errors.New("link is longer than 2048 bytes; expected one as in https://t.cn/A6abc"),
		"is longer than 2048 bytes", "超过 2048 字节")
)

// Normalize parses a caller's input, a link with or without its scheme, and returns
// its canonical form: https if it has no scheme, host in lower case and punycode, no
// default port, no fragment, the query in its order. The result has at most 2048
// bytes. The error says what is allowed, and does not contain the input; it is ErrForbidden for other schemes and for credentials.
// Whether the host may be requested is decided by the Resolver's Check: addresses
// are accepted here, in ambiguous forms too.
func Normalize(raw string) (string, error) {
	raw = strings.TrimSpace(raw)
	if len(raw) > maxURL {
		return "", errLong
	}
	scheme, _, hasScheme := strings.Cut(raw, "://")
	switch {
	case !hasScheme && !strings.ContainsAny(raw, ".:。．"):
		return "", errSpelling // a word: no public name is without a dot
	case !hasScheme || strings.ContainsAny(scheme, "./?#"):
		raw = "https://" + strings.TrimPrefix(raw, "//")
	case !isWeb(strings.ToLower(scheme)):
		return "", errScheme
	}
	u, err := url.Parse(escaped(raw))
	switch {
	case err != nil:
		return "", errSpelling // the cause would contain the input
	case u.User != nil:
		return "", errCredentials
	}
	if u.Host, err = canonicalHost(u); err != nil {
		return "", err
	}
	u.Fragment, u.RawFragment, u.ForceQuery = "", "", false
	if u.Path == "" {
		u.Path = "/"
	}
	if len(u.String()) > maxURL {
		return "", errLong
	}
	return u.String(), nil
}

func isWeb(scheme string) bool { return scheme == "http" || scheme == "https" }

// escaped percent-encodes what is not valid in a URL but common in links.
func escaped(raw string) string { return webpage.Escape(raw) }

// canonicalHost is the host, with the port unless it is the scheme's default.
func canonicalHost(u *url.URL) (string, error) {
	host, err := canonicalName(u.Hostname())
	if err != nil {
		return "", err
	}
	defaultPort := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	port := u.Port()
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return "", errSpelling
		}
		port = strconv.FormatUint(n, 10)
	}
	if port != "" && port != defaultPort {
		return net.JoinHostPort(host, port), nil
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]", nil
	}
	return host, nil
}

// canonicalName is the canonical form of a name or address. Ambiguous forms of
// addresses are left to the Resolver's Check, which refuses and counts them.
func canonicalName(name string) (string, error) {
	canonical, err := guard.CheckHost(name)
	switch {
	case errors.Is(err, guard.ErrAmbiguousAddress):
		return strings.ToLower(name), nil
	case err != nil:
		return "", errSpelling
	}
	return canonical, nil
}

// tracking are query keys that say where a link was shared, not what it is to.
var tracking = []string{
	"fbclid", "gclid", "gbraid", "wbraid", "yclid", "igshid", "mc_cid", "mc_eid", "_hsenc",
	"spm", "scm", "spm_id_from", "from_spmid", "vd_source", "unique_k",
	"share_source", "share_medium", "share_plat", "share_session_id", "share_tag",
}

// clean removes tracking keys, and leaves the rest of a URL byte for byte.
func clean(raw string) string {
	rest, fragment, hasFragment := strings.Cut(raw, "#")
	base, query, ok := strings.Cut(rest, "?")
	if !ok {
		return raw
	}
	pairs := strings.Split(query, "&")
	remaining := slices.DeleteFunc(slices.Clone(pairs), isTracking)
	if len(remaining) == len(pairs) {
		return raw
	}
	if len(remaining) > 0 {
		base += "?" + strings.Join(remaining, "&")
	}
	if hasFragment {
		base += "#" + fragment
	}
	return base
}

func isTracking(pair string) bool {
	key, _, _ := strings.Cut(pair, "=")
	if plain, err := url.QueryUnescape(key); err == nil {
		key = plain
	}
	key = strings.ToLower(key)
	return strings.HasPrefix(key, "utm_") || slices.Contains(tracking, key)
}
