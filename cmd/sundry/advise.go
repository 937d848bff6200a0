package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"sundry/cache"
	"sundry/cache/whatif"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

type adviseCmd struct {
	flags
	Log          []string `required:"" sep:"none" placeholder:"FILE" help:"Log of nginx in its combined format, or of Sundry (text or JSON); gzip is recognized, - is the standard input. May be given several times, the oldest first."`
	TTL          []string `name:"ttl" placeholder:"TTL,…" help:"To try (default: a few below and above the present one), such as 1m,5m,1h."`
	Grace        []string `placeholder:"GRACE,…" help:"To try, each with every TTL (default: the present one), such as 0s,10m."`
	StaleIfError []string `placeholder:"TIME,…" help:"To try, each with every TTL and grace (default: the present one)."`
	Changes      []string `sep:"none" placeholder:"[ENDPOINT=]MODEL" help:"How the content of a key changes: 30m (at random, at that mean interval), 'every 30m', 'daily@06:00 Asia/Shanghai' (UTC without a zone) or unknown. Default: by the timetable of endpoints that have one, else unknown. May be given several times."`
	Latency      string   `placeholder:"TIME" help:"How long a fill takes (default: as the misses of Sundry's log, else 200ms)."`
	WarmUp       string   `placeholder:"TIME" help:"Let the first part of the log fill the cache, which is empty at first, without being counted, such as 2h."`
	JSON         bool     `name:"json" help:"Print the outcomes as JSON."`
	SVG          string   `name:"svg" type:"path" placeholder:"FILE" help:"Draw calls against staleness, into this file."`
	Endpoints    []string `arg:"" optional:"" placeholder:"ENDPOINT" help:"Endpoints to look at (default: all)." complete:"endpoints"`
}

// Help is shown below the usage.
func (*adviseCmd) Help() string {
	return `Simulates the requests of a log under other cache rules and prints for each rule how many requests are answered at once (HIT), how many have to wait (WAIT), the upstream calls per hour, the share of answers whose content had changed meanwhile (OLDER), and how old answers are. The rule in force by the configuration is marked.

  sundry advise --log /var/log/nginx/access.log --changes ip=12h --svg ip.svg ip

The cache is simulated as that of one instance without Redis that is empty at the start (see --warm-up), has room for all keys, and whose upstreams never fail. nginx's log has the parameters of requests, so requests with the same meaning share a key. Sundry's own log has marks of the keys with log_keys: true; without it, only endpoints with a single key can be simulated. Of hits it has a sample, each of which counts for log_hits requests; log_hits: 1 logs them all.`
}

// Bounds of what is simulated.
const (
	// adviseMemory bounds the keys of all endpoints, in bytes.
	adviseMemory = 1 << 30
	// mostRules bounds the rules of an endpoint.
	mostRules = 32
	// fillLatency is how long a fill takes where nothing is known about it.
	fillLatency = 200 * time.Millisecond
	// longestTime is the largest duration that a cache setting may have.
	longestTime = 366 * 24 * time.Hour
)

// Run simulates the logs and prints what came of it.
func (a *adviseCmd) Run(w *process) error {
	set, cfg, err := a.load(w)
	if err != nil {
		return err
	}
	sim, err := a.simulation(set, cfg)
	if err != nil {
		return misused(err)
	}
	for _, file := range a.Log {
		if err := sim.readFile(w, file); err != nil {
			return err
		}
	}
	found := sim.advice()
	for _, line := range sim.counts.Unreadable {
		_, _ = fmt.Fprintln(w.stderr, "warning: not readable:", line)
	}
	if len(found.Endpoints) == 0 {
		return sim.nothing(a.Log)
	}
	if a.SVG != "" {
		if err := os.WriteFile(a.SVG, plotOf(found), 0o644); err != nil { //nolint:gosec // a picture for others to see
			return fmt.Errorf("--svg: %w", err)
		}
	}
	if a.JSON {
		return found.printJSON(w)
	}
	return found.print(w.stdout)
}

// simulation checks the command line.
func (a *adviseCmd) simulation(set *catalog.Catalog, cfg *config) (*simulation, error) {
	chosen, err := a.chosen(set)
	if err != nil {
		return nil, err
	}
	models, err := a.models(set)
	if err != nil {
		return nil, err
	}
	latency, err1 := duration("--latency", a.Latency, time.Millisecond, time.Hour)
	warmUp, err2 := duration("--warm-up", a.WarmUp, 0, longestTime)
	axes, err3 := a.axes()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	sim := newSimulation(cfg, latency, warmUp)
	for _, e := range chosen {
		rules, err := axes.rules(&e.Policy)
		if err != nil {
			return nil, err
		}
		model, ok := models[e.Name]
		if !ok {
			model = models[""]
		}
		sim.add(e, rules, model)
	}
	return sim, nil
}

// duration reads a flag's time; "" is 0.
func duration(flag, text string, least, most time.Duration) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := declare.ParseDuration(text)
	if err != nil || d < least || d > most {
		return 0, fmt.Errorf("%s: %q: expected a duration from %s to %s, such as 90s, 6h or 30d", flag, text, whatif.Duration(least), whatif.Duration(most))
	}
	return d, nil
}

// chosen are the endpoints that were named, or all.
func (a *adviseCmd) chosen(set *catalog.Catalog) ([]*catalog.Endpoint, error) {
	if len(a.Endpoints) == 0 {
		return set.Endpoints, nil
	}
	var out []*catalog.Endpoint
	for _, name := range a.Endpoints {
		e, ok := set.Get(name)
		if !ok {
			return nil, unknownEndpoint(set, name)
		}
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out, nil
}

func unknownEndpoint(set *catalog.Catalog, name string) error {
	names := make([]string, len(set.Endpoints))
	for i, e := range set.Endpoints {
		names[i] = e.Name
	}
	return fmt.Errorf("unknown endpoint %q; expected one of %s%s", name, strings.Join(names, ", "), declare.Suggestion(name, names))
}

// models are how content changes, by endpoint; "" is that of all others.
func (a *adviseCmd) models(set *catalog.Catalog) (map[string]whatif.Changes, error) {
	out := map[string]whatif.Changes{}
	for _, text := range a.Changes {
		name, model, of := strings.Cut(text, "=")
		if !of {
			name, model = "", text
		} else if _, ok := set.Get(name); !ok {
			return nil, fmt.Errorf("--changes: %w", unknownEndpoint(set, name))
		}
		changes, err := whatif.ParseChanges(model, declare.ParseDuration)
		if err != nil {
			return nil, fmt.Errorf("--changes: %w", err)
		}
		out[name] = changes
	}
	return out, nil
}

// axes are the settings that rules differ in; nil: as the present rule, or, of
// TTLs alone, a ladder.
type axes struct{ ttl, grace, staleIfError []time.Duration }

func (a *adviseCmd) axes() (axes, error) {
	ttl, err1 := durations("--ttl", a.TTL, time.Second)
	grace, err2 := durations("--grace", a.Grace, 0)
	stale, err3 := durations("--stale-if-error", a.StaleIfError, 0)
	return axes{ttl, grace, stale}, errors.Join(err1, err2, err3)
}

func durations(flag string, texts []string, least time.Duration) ([]time.Duration, error) {
	var out []time.Duration
	for _, text := range texts {
		d, err := duration(flag, cmp.Or(strings.TrimSpace(text), "nothing"), least, longestTime)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// rules are the rules of an endpoint, the present one among them, by rising TTL.
func (x *axes) rules(present *cache.Policy) ([]cache.Policy, error) {
	rules := []cache.Policy{*present}
	if !present.Stores() {
		return rules, nil
	}
	for _, ttl := range x.ttls(present) {
		for _, grace := range orElse(x.grace, present.Grace) {
			for _, stale := range orElse(x.staleIfError, present.StaleIfError) {
				rule := *present
				rule.TTL, rule.Grace, rule.StaleIfError = ttl, grace, stale
				rules = append(rules, rule)
			}
		}
	}
	slices.SortFunc(rules, compareRules)
	rules = slices.CompactFunc(rules, func(a, b cache.Policy) bool { return compareRules(a, b) == 0 })
	if len(rules) > mostRules {
		return nil, fmt.Errorf("%d rules: expected at most %d; give fewer of --ttl, --grace and --stale-if-error", len(rules), mostRules)
	}
	return rules, nil
}

// Steps of the ladder of TTLs around the present one.
const stepsBelow, stepsAbove = 4, 3

func (x *axes) ttls(present *cache.Policy) []time.Duration {
	switch {
	case x.ttl != nil:
		return x.ttl
	case x.grace != nil || x.staleIfError != nil || present.TTL == 0:
		return []time.Duration{present.TTL}
	}
	return whatif.Ladder(present.TTL, stepsBelow, stepsAbove)
}

func orElse(given []time.Duration, present time.Duration) []time.Duration {
	if given == nil {
		return []time.Duration{present}
	}
	return given
}

func compareRules(a, b cache.Policy) int {
	return cmp.Or(cmp.Compare(a.TTL, b.TTL), cmp.Compare(a.Grace, b.Grace), cmp.Compare(a.StaleIfError, b.StaleIfError))
}

// keyless says which endpoints' requests could not be simulated, and why; "" if there
// are none.
func (s *simulation) keyless() string {
	names := slices.Sorted(maps.Keys(s.counts.Keyless))
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("the keys of requests for %s are not in Sundry's log, because parameters are not logged: set log_keys: true (of no use to endpoints with personal parameters), or give the log of the proxy in front, in nginx's combined format",
		strings.Join(names, ", "))
}

// nothing says why no request was simulated.
func (s *simulation) nothing(files []string) error {
	if why := s.keyless(); why != "" {
		return fmt.Errorf("%s: %s", strings.Join(files, ", "), why)
	}
	return fmt.Errorf("%s: no request that could be simulated (%s): expected lines such as %s", strings.Join(files, ", "), s.counts.String(),
		`192.0.2.1 - - [02/Jan/2026:15:04:05 +0000] "GET /api/ip/index.php?ip=8.8.8.8 HTTP/1.1" 200 312 "-" "curl/8.0"`)
}
