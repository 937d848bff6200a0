//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sort"
	"strings"
)

// Columns of the table.
const (
	withExpress    = "Sundry"
	withoutExpress = "express: false"
	bareHandler    = "net/http"
	nginx          = "nginx"
	varnish        = "Varnish"
)

func columns() []string { return []string{withExpress, withoutExpress, bareHandler, nginx, varnish} }

// Names of servers.
const (
	sundryReplay  = "sundry"         // the recorded exchanges and the bench's own endpoints
	sundryPlain   = "sundry-plain"   // the same with express: false
	sundryFetches = "sundry-fetches" // asks the bench's upstream
	sundryRedis   = "sundry-redis"   // with Redis, and a near tier that holds little
	bareMirror    = "bare"
	bareProxy     = "bare-proxy"
	bareRedis     = "bare-redis"
)

// Paths that rows ask for.
const (
	digestPath = "/api/60s/index.php"
	cardPath   = "/api/ipinfo/index.php"
	largePath  = "/api/bench/index.php"
	poolPath   = "/api/benchpool/index.php?type="
	keyPath    = "/api/benchkey/index.php?id="
	itemPath   = "/api/benchitem/index.php?id="
)

const (
	zipfKeys  = 10_000
	redisKeys = 100_000 // more than a near tier of the usual size holds
)

// row is a row of the table: requests of one kind, and who is asked.
type row struct {
	name, title string
	servers     map[string]string // names of servers, by column
	method      string
	accept      string // Accept-Encoding; "" sends none
	conditional bool   // If-None-Match with the ETag of the answer
	status      int
	// varies says that answers to one request differ, as those of a pool do.
	varies bool
	// once says that no request may be repeated: it would be a hit.
	once bool
	// outcomes are those that Sundry may count.
	outcomes []string
	// paths are asked for one after the other.
	paths func(b *bench, s *server, round int) []string
	// fill is called once, before the rounds.
	fill func(b *bench, r *row) error
	// measure replaces the measurement of CPU.
	measure func(b *bench, r *row, round int) error
}

func caches() map[string]string {
	return map[string]string{withExpress: sundryReplay, withoutExpress: sundryPlain, bareHandler: bareMirror, nginx: nginx, varnish: varnish}
}

// hit is a row about one path that all caches have.
func hit(name, title, path string, change func(*row)) *row {
	r := &row{name: name, title: title, servers: caches(), method: http.MethodGet, status: http.StatusOK, outcomes: []string{"hit", "stale"},
		paths: func(*bench, *server, int) []string { return []string{path} }}
	if change != nil {
		change(r)
	}
	return r
}

func allRows() []*row {
	gzip := func(r *row) { r.accept = "gzip" }
	pool := func(r *row) { r.varies = true }
	return []*row{
		hit("hit-1k", "hit, 1 kB (`60s`)", digestPath, nil),
		hit("hit-1k-gzip", "the same with `Accept-Encoding: gzip`", digestPath, gzip),
		hit("hit-8k", "hit, 8 kB (`ipinfo`, a PNG)", cardPath, nil),
		hit("hit-64k", "hit, 64 kB of JSON", largePath, nil),
		hit("hit-64k-gzip", "the same with `Accept-Encoding: gzip`", largePath, gzip),
		hit("pool-10", "hit, 1 kB, a random pick of 10", poolPath+"ten", pool),
		hit("pool-10000", "hit, 1 kB, a random pick of 10,000", poolPath+"many", pool),
		hit("304", "304 to `If-None-Match` (`60s`)", digestPath, func(r *row) {
			r.conditional, r.status, r.outcomes = true, http.StatusNotModified, []string{"not_modified"}
		}),
		hit("head", "HEAD (`60s`)", digestPath, func(r *row) { r.method = http.MethodHead }),
		hit("one-key", "hit, 1 kB, one key", keyPath+"1", func(r *row) {
			r.paths = repeated(keyPath + "1")
			delete(r.servers, bareHandler)
		}),
		hit("zipf", "hit, 1 kB, 10,000 keys of Zipf popularity", "", func(r *row) {
			r.paths, r.fill = zipf, fillKeys
			delete(r.servers, bareHandler) // which has nothing to look up
		}),
		{name: "miss", title: "miss, 1 kB, one HTTP source; net/http: `httputil.ReverseProxy`", method: http.MethodGet, status: http.StatusOK,
			servers: map[string]string{withExpress: sundryFetches, bareHandler: bareProxy}, once: true, outcomes: []string{"miss"}, paths: items},
		{name: "redis", title: "hit of Redis, 1 kB; net/http: one GET by go-redis", method: http.MethodGet, status: http.StatusOK,
			servers: map[string]string{withExpress: sundryRedis, bareHandler: bareRedis}, outcomes: []string{"hit"}, paths: storedKeys, fill: fillRedis},
		hit("latency", "latency of a hit, 1 kB (`60s`), at 5,000 requests a second", digestPath, func(r *row) { r.measure = latency }),
		{name: "memory", title: "memory of 100,000 entries of 1 kB", servers: map[string]string{}, measure: memory, fill: func(*bench, *row) error { return nil }},
	}
}

func rowNames() []string {
	var out []string
	for _, r := range allRows() {
		out = append(out, r.name)
	}
	return out
}

func chooseRows(names []string) ([]*row, error) {
	rows := allRows()
	for _, name := range names {
		if !slices.Contains(rowNames(), name) {
			return nil, fmt.Errorf("no row %q; expected one of %s", name, strings.Join(rowNames(), ", "))
		}
	}
	if len(names) == 0 {
		return rows, nil
	}
	return slices.DeleteFunc(rows, func(r *row) bool { return !slices.Contains(names, r.name) }), nil
}

// repeated is a list as long as that of zipf, so that the load works the same way.
func repeated(path string) func(*bench, *server, int) []string {
	return func(*bench, *server, int) []string { return slices.Repeat([]string{path}, zipfRequests) }
}

const zipfRequests = 1 << 16

// zipf draws keys of which the k-th is asked for in proportion to 1/k, always the
// same ones.
func zipf(*bench, *server, int) []string {
	cumulated, sum := make([]float64, zipfKeys), 0.0
	for i := range cumulated {
		sum += 1 / float64(i+1)
		cumulated[i] = sum
	}
	random := rand.New(rand.NewPCG(1, 2))
	out := make([]string, zipfRequests)
	for i := range out {
		out[i] = keyPath + fmt.Sprint(1+sort.SearchFloat64s(cumulated, random.Float64()*sum))
	}
	return out
}

func numbered(prefix string, first, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = prefix + fmt.Sprint(first+i)
	}
	return out
}

// items are paths that were never asked for, more than can be answered.
func items(b *bench, s *server, _ int) []string {
	const perSecond = 60_000
	n := int(perSecond * max(b.span.Seconds(), 0.1))
	prefix := itemPath
	if s.name == bareProxy {
		prefix = upstreamPath
	}
	b.items += n
	return numbered(prefix, 1000+b.items, n)
}

func storedKeys(*bench, *server, int) []string { return numbered(keyPath, 1, redisKeys) }
