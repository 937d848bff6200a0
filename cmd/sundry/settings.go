package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
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
	"sundry/upstreams/guard"
	"sundry/upstreams/loop"
)

// setting is one key of sundry.yaml. The table of them is the one place where a
// setting is described: what is read from file, environment and flags, what is
// a mistake, and what a reload does are made of it.
type setting struct {
	key  string // with its section, as in limits.rate
	want string // what is allowed
	like string // an example
	// also is another name of its variable, from before there was a rule.
	also   string
	live   bool // a reload applies it
	empty  bool // the empty text is a value
	secret bool // what it is set to is not shown

	read  func(into *config, text string) error // errWant: it is not what is wanted
	items func(into *config, texts []string) error
	show  func(c *config) string
	carry func(into, from *config)
}

// errWant is of a value that is not what the setting wants.
var errWant = errors.New("not what is wanted")

// variable is the setting's name in the environment.
func (s *setting) variable() string {
	return "SUNDRY_" + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

// variables are its names there.
func (s *setting) variables() []string {
	if s.also != "" {
		return []string{s.variable(), s.also}
	}
	return []string{s.variable()}
}

// mistake says what is wrong with a value.
func (s *setting) mistake(value string, err error) string {
	text := s.key + ": "
	if !s.secret {
		text += strconv.Quote(value) + ": "
	}
	if !errors.Is(err, errWant) {
		return text + err.Error()
	}
	return text + "want " + s.want + ", as in " + s.like
}

// one makes a setting of a single value, which lies at a place of the
// configuration.
func one[T any](s setting, at func(*config) *T, parse func(string) (T, error)) setting {
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

// many makes a setting of a list, which the environment parts with commas.
func many[T any](s setting, at func(*config) *[]T, parse func(string) (T, error)) setting {
	s.empty = true
	s.items = func(c *config, texts []string) error {
		list := make([]T, 0, len(texts))
		for _, text := range texts {
			v, err := parse(text)
			if err != nil {
				return err
			}
			list = append(list, v)
		}
		*at(c) = list
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

// Bounds of settings: what is beyond them is a slip of the pen.
const (
	maxRate     = 1e6
	maxBurst    = 1e6
	maxInFlight = 10_000_000
	maxFills    = 1_000_000
	maxMemory   = 1 << 40
	maxLogHits  = 1e9
	maxDelay    = 10 * time.Minute

	maxQueueDelay = 10 * time.Second
	maxTimeout    = time.Hour
)

// settings are all there are, but for endpoints, in the order of deploy/sundry.yaml.
func settings() []setting {
	return []setting{
		one(setting{key: "listen", want: "an address and a port", like: ":8080"}, func(c *config) *string { return &c.Listen }, parseAddress),
		one(setting{key: "admin", want: "an address and a port", like: "127.0.0.1:9090"}, func(c *config) *string { return &c.Admin }, parseAddress),
		one(setting{key: "redis", also: "SUNDRY_REDIS_URL", secret: true, empty: true}, func(c *config) *string { return &c.Redis }, parseRedis),
		one(setting{key: "catalog", want: "a directory", like: "/etc/sundry/catalog", empty: true}, func(c *config) *string { return &c.Catalog }, parseDirectory),
		one(setting{key: "base_path", want: "a path such as /tools, without a slash at its end", like: "/tools", empty: true}, func(c *config) *string { return &c.BasePath }, parseBasePath),
		one(setting{key: "log_format", want: "text or json", like: "json"}, func(c *config) *string { return &c.LogFormat }, oneOf("text", "json")),
		one(setting{key: "log_level", want: "debug, info, warn or error", like: "info", live: true},
			func(c *config) *string { return &c.LogLevel }, oneOf("debug", "info", "warn", "error")),
		one(setting{key: "log_hits", want: wholeWords(1, maxLogHits), like: "100", live: true},
			func(c *config) *uint64 { return &c.LogHits }, whole[uint64](1, maxLogHits)),
		one(setting{key: "log_refusals", want: wholeWords(1, maxLogHits), like: "100", live: true},
			func(c *config) *uint64 { return &c.LogRefusals }, whole[uint64](1, maxLogHits)),
		many(setting{key: "trusted_proxies", want: "an address range", like: "10.0.0.0/8", live: true},
			func(c *config) *[]netip.Prefix { return &c.Trusted }, parsePrefix),
		one(setting{key: "forwarded", want: "either, x-forwarded-for or forwarded", like: "x-forwarded-for", live: true},
			func(c *config) *string { return &c.Forwarded }, oneOf(string(proxy.ByEither), string(proxy.ByXForwardedFor), string(proxy.ByForwarded))),
		many(setting{key: "allow_targets", want: "an address range", like: "10.0.0.0/8", live: true},
			func(c *config) *[]netip.Prefix { return &c.AllowTargets }, parsePrefix),
		many(setting{key: "own_hosts", want: "a host's name, without scheme, port and path", like: "api.example.org", live: true},
			func(c *config) *[]string { return &c.OwnHosts }, parseHost),
		one(setting{key: "loop_id", want: "1 to 64 letters, digits, dots, hyphens and underscores", like: "example-1", live: true, empty: true},
			func(c *config) *string { return &c.LoopID }, parseLoopID),
		one(setting{key: "geo_file", want: "a file ending in .mmdb or .xdb", like: "/var/lib/sundry/city.mmdb", empty: true},
			func(c *config) *string { return &c.GeoFile }, parseGeoFile),
		one(setting{key: "state", want: "a file in a directory that exists", like: "/var/lib/sundry/state", empty: true},
			func(c *config) *string { return &c.State }, parseState),
		one(setting{key: "drain_delay", want: "a span from 0s to 10m", like: "5s", live: true}, func(c *config) *time.Duration { return &c.DrainDelay }, span(0, maxDelay)),
		one(setting{key: "drain_timeout", want: "a span from 0s to 1h", like: "20s", live: true}, func(c *config) *time.Duration { return &c.DrainTimeout }, span(0, maxTimeout)),
		one(setting{key: "limits.rate", want: "requests a second, 0 (no limit) or 0.001 to 1000000", like: "20", live: true},
			func(c *config) *float64 { return &c.Limits.Rate }, parseRate),
		one(setting{key: "limits.burst", want: wholeWords(0, maxBurst), like: "40", live: true},
			func(c *config) *int { return &c.Limits.Burst }, whole[int](0, maxBurst)),
		one(setting{key: "limits.in_flight", want: wholeWords(1, maxInFlight), like: "10000", live: true},
			func(c *config) *int64 { return &c.Limits.InFlight }, whole[int64](1, maxInFlight)),
		one(setting{key: "limits.in_flight_share", want: "a share from 0.01 to 1", like: "0.5", live: true},
			func(c *config) *float64 { return &c.Limits.Share }, parseShare),
		one(setting{key: "limits.queue_delay", want: "a span from 0s to 10s", like: "20ms", live: true},
			func(c *config) *time.Duration { return &c.Limits.Delay }, span(0, maxQueueDelay)),
		one(setting{key: "limits.fills", want: wholeWords(1, maxFills), like: "2000"}, func(c *config) *int { return &c.Fills }, whole[int](1, maxFills)),
		one(setting{key: "limits.reply_memory", want: sizeWords(upstreams.MinBudget), like: "128MiB"},
			func(c *config) *size { return &c.ReplyMemory }, parseSize(upstreams.MinBudget)),
		one(setting{key: "cache.memory", also: "SUNDRY_MEMORY", want: sizeWords(cache.MinMemory), like: "256MiB"},
			func(c *config) *size { return &c.Cache.Memory }, parseSize(cache.MinMemory)),
		one(setting{key: "cache.warm", want: "true or false", like: "false"}, func(c *config) *choice { return &c.Cache.Warm }, parseChoice),
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
		return "", errWant
	}
	if _, err := net.DefaultResolver.LookupPort(context.Background(), "tcp", port); err != nil {
		return "", errWant
	}
	if _, err := netip.ParseAddr(host); host == "" || err == nil {
		return s, nil
	}
	if _, err := guard.CheckHost(host); err != nil {
		return "", errWant
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
		return "", errWant
	}
	return s, nil
}

func parseDirectory(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	st, err := os.Stat(s)
	if err == nil && !st.IsDir() {
		err = errWant
	}
	return s, err
}

func parseGeoFile(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	if ext := strings.ToLower(filepath.Ext(s)); ext != ".mmdb" && ext != ".xdb" {
		return "", errWant
	}
	_, err := os.Stat(s)
	return s, err
}

func parseState(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	if st, err := os.Stat(s); err == nil && st.IsDir() {
		return "", errWant
	}
	if st, err := os.Stat(filepath.Dir(s)); err != nil || !st.IsDir() {
		return "", errWant
	}
	return s, nil
}

func oneOf(allowed ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if s = strings.ToLower(s); slices.Contains(allowed, s) {
			return s, nil
		}
		return "", errWant
	}
}

func whole[T int | int64 | uint64](least, most int64) func(string) (T, error) {
	return func(s string) (T, error) {
		v, err := strconv.ParseInt(s, 10, 64)
		if err != nil || v < least || v > most {
			return 0, errWant
		}
		return T(v), nil
	}
}

func wholeWords(least, most int64) string {
	return fmt.Sprintf("a whole number from %d to %d", least, most)
}

func parseRate(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v != 0 && !(v >= 0.001 && v <= maxRate) {
		return 0, errWant
	}
	return math.Abs(v), nil // of a negative zero
}

func parseShare(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0.01 && v <= 1) {
		return 0, errWant
	}
	return v, nil
}

func span(least, most time.Duration) func(string) (time.Duration, error) {
	return func(s string) (time.Duration, error) {
		v, err := declare.ParseDuration(s)
		if err != nil || v < least || v > most {
			return 0, errWant
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
		return p, errWant
	}
	if p.Addr().Is4In6() {
		if p.Bits() < 96 {
			return p, errWant
		}
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked(), nil
}

func parseHost(s string) (string, error) {
	name, err := guard.CheckHost(s)
	if err != nil {
		return "", errWant
	}
	return name, nil
}

func parseLoopID(s string) (string, error) {
	if s != "" && !loop.CheckID(s) {
		return "", errWant
	}
	return s, nil
}

// size is a number of bytes, as in 256MiB.
type size int64

// String is in MiB where these are whole.
func (b size) String() string {
	if b%(1<<20) == 0 {
		return strconv.FormatInt(int64(b)>>20, 10) + "MiB"
	}
	return strconv.FormatInt(int64(b), 10)
}

// parseSize reads 256MiB, from the least to maxMemory.
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
			return 0, errWant
		}
		return size(v * unit), nil
	}
}

func sizeWords(least int64) string {
	return fmt.Sprintf("%dMiB to %dGiB", least>>20, maxMemory>>30)
}

// choice is yes, no, or left to the program.
type choice string

func parseChoice(s string) (choice, error) {
	if s != "true" && s != "false" {
		return "", errWant
	}
	return choice(s), nil
}
