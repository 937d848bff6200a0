package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sundry/cache"
	"sundry/cache/far"
	"sundry/proxy"
	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/loop"
)

// setting is one key of sundry.yaml. The table of them is the one place that
// describes a setting: reading file, environment and flags, messages about
// mistakes, and reloads all follow it.
type setting struct {
	key      string // with its section, as in limits.rate
	expected string // what is allowed
	example  string // an example
	// alias is a second name of its variable, kept for older deployments.
	alias      string
	reloadable bool // a change takes effect with a reload; else with a restart
	empty      bool // the empty text is a value
	secret     bool // its value is never shown
	pairs      bool // a list of name=value, which the file may have as a mapping

	read  func(into *config, text string) error    // errInvalid: it is not what the setting expects
	items func(into *config, texts []string) error // read for a list; nil for a single value
	show  func(c *config) string                   // the value, to compare it and to print it
	carry func(into, from *config)                 // copies the value
}

// errInvalid is returned for a value that is not what the setting expects.
var errInvalid = errors.New("not the expected value")

// variable is the setting's name in the environment.
func (s *setting) variable() string {
	return "SUNDRY_" + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

// variables are its names in the environment.
func (s *setting) variables() []string {
	if s.alias != "" {
		return []string{s.variable(), s.alias}
	}
	return []string{s.variable()}
}

// mistake says what is wrong with a value.
func (s *setting) mistake(value string, err error) string {
	text := s.key + ": "
	if !s.secret {
		text += strconv.Quote(value) + ": "
	}
	if !errors.Is(err, errInvalid) {
		return text + err.Error()
	}
	return text + "expected " + s.expected + ", such as " + s.example
}

// single makes a setting of one value, which is stored in a field of the
// configuration.
func single[T any](s setting, at func(*config) *T, parse func(string) (T, error)) setting {
	s.read = func(c *config, text string) error {
		v, err := parse(text)
		if err == nil {
			*at(c) = v
		}
		return err
	}
	s.show = func(c *config) string { return fmt.Sprint(*at(c)) }
	s.carry = func(into, from *config) { *at(into) = *at(from) }
	return s
}

// list makes a setting of several values, separated by commas in the
// environment.
func list[T any](s setting, at func(*config) *[]T, parse func(string) (T, error)) setting {
	s.empty = true
	s.items = func(c *config, texts []string) error {
		items := make([]T, 0, len(texts))
		for _, text := range texts {
			v, err := parse(text)
			if err != nil {
				return err
			}
			items = append(items, v)
		}
		*at(c) = items
		return nil
	}
	s.read = func(c *config, text string) error { return s.items(c, splitList(text)) }
	s.show = func(c *config) string { return fmt.Sprint(*at(c)) }
	s.carry = func(into, from *config) { *at(into) = *at(from) }
	return s
}

func splitList(text string) []string {
	var out []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// Bounds of settings: a value beyond them is taken for a typing mistake.
const (
	maxRate     = 1e6
	maxBurst    = 1e6
	maxInFlight = 10_000_000
	maxFills    = 1_000_000
	maxMemory   = 1 << 40
	maxSample   = 1e9
	maxDelay    = 10 * time.Minute

	maxQueueDelay = 10 * time.Second
	maxTimeout    = time.Hour
)

// settings are all settings but endpoints, in the order of deploy/sundry.yaml.
func settings() []setting {
	return []setting{
		single(setting{key: "listen", expected: "an address and a port", example: ":8080"}, func(c *config) *string { return &c.Listen }, parseAddress),
		single(setting{key: "admin", expected: "an address and a port", example: "127.0.0.1:9090"}, func(c *config) *string { return &c.Admin }, parseAddress),
		single(setting{key: "redis", alias: "SUNDRY_REDIS_URL", secret: true, empty: true}, func(c *config) *string { return &c.Redis }, parseRedis),
		single(setting{key: "catalog", expected: "a directory", example: "/etc/sundry/catalog", empty: true}, func(c *config) *string { return &c.Catalog }, parseDirectory),
		single(setting{key: "base_path", expected: "a path that begins with a slash and does not end with one", example: "/tools", empty: true}, func(c *config) *string { return &c.BasePath }, parseBasePath),
		single(setting{key: "public_url", expected: "http or https, a host, and a port if need be, without a path", example: "https://api.example.org", reloadable: true, empty: true},
			func(c *config) *string { return &c.PublicURL }, parsePublicURL),
		single(setting{key: "grafana_url", expected: "http or https, a host, and a path if need be, without a user, a query and a fragment", example: "https://grafana.example.org", reloadable: true, empty: true},
			func(c *config) *string { return &c.GrafanaURL }, parseGrafanaURL),
		single(setting{key: "log_format", expected: "text or json", example: "json"}, func(c *config) *string { return &c.LogFormat }, oneOf("text", "json")),
		single(setting{key: "log_level", expected: "debug, info, warn or error", example: "info", reloadable: true},
			func(c *config) *string { return &c.LogLevel }, oneOf("debug", "info", "warn", "error")),
		single(setting{key: "log_hits", expected: wholeRange(1, maxSample), example: "100", reloadable: true},
			func(c *config) *uint64 { return &c.LogHits }, whole[uint64](1, maxSample)),
		single(setting{key: "log_refusals", expected: wholeRange(1, maxSample), example: "100", reloadable: true},
			func(c *config) *uint64 { return &c.LogRefusals }, whole[uint64](1, maxSample)),
		single(setting{key: "log_keys", expected: "true or false", example: "true", reloadable: true}, func(c *config) *bool { return &c.LogKeys }, parseBool),
		list(setting{key: "trusted_proxies", expected: "an address range", example: "10.0.0.0/8", reloadable: true},
			func(c *config) *[]netip.Prefix { return &c.Trusted }, parsePrefix),
		single(setting{key: "forwarded", expected: "one of either, x-forwarded-for and forwarded", example: "x-forwarded-for", reloadable: true},
			func(c *config) *string { return &c.Forwarded }, oneOf(string(proxy.ByEither), string(proxy.ByXForwardedFor), string(proxy.ByForwarded))),
		list(setting{key: "allow_targets", expected: "an address range", example: "10.0.0.0/8", reloadable: true},
			func(c *config) *[]netip.Prefix { return &c.AllowTargets }, parsePrefix),
		list(setting{key: "own_hosts", expected: "a host name without scheme, port and path", example: "api.example.org", reloadable: true},
			func(c *config) *[]string { return &c.OwnHosts }, parseHost),
		single(setting{key: "loop_id", expected: "1 to 64 letters, digits, dots, hyphens and underscores", example: "example-1", reloadable: true, empty: true},
			func(c *config) *string { return &c.LoopID }, parseLoopID),
		single(setting{key: "contact", expected: "an e-mail address, or the URL of a page", example: "https://example.org/about", reloadable: true, empty: true},
			func(c *config) *string { return &c.Contact }, parseContact),
		single(setting{key: "user_agent", expected: "up to 512 letters, digits and signs of ASCII", example: "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0", reloadable: true, empty: true},
			func(c *config) *string { return &c.UserAgent }, parseAgent),
		single(setting{key: "proxy", reloadable: true, secret: true, empty: true}, func(c *config) *string { return &c.Proxy }, parseProxy),
		list(setting{key: "proxies", expected: "the URL of a proxy for each endpoint or source", example: "vidparse: socks5://127.0.0.1:1080", reloadable: true, secret: true, pairs: true},
			func(c *config) *[]string { return &c.Proxies }, parseProxyOf),
		list(setting{key: "geo_file", expected: "files ending in .mmdb or .xdb", example: "/var/lib/sundry/city.mmdb", reloadable: true},
			func(c *config) *[]string { return &c.GeoFiles }, parseGeoFile),
		single(setting{key: "state", expected: "a file in a directory that exists", example: "/var/lib/sundry/state", empty: true},
			func(c *config) *string { return &c.State }, parseOutput),
		single(setting{key: "drain_delay", expected: "a duration from 0s to 10m", example: "5s", reloadable: true}, func(c *config) *time.Duration { return &c.DrainDelay }, span(0, maxDelay)),
		single(setting{key: "drain_timeout", expected: "a duration from 0s to 1h", example: "20s", reloadable: true}, func(c *config) *time.Duration { return &c.DrainTimeout }, span(0, maxTimeout)),
		single(setting{key: "express", expected: "true or false", example: "false"}, func(c *config) *bool { return &c.Express }, parseBool),
		single(setting{key: "mcp", expected: "true or false", example: "true", reloadable: true}, func(c *config) *bool { return &c.MCP }, parseBool),
		list(setting{key: "mcp_origins", expected: "a scheme and a host, with a port if it is not the usual one", example: "https://agent.example.org", reloadable: true},
			func(c *config) *[]string { return &c.MCPOrigins }, parseOrigin),
		single(setting{key: "reuse_port", expected: "true or false", example: "true"}, func(c *config) *bool { return &c.ReusePort }, parseBool),
		single(setting{key: "limits.rate", expected: "a number of requests per second from 0.001 to 1000000, or 0 for no limit", example: "20", reloadable: true},
			func(c *config) *float64 { return &c.Limits.Rate }, parseRate),
		single(setting{key: "limits.burst", expected: wholeRange(0, maxBurst), example: "40", reloadable: true},
			func(c *config) *int { return &c.Limits.Burst }, whole[int](0, maxBurst)),
		single(setting{key: "limits.shared", expected: "true or false", example: "false", reloadable: true},
			func(c *config) *bool { return &c.Limits.Shared }, parseBool),
		single(setting{key: "limits.in_flight", expected: wholeRange(1, maxInFlight), example: "10000", reloadable: true},
			func(c *config) *int64 { return &c.Limits.InFlight }, whole[int64](1, maxInFlight)),
		single(setting{key: "limits.in_flight_share", expected: "a share from 0.01 to 1", example: "0.5", reloadable: true},
			func(c *config) *float64 { return &c.Limits.Share }, parseShare),
		single(setting{key: "limits.queue_delay", expected: "a duration from 0s to 10s", example: "20ms", reloadable: true},
			func(c *config) *time.Duration { return &c.Limits.QueueDelay }, span(0, maxQueueDelay)),
		single(setting{key: "limits.fills", expected: wholeRange(1, maxFills), example: "2000"}, func(c *config) *int { return &c.Fills }, whole[int](1, maxFills)),
		single(setting{key: "limits.reply_memory", expected: sizeRange(upstreams.MinBudget), example: "128MiB"},
			func(c *config) *size { return &c.ReplyMemory }, parseSize(upstreams.MinBudget)),
		single(setting{key: "cache.memory", alias: "SUNDRY_MEMORY", expected: sizeRange(cache.MinMemory), example: "256MiB"},
			func(c *config) *size { return &c.Cache.Memory }, parseSize(cache.MinMemory)),
		single(setting{key: "cache.snapshot", expected: "a file in a directory that exists", example: "/var/lib/sundry/snapshot", empty: true},
			func(c *config) *string { return &c.Cache.Snapshot }, parseOutput),
		single(setting{key: "cache.warm", expected: "true or false", example: "false"}, func(c *config) *choice { return &c.Cache.Warm }, parseChoice),
	}
}

// find is the setting of a key; nil where there is none.
func find(all []setting, key string) *setting {
	if i := slices.IndexFunc(all, func(s setting) bool { return s.key == key }); i >= 0 {
		return &all[i]
	}
	return nil
}

func parseAddress(s string) (string, error) {
	host, port, err := net.SplitHostPort(s)
	if err != nil || port == "" {
		return "", errInvalid
	}
	if _, err := net.DefaultResolver.LookupPort(context.Background(), "tcp", port); err != nil {
		return "", errInvalid
	}
	if _, err := netip.ParseAddr(host); host == "" || err == nil {
		return s, nil
	}
	if _, err := guard.CheckHost(host); err != nil {
		return "", errInvalid
	}
	return s, nil
}

func parseRedis(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	if err := far.CheckURL(s); err != nil {
		return "", errors.New(strings.TrimPrefix(err.Error(), "redis: "))
	}
	return s, nil
}

func parseBasePath(s string) (string, error) {
	if proxy.CheckBasePath(s) != nil {
		return "", errInvalid
	}
	return s, nil
}

// parsePublicURL reads an origin.
func parsePublicURL(s string) (string, error) {
	u, err := url.Parse(s)
	if s != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || proxy.CheckHost(u.Host) != nil || s != u.Scheme+"://"+u.Host) {
		return "", errInvalid
	}
	return s, nil
}

// parseGrafanaURL reads the address that paths of Grafana are appended to: without a slash at
// the end.
func parseGrafanaURL(s string) (string, error) {
	u, err := url.Parse(s)
	if s != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || proxy.CheckHost(u.Host) != nil || u.User != nil || strings.ContainsAny(s, "?#")) {
		return "", errInvalid
	}
	return strings.TrimRight(s, "/"), nil
}

// parseOrigin reads the origin of a page.
func parseOrigin(s string) (string, error) {
	if s == "" {
		return "", errInvalid
	}
	return parsePublicURL(strings.ToLower(s))
}

func parseDirectory(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	st, err := os.Stat(s)
	if err == nil && !st.IsDir() {
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

// parseOutput reads the name of a file that this program writes.
func parseOutput(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	if st, err := os.Stat(s); err == nil && st.IsDir() {
		return "", errInvalid
	}
	if st, err := os.Stat(filepath.Dir(s)); err != nil || !st.IsDir() {
		return "", errInvalid
	}
	return s, nil
}

func oneOf(allowed ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if s = strings.ToLower(s); slices.Contains(allowed, s) {
			return s, nil
		}
		return "", errInvalid
	}
}

func whole[T int | int64 | uint64](least, most int64) func(string) (T, error) {
	return func(s string) (T, error) {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v < least || v > most {
			return 0, errInvalid
		}
		return T(v), nil
	}
}

func wholeRange(least, most int64) string {
	return fmt.Sprintf("a whole number from %d to %d", least, most)
}

func parseRate(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v != 0 && !(v >= 0.001 && v <= maxRate) {
		return 0, errInvalid
	}
	return math.Abs(v), nil // so that -0 becomes 0
}

func parseShare(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0.01 && v <= 1) {
		return 0, errInvalid
	}
	return v, nil
}

func span(least, most time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		v, err := declare.ParseDuration(s)
		if err != nil || v < least || v > most {
			return 0, errInvalid
		}
		return v, nil
	}
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

func parseLoopID(s string) (string, error) {
	if s != "" && !loop.CheckID(s) {
		return "", errInvalid
	}
	return s, nil
}

// size is a number of bytes, as in 256MiB.
type size int64

// String formats whole MiB as such, anything else in bytes.
func (b size) String() string {
	if b%(1<<20) == 0 {
		return strconv.FormatInt(int64(b)>>20, 10) + "MiB"
	}
	return strconv.FormatInt(int64(b), 10)
}

// parseSize returns a parser of sizes such as 256MiB, between least and maxMemory.
func parseSize(least float64) func(string) (size, error) {
	return func(s string) (size, error) {
		text, unit := s, float64(1)
		for suffix, u := range map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
			if rest, ok := strings.CutSuffix(s, suffix); ok {
				text, unit = rest, u
			}
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(v*unit >= least && v*unit <= maxMemory) {
			return 0, errInvalid
		}
		return size(v * unit), nil
	}
}

func sizeRange(least int64) string {
	return fmt.Sprintf("%dMiB to %dGiB", least>>20, maxMemory>>30)
}

// choice is "true", "false" or, where it is not set, "".
type choice string

func parseChoice(s string) (choice, error) {
	if s != "true" && s != "false" {
		return "", errInvalid
	}
	return choice(s), nil
}

func parseBool(s string) (bool, error) {
	c, err := parseChoice(s)
	return c == "true", err
}
