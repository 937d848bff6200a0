package minecraft

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"sundry/metrics/words"
	"sundry/upstreams/lib/guard"
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
var ErrPort error = words.NewError("port is not one that game servers use", "端口不是游戏服务器会用的端口")

var (
	errEmpty  = words.NewError("host is missing", "缺少主机名")
	errLength = words.NewError("host is longer than 253 characters", "主机名超过 253 个字符")
	errLabel  = words.NewError("host must consist of labels of 1 to 63 letters, digits, - and _ with dots between them",
		"主机名由点分隔，每段须为 1 到 63 个字母、数字、- 或 _")
	errIDN       = words.NewError("host is not a valid internationalized domain name", "主机名不是有效的国际化域名")
	errAmbiguous = words.NewError("ambiguous form of an IPv4 address", "IPv4 地址的写法有歧义")
	errZone      = words.NewError("IPv6 address must not have a zone", "IPv6 地址不能带区域标识")
	errBrackets  = words.NewError("brackets must contain an IPv6 address, followed by nothing or by :port",
		"方括号内须为 IPv6 地址，其后不能有别的内容，或只能是冒号和端口")
	errPort   = words.NewError("port is not a number from 1 to 65535", "端口不是 1 到 65535 的数字")
	errNoPort = words.NewError("port is missing after the colon", "冒号后缺少端口")
)

// ParseTarget parses host, host:port, [v6]:port or a bare IPv6 address. White
// space around it is dropped. The error says what is wrong, and does not
// contain the input.
func ParseTarget(s string) (Target, error) {
	host, port, err := splitPort(strings.TrimSpace(s))
	if err != nil {
		return Target{}, err
	}
	t := Target{Port: DefaultPort}
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return Target{}, errPort
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
		return "", "", errNoPort
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
	name, err := guard.ASCII(strings.ToLower(strings.TrimSuffix(host, ".")))
	switch {
	case err != nil:
		return "", errIDN
	case name == "":
		return "", errEmpty
	case len(name) > 253:
		return "", errLength
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if !guard.IsLabel(l) {
			return "", errLabel
		}
	}
	if last := labels[len(labels)-1]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return "", errAmbiguous
	}
	return name, nil
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
