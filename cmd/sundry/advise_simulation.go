package main

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"sundry/cache"
	"sundry/cache/whatif"
	"sundry/proxy"
	"sundry/upstreams/catalog"
)

// mostMeanings bounds what is remembered of the meaning of queries.
const mostMeanings = 1 << 18

// simulation simulates logs against the rules of all endpoints that were chosen.
type simulation struct {
	basePath  string
	hitSample int // of Sundry's log
	latency   time.Duration
	warmUp    time.Duration
	memory    *whatif.Memory

	endpoints map[string]*simulated // by name
	paths     map[string]*simulated
	meanings  map[string]meaning
	scratch   []byte
	clock     logClock

	first, latest time.Time // of all lines with a time
	waiting       []sorted
	counts        logCounts
}

// simulated is an endpoint with its rules.
type simulated struct {
	endpoint *catalog.Endpoint
	depends  catalog.Circumstances
	config   whatif.Config
	present  int // which of the rules
	sim      *whatif.Simulation
	// oneKey: all requests of a day have the same key.
	oneKey bool
	// fixed: the latency was given, so that of misses does not count.
	fixed bool
	// hitSample is for how many hits of a sample one counts; 0: all were logged.
	hitSample int
}

// meaning is what a query asks for.
type meaning struct {
	key     uint64
	source  string
	refused bool
}

func newSimulation(c *config, latency, warmUp time.Duration) *simulation {
	return &simulation{
		basePath: c.BasePath, hitSample: int(c.LogHits), latency: latency, warmUp: warmUp, memory: whatif.NewMemory(adviseMemory),
		endpoints: map[string]*simulated{}, paths: map[string]*simulated{}, meanings: map[string]meaning{},
		counts: logCounts{Keyless: map[string]int{}},
	}
}

// add takes an endpoint with its rules, the present rule among them.
func (s *simulation) add(e *catalog.Endpoint, rules []cache.Policy, changes whatif.Changes) {
	to := &simulated{
		endpoint: e, depends: e.Circumstances(), config: whatif.Config{Rules: rules, Changes: changes, Latency: s.latency},
		present: slices.IndexFunc(rules, func(r cache.Policy) bool { return compareRules(r, e.Policy) == 0 }),
		oneKey:  len(e.Chains) == 1 && e.Circumstances()&^catalog.OfDay == 0 && !slices.ContainsFunc(e.Params, takesInput),
		fixed:   s.latency > 0,
	}
	if !to.fixed {
		to.config.Latency = fillLatency
	}
	s.endpoints[e.Name] = to
	for _, end := range []string{"", "/", "/index.php"} {
		s.paths[s.basePath+"/api/"+e.Name+end] = to
	}
}

// takesInput reports whether callers decide the key.
func takesInput(p *catalog.Param) bool { return p.Role == catalog.RoleInput && !p.Derived() }

func (to *simulated) begin(from time.Time, memory *whatif.Memory) {
	to.config.From, to.config.Memory = from, memory
	to.sim = whatif.New(to.config)
}

// combinedLine sorts a line of nginx's log.
func (s *simulation) combinedLine(line []byte) (sorted, error) {
	l, err := parseCombined(line)
	if err != nil {
		return sorted{}, err
	}
	at, err := s.clock.read(l.time)
	if err != nil {
		return sorted{}, err
	}
	of := sorted{request: whatif.Request{At: at, Negative: l.status == http.StatusNotFound}, seconds: true}
	path, query, _ := bytes.Cut(unescapeLog(l.target), []byte("?"))
	to := s.paths[string(path)]
	switch {
	case to == nil, string(l.method) != http.MethodGet && string(l.method) != http.MethodHead:
		s.counts.Other++
		return of, nil
	case refusedStatus(l.status):
		s.counts.Refused++
		return of, nil
	}
	m := s.meaning(to, query, &l, at)
	if m.refused {
		s.counts.Refused++
		return of, nil
	}
	of.to, of.request.Key, of.request.Source = to, m.key, m.source
	return of, nil
}

// refusedStatus reports whether a request with that status did not get as far as the
// cache.
func refusedStatus(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	}
	return false
}

// meaning is that of a query, which is remembered for the circumstances that decide
// it.
func (s *simulation) meaning(to *simulated, query []byte, l *combinedLine, at time.Time) meaning {
	if to.depends&catalog.OfChance != 0 {
		return to.parse(string(query), l, at)
	}
	b := append(s.scratch[:0], to.endpoint.Name...)
	b = append(append(b, '?'), query...)
	if to.depends&catalog.OfAddress != 0 {
		b = append(append(b, 0), l.addr...)
	}
	if to.depends&catalog.OfAgent != 0 {
		b = append(append(b, 0), l.agent...)
	}
	if to.depends&catalog.OfDay != 0 {
		b = binary.LittleEndian.AppendUint64(append(b, 0), uint64(catalog.DayOf(at)))
	}
	s.scratch = b
	if m, known := s.meanings[string(b)]; known {
		return m
	}
	if len(s.meanings) >= mostMeanings {
		clear(s.meanings)
	}
	m := to.parse(string(query), l, at)
	s.meanings[string(b)] = m
	return m
}

// parse is how the service understands the query.
func (to *simulated) parse(query string, l *combinedLine, at time.Time) meaning {
	addr, _ := netip.ParseAddr(string(l.addr))
	caller := catalog.Caller{Addr: addr.Unmap()}
	if len(l.agent) > 0 {
		caller.Header = http.Header{"User-Agent": {string(unescapeLog(l.agent))}}
	}
	in, bad := to.endpoint.ParseAt(query, caller, func() time.Time { return at })
	if bad != nil {
		return meaning{refused: true}
	}
	m := meaning{key: xxhash.Sum64String(in.Key())}
	if sources := in.Form.Chain.Sources; len(sources) > 0 {
		m.source = sources[0].Name
	}
	return m
}

// ownLine sorts a line of Sundry's log.
func (s *simulation) ownLine(line []byte) (sorted, error) {
	l, err := parseOwn(line)
	if err != nil {
		return sorted{}, err
	}
	if l.Message != proxy.RequestMessage {
		s.counts.Other++
		return sorted{}, nil
	}
	of := sorted{request: whatif.Request{At: l.Time, Source: l.Source, Weight: 1}}
	to := s.endpoints[l.Endpoint]
	if to == nil {
		s.counts.Other++
		return of, nil
	}
	switch l.Outcome {
	case "invalid", "limited", "shed":
		s.counts.Refused++
		return of, nil
	case "hit", "not_modified":
		of.request.Weight = s.hitSample
		if s.hitSample > 1 {
			to.hitSample = s.hitSample
		}
	case "miss":
		if !to.fixed {
			to.config.Latency = l.Took
		}
	case "negative":
		of.request.Negative = true
	}
	switch {
	case l.Key != "":
		of.request.Key = xxhash.Sum64String(l.Key)
	case to.oneKey:
		of.request.Key = s.meaning(to, nil, &combinedLine{}, l.Time).key
	default:
		s.counts.Keyless[l.Endpoint]++
		return of, nil
	}
	of.to = to
	if !to.fixed {
		of.request.Latency = to.config.Latency
	}
	return of, nil
}
