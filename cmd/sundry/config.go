package main

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/proxy"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
)

// flags are what every command that loads the catalog takes. A flag beats the
// environment, which beats the file, which beats the default.
type flags struct {
	Config      string   `help:"Configuration file (default sundry.yaml, if there is one here)." type:"path" placeholder:"FILE"`
	Catalog     string   `help:"Directory of catalog files that replace or add endpoints." type:"path" placeholder:"DIR"`
	Replay      bool     `help:"Answer every upstream call from recorded exchanges; needs no network."`
	ReplayFault []string `help:"Fault for replay: ENDPOINT[/SOURCE]=error:SHARE,status:CODE,latency:SPAN." placeholder:"SPEC" sep:"none"`
}

// config is sundry.yaml.
type config struct {
	Listen       string                       `yaml:"listen"`
	Admin        string                       `yaml:"admin"`
	Redis        string                       `yaml:"redis"`
	Catalog      string                       `yaml:"catalog"`
	BasePath     string                       `yaml:"base_path"`
	LogFormat    string                       `yaml:"log_format"`
	LogLevel     string                       `yaml:"log_level"`
	LogHits      uint64                       `yaml:"log_hits"`
	Trusted      []prefix                     `yaml:"trusted_proxies"`
	AllowTargets []prefix                     `yaml:"allow_targets"`
	OwnHosts     []string                     `yaml:"own_hosts"`
	GeoFile      string                       `yaml:"geo_file"`
	Limits       limits                       `yaml:"limits"`
	Cache        cacheConfig                  `yaml:"cache"`
	State        string                       `yaml:"state"`
	DrainDelay   upstreams.Duration           `yaml:"drain_delay"`
	DrainTimeout upstreams.Duration           `yaml:"drain_timeout"`
	Endpoints    map[string]catalog.Overrides `yaml:"endpoints"`
	file         string
}

type limits struct {
	Rate     float64 `yaml:"rate"`
	Burst    int     `yaml:"burst"`
	InFlight int64   `yaml:"in_flight"`
}

type cacheConfig struct {
	Memory size `yaml:"memory"`
	// Warm fills daily endpoints ahead; null means yes, but not in replay.
	Warm *bool `yaml:"warm"`
}

// prefix is an address range; a single address counts as one.
type prefix netip.Prefix

// UnmarshalYAML reads 10.0.0.0/8 or 10.1.2.3.
func (p *prefix) UnmarshalYAML(n *yaml.Node) error {
	if a, err := netip.ParseAddr(n.Value); err == nil {
		*p = prefix(netip.PrefixFrom(a, a.BitLen()))
		return nil
	}
	v, err := netip.ParsePrefix(n.Value)
	if err != nil {
		return fmt.Errorf("%q: want an address range such as 10.0.0.0/8", n.Value)
	}
	*p = prefix(v.Masked())
	return nil
}

func prefixes(list []prefix) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, p := range list {
		out[i] = netip.Prefix(p)
	}
	return out
}

// size is a number of bytes, as in 256MiB.
type size int64

// UnmarshalYAML reads a number of bytes, KiB, MiB or GiB.
func (b *size) UnmarshalYAML(n *yaml.Node) error {
	v, err := parseBytes(n.Value)
	*b = size(v)
	return err
}

func parseBytes(s string) (int64, error) {
	text, unit := s, float64(1)
	for suffix, u := range map[string]float64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			text, unit = rest, u
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || v < 0 || v*unit > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q: want a size such as 256MiB", s)
	}
	return int64(v * unit), nil
}

// usualFile is read where no other is named.
const usualFile = "sundry.yaml"

func defaults() *config {
	return &config{
		Listen: ":8080", Admin: "127.0.0.1:9090", LogFormat: "text", LogLevel: "info",
		DrainDelay: upstreams.Duration(time.Second), DrainTimeout: upstreams.Duration(20 * time.Second),
	}
}

// loadConfig reads the file, then the environment over it. With mistakes in
// the file it still returns what could be read, so that a check goes on.
func (f *flags) loadConfig(getenv func(string) (string, bool)) (*config, error) {
	var mistakes error
	c := defaults()
	c.file = f.Config
	if c.file == "" {
		c.file, _ = getenv("SUNDRY_CONFIG")
	}
	if _, err := os.Stat(usualFile); c.file == "" && err == nil {
		c.file = usualFile
	}
	if c.file != "" {
		mistakes = c.read(c.file)
	}
	mistakes = errors.Join(mistakes, c.environment(getenv))
	if f.Catalog != "" {
		c.Catalog = f.Catalog
	}
	return c, mistakes
}

func (c *config) read(file string) error {
	b, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	err = yaml.Load(b, c, yaml.WithKnownFields())
	if many, ok := errors.AsType[*yaml.LoadErrors](err); ok {
		var all []error
		for _, one := range many.Errors {
			all = append(all, catalog.Mistake{File: file, Line: one.Mark.Line, Msg: one.Message})
		}
		return errors.Join(all...)
	}
	if err != nil && strings.TrimSpace(string(b)) != "" {
		return catalog.Mistake{File: file, Msg: err.Error()}
	}
	return nil
}

// environment lays SUNDRY_LISTEN and its like over the file.
func (c *config) environment(getenv func(string) (string, bool)) error {
	for name, into := range map[string]*string{
		"SUNDRY_LISTEN": &c.Listen, "SUNDRY_ADMIN": &c.Admin, "SUNDRY_REDIS_URL": &c.Redis,
		"SUNDRY_CATALOG": &c.Catalog, "SUNDRY_BASE_PATH": &c.BasePath, "SUNDRY_LOG_FORMAT": &c.LogFormat,
		"SUNDRY_LOG_LEVEL": &c.LogLevel, "SUNDRY_GEO_FILE": &c.GeoFile, "SUNDRY_STATE": &c.State,
	} {
		if v, ok := getenv(name); ok {
			*into = v
		}
	}
	for name, into := range map[string]*upstreams.Duration{"SUNDRY_DRAIN_DELAY": &c.DrainDelay, "SUNDRY_DRAIN_TIMEOUT": &c.DrainTimeout} {
		if v, ok := getenv(name); ok {
			d, err := upstreams.ParseDuration(v)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			*into = upstreams.Duration(d)
		}
	}
	if v, ok := getenv("SUNDRY_MEMORY"); ok {
		n, err := parseBytes(v)
		if err != nil {
			return fmt.Errorf("SUNDRY_MEMORY: %w", err)
		}
		c.Cache.Memory = size(n)
	}
	return nil
}

func (c *config) limits() proxy.Limits {
	return proxy.Limits{Rate: c.Limits.Rate, Burst: c.Limits.Burst, InFlight: c.Limits.InFlight}
}
