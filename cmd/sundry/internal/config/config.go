// Package config reads the settings of Sundry: sundry.yaml, the environment over it, and the
// command line over both. It promises that each mistake is reported with the line, variable or
// flag that it is in, that no value of a secret is shown, and that a reload changes what can be
// changed and names what needs a restart.
package config

import (
	"cmp"
	"errors"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sundry/cache"
	"sundry/cache/near"
	"sundry/metrics/words"
	"sundry/proxy"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

// Config are the settings.
type Config struct {
	Listen, Admin         string
	TLSCert, TLSKey       string // files of the certificate of the public listener; "" means none
	ACME                  ACME
	Redirect              string // address of the listener that redirects to HTTPS; "" means none
	Redis                 string
	Catalog               string
	Builtin               bool // false: without the endpoints that come with the program
	BasePath              string
	PublicURL, GrafanaURL string
	Language              string // en or zh
	LogFormat, LogLevel   string
	LogHits, LogRefusals  uint64
	LogKeys               bool
	Trusted, AllowTargets []netip.Prefix
	Forwarded             string
	OwnHosts              []string
	LoopID                string
	Contact, UserAgent    string
	Proxy                 string
	Proxies               []string // endpoint=URL or endpoint/source=URL
	GeoFiles              []string
	Data                  string // directory; "" means that nothing outlives a restart without Redis
	DrainDelay            time.Duration
	DrainTimeout          time.Duration
	Express               bool // answer hits in front of net/http
	MCP                   bool // offer the endpoints to agents as tools
	MCPOrigins            []string
	Limits                proxy.Limits
	Fills                 int
	ReplyMemory           Size
	Cache                 Cache
	Endpoints             map[string]catalog.Overrides

	// File is sundry.yaml; "" for none.
	File string
	// EndpointsFrom is the file, or the variable, that sets Endpoints.
	EndpointsFrom string

	places    map[string]place // of settings that are not the default
	variables []string         // environment variables with Prefix
}

// Cache are the settings of the near tier.
type Cache struct {
	Memory Size
	// Warm fills endpoints ahead whose files say warm: true; "" means yes, but not in
	// replay.
	Warm Choice
}

// Source is where settings come from.
type Source struct {
	// File is that of --config; "" for that of SUNDRY_CONFIG or, if it exists, DefaultFile.
	File string
	// Flags are the values of flags by the keys of their settings; "" for one that was not
	// given.
	Flags  map[string]string
	Getenv func(name string) (value string, ok bool)
	// Variables are the names of environment variables with Prefix.
	Variables []string
}

// DefaultFile is read where no other is named.
const DefaultFile = "sundry.yaml"

// Default returns the settings where nothing is set.
func Default() *Config {
	return &Config{
		Listen: ":8080", Admin: "127.0.0.1:9090", Language: "zh", LogFormat: "text", LogLevel: "info", LogHits: 100, LogRefusals: 100,
		Forwarded: string(proxy.ByEither), DrainDelay: time.Second, DrainTimeout: 20 * time.Second, Builtin: true, Express: true,
		Limits: proxy.Limits{Rate: 50, InFlight: 10_000, Share: 0.5, QueueDelay: 20 * time.Millisecond},
		Fills:  cache.DefaultFills, ReplyMemory: upstreams.DefaultBudget,
		Cache:  Cache{Memory: near.DefaultMemory},
		places: map[string]place{},
	}
}

// InData returns the path of a file in the data directory; "" means that there is none.
func (c *Config) InData(name string) string {
	if c.Data == "" {
		return ""
	}
	return filepath.Join(c.Data, name)
}

// Load reads the file, then the environment over it, then flags. With mistakes it still returns
// what could be read, so that those of the catalog can be reported as well.
func Load(from Source) (*Config, error) {
	c := Default()
	c.variables, c.File = from.Variables, from.file()
	all := settings()
	var mistakes []error
	if c.File != "" {
		mistakes = append(mistakes, c.readFile(all))
	}
	mistakes = append(mistakes, c.environment(all, from.Getenv))
	for _, key := range slices.Sorted(maps.Keys(from.Flags)) {
		if text := from.Flags[key]; text != "" {
			at := place{name: "--" + strings.ReplaceAll(key, "_", "-")}
			mistakes = append(mistakes, c.assign(find(all, key), text, at))
		}
	}
	return c, errors.Join(mistakes...)
}

func (from *Source) file() string {
	if from.File != "" {
		return from.File
	}
	if file, _ := from.Getenv("SUNDRY_CONFIG"); file != "" {
		return file
	}
	if _, err := os.Stat(DefaultFile); err != nil {
		return ""
	}
	return DefaultFile
}

// assign reads a setting from a variable or a flag.
func (c *Config) assign(s *setting, text string, at place) error {
	if text == "" && !s.empty {
		return nil // the same as not set
	}
	if err := s.read(c, text); err != nil {
		return at.mistake(s.key, s.mistake(text, err))
	}
	c.places[s.key] = at
	return nil
}

// environment applies SUNDRY_LISTEN and its like over the file.
func (c *Config) environment(all []setting, getenv func(string) (string, bool)) error {
	var mistakes []error
	for i := range all {
		s, set := &all[i], ""
		for _, name := range s.variables() {
			text, ok := getenv(name)
			if !ok || text == "" && set != "" {
				continue
			}
			if set != "" {
				mistakes = append(mistakes, words.Errorf("%s and %s are both set: expected only one of them", "%s 和 %s 都设置了：应只设置一个", set, name))
				continue
			}
			if text != "" {
				set = name
			}
			mistakes = append(mistakes, c.assign(s, text, place{name: name}))
		}
	}
	if text, ok := getenv(endpointsVariable); ok && text != "" {
		mistakes = append(mistakes, c.readEndpoints(text))
	}
	return errors.Join(mistakes...)
}

func (c *Config) readEndpoints(text string) error {
	var over map[string]catalog.Overrides
	var problems declare.Problems
	if declare.Read([]byte(text), &over, &problems); len(problems) > 0 {
		return errors.Join(catalog.Mistakes(endpointsVariable, problems)...)
	}
	c.Endpoints, c.EndpointsFrom = over, endpointsVariable
	return nil
}

// Mistake says what is wrong with a setting, and where it was set.
func (c *Config) Mistake(key string, what words.Text) error {
	return c.places[key].mistake(key, what)
}

// place is where a setting was set: in a line of a file, or in a variable or
// flag.
type place struct {
	file string
	line int
	name string
}

// mistake says what is wrong with a setting at the place. A variable or a flag names the setting itself.
func (p place) mistake(key string, what words.Text) error {
	if p.file != "" {
		return catalog.Mistake{File: p.file, Line: p.line, Msg: declare.Say("%s: %s", key, what)}
	}
	return words.Errorf("%s: %s", "%s: %s", cmp.Or(p.name, key), what)
}
