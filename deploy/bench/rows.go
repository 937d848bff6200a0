package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Columns of the table of costs.
const (
	withExpress    = "Sundry"
	withoutExpress = "express: false"
	bareHandler    = "net/http"
	nginx          = "nginx"
	varnish        = "Varnish"
)

func columns() []string {
	return []string{withExpress, withoutExpress, bareHandler, nginx, varnish}
}

// row is a row of the table: who is asked, and what for. To measure something else, add
// a row here, a server to specs where it needs one, and a bound to goals.
type row struct {
	name, title string
	servers     []string // their names
	// paths are asked for one after the other, over and over.
	paths   func(b *bench, s *server) []string
	method  string // "" is GET
	header  map[string]string
	status  int           // 0 is 200
	varies  bool          // answers to one path differ, as those of a pool do
	counted string        // as which outcome Sundry counts the requests
	spans   int           // that wrk goes on for; 0 is 1
	delay   time.Duration // of wrk before each request on a connection, on average
	// ready is called before the rounds; nil: there is nothing to do.
	ready func(b *bench, r *row) error
	// each measures a server in every round; or once does all in the first.
	each   func(b *bench, r *row, s *server) error
	once   func(b *bench, r *row) error
	size   int               // of the first body that was seen
	bodies map[string]string // the first that were seen, by path
}

func allRows() []*row {
	alone, besideNginx := []string{sundryReplay}, []string{sundryReplay, nginxCache}
	everyone := []string{sundryReplay, sundryPlain, bareMirror, nginxCache, varnishCache}
	beside, proxied := []string{sundryAPI, nginxAPI}, []string{sundryAPI, bareProxy}
	return []*row{
		{name: "hit-1k", title: "hit, 1 kB (`60s`)", servers: everyone, paths: always(digestPath),
			counted: "hit", each: cost},
		{name: "https-1k", title: "hit, 1 kB, over TLS 1.3 and HTTP/1.1", servers: []string{sundryTLS, nginxTLS}, paths: always(digestPath),
			counted: "hit", each: cost},
		{name: "hit-8k", title: "hit, 8 kB (`ipinfo`, a PNG)", servers: besideNginx, paths: always(cardPath),
			counted: "hit", each: cost},
		{name: "pool-10", title: "hit, 1 kB, a random pick of 10", servers: besideNginx, paths: always(poolPath + "ten"),
			varies: true, counted: "hit", each: cost},
		{name: "pool-10000", title: "hit, 1 kB, a random pick of 10,000", servers: alone, paths: always(poolPath + "many"),
			varies: true, counted: "hit", each: cost},
		{name: "personal", title: "hit, a personal lookup (`kd`)", servers: besideNginx, paths: always(parcelPath),
			counted: "hit", each: cost},
		{name: "picture", title: "hit, a picture of a pool through Sundry (`sjbz`)", servers: besideNginx, paths: always(picturePath),
			varies: true, counted: "hit", ready: fetchPictures, each: cost},
		{name: "304", title: "304 to `If-None-Match` (`60s`)", servers: besideNginx, paths: always(digestPath),
			ready: takeETag, status: http.StatusNotModified, counted: "not_modified", each: cost},
		{name: "head", title: "HEAD (`60s`)", servers: besideNginx, paths: always(digestPath),
			method: http.MethodHead, counted: "hit", each: cost},
		{name: "one-key", title: "hit, 1 kB, one key", servers: alone, paths: oneKey, counted: "hit", each: cost},
		{name: "zipf", title: "hit, 1 kB, 10,000 keys of Zipf popularity", servers: alone, paths: zipf,
			ready: fillKeys, counted: "hit", each: cost},
		{name: "miss", title: "miss, 1 kB, one HTTP source; net/http: `httputil.ReverseProxy`",
			servers: []string{sundryFetches, bareProxy}, paths: freshItems,
			counted: "miss", each: cost},
		{name: "miss-stored", title: "the same, stored in Redis", servers: []string{sundryStores}, paths: freshItems,
			counted: "miss", each: storedCost},
		{name: "redis", title: "hit of Redis, 1 kB; net/http: one GET by go-redis",
			servers: []string{sundryRedis, bareRedis}, paths: storedKeys,
			ready: fillRedis, varies: true, counted: "hit", each: cost},
		{name: "api-1k", title: "an API's hit, 1 kB", servers: beside, paths: always(keptPath + "1"), counted: "hit", each: cost},
		{name: "api-100k", title: "an API's hit, 100 kB", servers: beside, paths: always(largePath + "100000"),
			counted: "hit", each: cost},
		{name: "api-1m", title: "an API's hit, 1 MB", servers: beside, paths: always(largePath + "1000000"),
			counted: "hit", each: cost},
		{name: "api-miss", title: "an API's miss, 1 kB, stored; net/http: `httputil.ReverseProxy`", servers: proxied, paths: freshKept,
			counted: "miss", each: cost},
		{name: "api-pass", title: "an API's miss, 1 kB, not stored; net/http: `httputil.ReverseProxy`", servers: proxied,
			paths: freshItems, counted: "bypass", each: cost},
		{name: "latency", servers: everyone, paths: always(digestPath), counted: "hit", each: latency},
		{name: "churn", servers: []string{sundryChurns}, paths: zipf, ready: fillChurned, each: churn},
		{name: "memory", once: memory},
		{name: "overload", once: overload},
		{name: "fleet", once: fleet},
	}
}

// goal is a bound of the ratio of two figures, or of one figure.
type goal struct {
	what   string
	of, to figure // to is empty where the figure counts by itself
	most   float64
}

func goals() []goal {
	return []goal{
		{"hit, 1 kB, to nginx", figure{"hit-1k", withExpress}, figure{"hit-1k", nginx}, 0.80},
		{"hit, 1 kB, over TLS, to nginx", figure{"https-1k", withExpress}, figure{"https-1k", nginx}, 1.6},
		{"hit, 8 kB, to nginx", figure{"hit-8k", withExpress}, figure{"hit-8k", nginx}, 1},
		{"pool of 10, to nginx", figure{"pool-10", withExpress}, figure{"pool-10", nginx}, 1},
		{"a personal lookup, to nginx", figure{"personal", withExpress}, figure{"personal", nginx}, 0.95},
		{"a picture of a pool, to nginx", figure{"picture", withExpress}, figure{"picture", nginx}, 1},
		{"304, to nginx", figure{"304", withExpress}, figure{"304", nginx}, 1},
		{"HEAD, to nginx", figure{"head", withExpress}, figure{"head", nginx}, 1},
		{"hit, 1 kB, with `express: false`, to net/http", figure{"hit-1k", withoutExpress},
			figure{"hit-1k", bareHandler}, 1.12},
		{"10,000 keys, to one key", figure{"zipf", withExpress}, figure{"one-key", withExpress}, 1.10},
		{"pool of 10,000, to pool of 10", figure{"pool-10000", withExpress}, figure{"pool-10", withExpress}, 1.05},
		{"miss, 1 kB, to `httputil.ReverseProxy`", figure{"miss", withExpress}, figure{"miss", bareHandler}, 1.8},
		{"miss with Redis, to one without", figure{"miss-stored", withExpress}, figure{"miss", withExpress}, 1.25},
		{"fetched answers that are not in Redis, of 100", figure{"miss-stored", "lost"}, figure{}, 1},
		{"hit of Redis, to one GET by go-redis", figure{"redis", withExpress}, figure{"redis", bareHandler}, 1.1},
		{"an API's hit, 1 kB, to nginx", figure{"api-1k", withExpress}, figure{"api-1k", nginx}, 0.85},
		{"an API's hit, 100 kB, to nginx", figure{"api-100k", withExpress}, figure{"api-100k", nginx}, 1},
		{"an API's hit, 1 MB, to nginx", figure{"api-1m", withExpress}, figure{"api-1m", nginx}, 1.1},
		{"an API's stored miss, to `httputil.ReverseProxy`", figure{"api-miss", withExpress}, figure{"api-miss", bareHandler}, 1.3},
		{"an API's miss that is not stored, to that", figure{"api-pass", withExpress}, figure{"api-pass", bareHandler}, 1},
		{"p99 at 5,000 requests a second, to nginx", figure{"p99", withExpress}, figure{"p99", nginx}, 1.3},
		{"p99.9 of hits while a fifth of the near tier changes, to that at rest", figure{"p99.9", churned}, figure{"p99.9", atRest}, 1.5},
		{"memory of 100,000 entries of 1 kB, to their bytes", figure{"memory", withExpress}, figure{}, 1.5},
		{"p99 of hits at four times the capacity, ms", figure{"overload", "hits p99"}, figure{}, 20},
		{"hits shed and requests failed then", figure{"overload", "lost"}, figure{}, 0},
	}
}

func rowNames() []string {
	var out []string
	for _, r := range allRows() {
		out = append(out, r.name)
	}
	return out
}

// chooseRows are those with these names; without any, all.
func chooseRows(names []string) ([]*row, error) {
	if len(names) == 0 {
		return allRows(), nil
	}
	rows := slices.DeleteFunc(allRows(), func(r *row) bool { return !slices.Contains(names, r.name) })
	if len(rows) != len(names) {
		return nil, fmt.Errorf("expected some of the rows %s", strings.Join(rowNames(), ", "))
	}
	return rows, nil
}
