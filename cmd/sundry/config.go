package main

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"sundry/cache"
	"sundry/proxy"
	"sundry/proxy/admin"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
	"sundry/upstreams/loop"
)

// flags are what every command that loads the catalog takes. A flag beats the
// environment, which beats the file, which beats the default.
type flags struct {
	Config      string   `help:"Configuration file (default: sundry.yaml in the working directory, if it exists)." type:"path" placeholder:"FILE"`
	Catalog     string   `help:"Directory with catalog files that add endpoints or replace built-in ones." type:"path" placeholder:"DIR"`
	Replay      bool     `help:"Answer every upstream call from recorded exchanges, without any network."`
	ReplayFault []string `help:"Inject faults in replay: ENDPOINT[/SOURCE]= followed by error:SHARE, status:CODE, body:empty, body:html or latency:DURATION, separated by commas, such as kd=error:0.3,latency:800ms. May be given several times." placeholder:"SPEC" sep:"none"`
}

// config is sundry.yaml, overridden by environment and flags.
type config struct {
	Listen, Admin         string
	Redis                 string
	Catalog               string
	BasePath              string
	PublicURL, GrafanaURL string
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
	State                 string
	DrainDelay            time.Duration
	DrainTimeout          time.Duration
	Express               bool // answer hits in front of net/http
	MCP                   bool // offer the endpoints to agents as tools
	MCPOrigins            []string
	ReusePort             bool // let other processes listen on the same addresses
	Limits                proxy.Limits
	Fills                 int
	ReplyMemory           size
	Cache                 cacheConfig
	Endpoints             map[string]catalog.Overrides
	file                  string
	endpointsFrom         string           // the file, or the variable, that sets them
	places                map[string]place // of settings that are not the default
	variables             []string         // environment variables that begin with SUNDRY_
	faults                []string         // endpoints and sources named by --replay-fault
}

type cacheConfig struct {
	Memory size
	// Snapshot is the file that keeps the near tier over a restart; "" for none.
	Snapshot string
	// Warm fills endpoints ahead whose files say warm: true; "" means yes, but not in
	// replay.
	Warm choice
}

// place is where a setting was set: in a line of a file, or in a variable or
// flag.
type place struct {
	file string
	line int
	name string
}

// mistake says what is wrong at the place.
func (p place) mistake(text string) error {
	if p.file != "" {
		return catalog.Mistake{File: p.file, Line: p.line, Msg: text}
	}
	return fmt.Errorf("%s: %s", p.name, text)
}

// defaultFile is read where no other is named.
const defaultFile = "sundry.yaml"

func defaults() *config {
	return &config{
		Listen: ":8080", Admin: "127.0.0.1:9090", LogFormat: "text", LogLevel: "info", LogHits: 100, LogRefusals: 100, Forwarded: string(proxy.ByEither),
		DrainDelay: time.Second, DrainTimeout: 20 * time.Second, Express: true,
		Limits: proxy.Limits{Rate: 50, Shared: true, InFlight: 10_000, Share: 0.5, QueueDelay: 20 * time.Millisecond}, Fills: cache.DefaultFills, ReplyMemory: upstreams.DefaultBudget,
		Cache:  cacheConfig{Memory: cache.DefaultMemory},
		places: map[string]place{},
	}
}

// loadConfig reads the file, then the environment over it, then flags, by the
// keys of their settings. With mistakes it still returns what could be read, so
// that check can report the mistakes of the catalog as well.
func (f *flags) loadConfig(w *process, flagValues map[string]string) (*config, error) {
	c := defaults()
	c.variables = w.variables
	c.file = f.Config
	if c.file == "" {
		c.file, _ = w.getenv("SUNDRY_CONFIG")
	}
	if _, err := os.Stat(defaultFile); c.file == "" && err == nil {
		c.file = defaultFile
	}
	all := settings()
	var mistakes []error
	if c.file != "" {
		mistakes = append(mistakes, c.read(all, c.file))
	}
	mistakes = append(mistakes, c.environment(all, w.getenv))
	flagValues = maps.Clone(flagValues)
	if flagValues == nil {
		flagValues = map[string]string{}
	}
	flagValues["catalog"] = f.Catalog
	for _, key := range slices.Sorted(maps.Keys(flagValues)) {
		if flagValues[key] == "" {
			continue
		}
		mistakes = append(mistakes, c.assign(find(all, key), flagValues[key], place{name: "--" + strings.ReplaceAll(key, "_", "-")}))
	}
	return c, misconfigured(errors.Join(append(mistakes, c.checkAdmin(w))...))
}

// assign reads a setting from a variable or a flag.
func (c *config) assign(s *setting, text string, at place) error {
	if text == "" && !s.empty {
		return nil // the same as not set
	}
	if err := s.read(c, text); err != nil {
		return at.mistake(s.mistake(text, err))
	}
	c.places[s.key] = at
	return nil
}

// checkAdmin refuses an admin listener that other machines could reach without a
// token, or with one that is easily guessed.
func (c *config) checkAdmin(w *process) error {
	token, _ := w.getenv("SUNDRY_ADMIN_TOKEN")
	err := admin.CheckAddress(c.Admin, token)
	if err == nil {
		return nil
	}
	return c.places["admin"].mistake((&setting{key: "admin"}).mistake(c.Admin, err))
}

// endpointsVariable holds the value of the file's key endpoints, in YAML.
const endpointsVariable = "SUNDRY_ENDPOINTS"

// environment applies SUNDRY_LISTEN and its like over the file.
func (c *config) environment(all []setting, getenv func(string) (string, bool)) error {
	var mistakes []error
	for i := range all {
		s, set := &all[i], ""
		for _, name := range s.variables() {
			text, ok := getenv(name)
			if !ok || text == "" && set != "" {
				continue
			}
			if set != "" {
				mistakes = append(mistakes, fmt.Errorf("%s and %s are both set: expected only one of them", set, name))
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

func (c *config) readEndpoints(text string) error {
	var over map[string]catalog.Overrides
	var problems declare.Problems
	if declare.Read([]byte(text), &over, &problems); len(problems) > 0 {
		return errors.Join(catalog.Mistakes(endpointsVariable, problems)...)
	}
	c.Endpoints, c.endpointsFrom = over, endpointsVariable
	return nil
}

// frontSettings are the settings of the front that a reload applies.
func (c *config) frontSettings() proxy.Settings {
	return proxy.Settings{Trusted: c.Trusted, Forwarded: proxy.Forwarded(c.Forwarded), Limits: c.Limits, HitSample: c.LogHits, RefusalSample: c.LogRefusals, LogKeys: c.LogKeys, PublicURL: c.PublicURL, Contact: c.Contact, Mark: c.mark(), MCP: c.mcp()}
}

// mcp is what agents are offered; nil for nothing.
func (c *config) mcp() *proxy.MCP {
	if !c.MCP {
		return nil
	}
	return &proxy.MCP{Origins: c.MCPOrigins}
}

// mark is the loop mark of the requests that this service sends upstream.
func (c *config) mark() loop.Mark {
	return loop.NewMark(c.LoopID, c.OwnHosts, c.BasePath)
}

// variablePrefix is how the names of this program's variables begin.
const variablePrefix = "SUNDRY_"

// ownVariables are the names of the environment's variables with variablePrefix.
func ownVariables(environ []string) []string {
	var names []string
	for _, pair := range environ {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, variablePrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// serviceVariable matches what Kubernetes, and Docker's links, set for a service
// whose name begins with sundry. They are not settings.
var serviceVariable = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)

// unknownVariables returns an error for variables that nothing reads: a misspelt one
// would be ignored in silence otherwise.
func (c *config) unknownVariables(set *catalog.Catalog) error {
	known := knownVariables(set)
	var mistakes []error
	for _, name := range c.variables {
		secret, _ := strings.CutSuffix(name, "_FILE")
		if slices.Contains(known, name) || slices.Contains(known, secret) || strings.HasPrefix(name, "SUNDRY_TEST_") || serviceVariable.MatchString(name) {
			continue
		}
		mistakes = append(mistakes, fmt.Errorf("%s: unknown variable%s", name, declare.Suggestion(name, known)))
	}
	return errors.Join(mistakes...)
}

// knownVariables are the variables of the settings and of the keys of sources.
func knownVariables(set *catalog.Catalog) []string {
	known := []string{"SUNDRY_CONFIG", "SUNDRY_ADMIN_TOKEN", endpointsVariable}
	all := settings()
	for i := range all {
		known = append(known, all[i].variables()...)
	}
	for _, v := range set.Variables() {
		known = append(known, v.Name)
	}
	return append(known, set.Described()...)
}
