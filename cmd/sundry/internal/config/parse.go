package config

import (
	"cmp"
	"context"
	"math"
	"net"
	"net/mail"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sundry/cache/far"
	"sundry/metrics/words"
	"sundry/proxy"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/guard"
)

// checked returns a parser of texts for which right is true.
func checked(right func(string) bool) func(string) (string, error) {
	return func(s string) (string, error) {
		if !right(s) {
			return "", errInvalid
		}
		return s, nil
	}
}

func isAddress(s string) bool {
	host, port, err := net.SplitHostPort(s)
	if err != nil || port == "" {
		return false
	}
	if _, err := net.DefaultResolver.LookupPort(context.Background(), "tcp", port); err != nil {
		return false
	}
	if _, err := netip.ParseAddr(host); host == "" || err == nil {
		return true
	}
	_, err = guard.CheckHost(host)
	return err == nil
}

func parseRedis(s string) (string, error) {
	err := far.CheckURL(s)
	if err == nil {
		return s, nil
	}
	en := strings.TrimPrefix(err.Error(), "redis: ")
	if strings.HasPrefix(en, "option ") {
		return "", words.NewError(en, "选项有误（详情为英文）："+en)
	}
	return "", words.NewError(en, "应为 redis://[用户名:密码@]主机:端口/0、unix:///路径、"+
		"redis://主机:端口/0?master_name=main&addr=主机:端口（哨兵）或 redis+cluster://主机:端口?addr=主机:端口；"+
		"有用户名就要有密码；用 TLS 时以 rediss 代替 redis，特殊字符写成 %XX")
}

func isBasePath(s string) bool { return proxy.CheckBasePath(s) == nil }

// hostName matches what the Host field of a plain request holds: a name, or an address,
// and a port.
var hostName = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// webURL is an http or https URL with a host.
func webURL(s string) (u *url.URL, ok bool) {
	u, err := url.Parse(s)
	ok = err == nil && (u.Scheme == "http" || u.Scheme == "https") && hostName.MatchString(u.Host)
	return u, ok
}

// isPublicURL reports whether a text is an origin.
func isPublicURL(s string) bool {
	u, ok := webURL(s)
	return ok && s == u.Scheme+"://"+u.Host
}

// parseGrafanaURL reads the address that paths of Grafana are appended to: without a slash at
// the end.
func parseGrafanaURL(s string) (string, error) {
	u, ok := webURL(s)
	if !ok || u.User != nil || strings.ContainsAny(s, "?#") {
		return "", errInvalid
	}
	return strings.TrimRight(s, "/"), nil
}

// parseOrigin reads the origin of a page.
func parseOrigin(s string) (string, error) {
	return checked(isPublicURL)(strings.ToLower(s))
}

// isContact reports whether a text is an e-mail address, or the URL of a page.
func isContact(s string) bool {
	if !printable(s) || strings.ContainsAny(s, "() ") {
		return false
	}
	if u, ok := webURL(s); ok {
		return u.User == nil
	}
	return isEmail(s)
}

func isEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s
}

// maxAgent bounds a User-Agent; those of browsers are shorter.
const maxAgent = 512

func isAgent(s string) bool {
	return len(s) <= maxAgent && printable(s) && strings.TrimSpace(s) == s
}

// printable reports whether a text can stand in a header.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

func parseDirectory(s string) (string, error) {
	st, err := os.Stat(s)
	if err == nil && !st.IsDir() {
		err = errInvalid
	}
	return s, err
}

func parseFile(s string) (string, error) {
	st, err := os.Stat(s)
	if err == nil && st.IsDir() {
		err = errInvalid
	}
	return s, err
}

func parseGeoFile(s string) (string, error) {
	if ext := strings.ToLower(filepath.Ext(s)); ext != ".mmdb" && ext != ".xdb" {
		return "", errInvalid
	}
	_, err := os.Stat(s)
	return s, err
}

// newDirectory says what isNewDirectory expects.
func newDirectory() words.Text {
	return words.Say("a directory, or a new one in a directory that exists", "目录，不存在时其上级目录须已存在")
}

// isNewDirectory reports whether a text names a directory that exists, or that this program can make.
func isNewDirectory(s string) bool {
	st, err := os.Stat(s)
	if err == nil {
		return st.IsDir()
	}
	st, err = os.Stat(filepath.Dir(s))
	return err == nil && st.IsDir()
}

func oneOf(allowed ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		return checked(func(s string) bool { return slices.Contains(allowed, s) })(strings.ToLower(s))
	}
}

// language parses that of a setting, which may be written as a locale, such as zh_CN.
func language(s string) (string, error) {
	name, _, _ := strings.Cut(strings.ReplaceAll(s, "_", "-"), "-")
	return oneOf("zh", "en")(name)
}

// within returns a parser of values in bounds.
func within[T cmp.Ordered](least, most T, parse func(string) (T, error)) func(string) (T, error) {
	return func(s string) (T, error) {
		v, err := parse(s)
		inBounds := v >= least && v <= most // NaN is in none
		if err != nil || !inBounds {
			return v, errInvalid
		}
		return v, nil
	}
}

func whole[T int | int64 | uint64](least, most T) func(string) (T, error) {
	return within(least, most, func(s string) (T, error) {
		v, err := strconv.ParseInt(s, 10, 64)
		return T(v), err
	})
}

func wholeRange(least, most int64) words.Text {
	return words.Sayf("a whole number from %d to %d", "%d 到 %d 的整数", least, most)
}

func parseFloat(s string) (float64, error) { return strconv.ParseFloat(s, 64) }

func parseRate(s string) (float64, error) {
	v, err := parseFloat(s)
	if err == nil && v == 0 {
		return math.Abs(v), nil // so that -0 becomes 0
	}
	return within(0.001, maxRate, parseFloat)(s)
}

// parsePrefix reads 10.0.0.0/8; a single address counts as a range of one.
// Callers' addresses are compared as IPv4 where they are IPv4 in IPv6.
func parsePrefix(s string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(s)
	if err != nil {
		return p, errInvalid
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return p, errInvalid
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

func parseHost(s string) (string, error) {
	name, err := guard.CheckHost(s)
	if err != nil {
		return "", errInvalid
	}
	return name, nil
}

// Size is a number of bytes, as in 256MiB.
type Size int64

// String formats whole MiB as such, anything else in bytes.
func (b Size) String() string {
	if b%(1<<20) == 0 {
		return strconv.FormatInt(int64(b)>>20, 10) + "MiB"
	}
	return strconv.FormatInt(int64(b), 10)
}

func parseSize(s string) (Size, error) {
	v, err := declare.ParseSize(s)
	return Size(min(v, 2*maxMemory)), err // NaN is below all bounds
}

func sizeRange(least int64) words.Text {
	return words.Sayf("%dMiB to %dGiB", "%dMiB 到 %dGiB", least>>20, int64(maxMemory)>>30)
}

// Choice is "true", "false" or, where it is not set, "".
type Choice string

func parseChoice(s string) (Choice, error) {
	if s != "true" && s != "false" {
		return "", errInvalid
	}
	return Choice(s), nil
}

func parseBool(s string) (bool, error) {
	c, err := parseChoice(s)
	return c == "true", err
}
