package main

import (
	"embed"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// Names of servers.
const (
	sundryReplay  = "sundry"         // the recorded exchanges and the bench's own endpoints
	sundryPlain   = "sundry-plain"   // the same with express: false
	sundryFetches = "sundry-fetches" // asks the bench's upstream
	sundryRedis   = "sundry-redis"   // with Redis, and more keys there than its near tier holds
	sundryChurns  = "sundry-churns"  // as sundry-fetches, for the row churn
	sundryStores  = "sundry-stores"  // asks the bench's upstream, and stores in Redis
	sundryRoomy   = "sundry-roomy"   // with a near tier of 1 GiB
	sundrySheds   = "sundry-sheds"   // with the usual limits, but for the rate of a client
	sundryShares  = "sundry-shares"  // an instance of a fleet
	sundryAPI     = "sundry-api"     // the bench's upstream as an API, by RFC 9111
	bareMirror    = "bare-mirror"
	bareProxy     = "bare-proxy"
	bareRedis     = "bare-redis"
	nginxCache    = "nginx"
	nginxAPI      = "nginx-api" // the same API
	sundryTLS     = "sundry-tls"
	nginxTLS      = "nginx-tls"
	varnishCache  = "varnish"
	upstream      = "upstream"
	redisServer   = "redis"
)

// spec says how a server is started.
type spec struct {
	column  string // of its figures
	port    int    // on loopback; the admin listener of a Sundry has one that is 100 higher
	command func(b *bench, s *server) []string
	env     []string
	asks    []string // servers that are started before
	aside   bool     // on the core of the load
	tls     bool     // with the certificate and the key of writePair
}

// specs are all servers by name. Their ports are in their settings in files, too.
func specs() map[string]spec {
	replayed, fetched := sundryWith("--replay", "--catalog", "files/catalog"), sundryWith("--catalog", "files/catalog")
	plain, small := append(endless(), "SUNDRY_EXPRESS=false"), append(endless(), "SUNDRY_CACHE_MEMORY=64MiB")
	stored := withRedis(replayed)
	all := map[string]spec{
		sundryReplay:  {port: 18601, column: withExpress, command: replayed, env: endless()},
		sundryPlain:   {port: 18602, column: withoutExpress, command: replayed, env: plain},
		sundryRoomy:   {port: 18603, command: replayed, env: append(endless(), "SUNDRY_CACHE_MEMORY=1GiB")},
		sundrySheds:   {port: 18604, command: replayed, env: endless()[:2]},
		sundryFetches: {port: 18605, column: withExpress, command: fetched, env: fetching(), asks: []string{upstream}},
		sundryChurns:  {port: 18617, column: atRest, command: fetched, env: fetching(), asks: []string{upstream}},
		sundryStores: {port: 18616, column: withExpress, command: withRedis(fetched), env: fetching(),
			asks: []string{upstream, redisServer}},
		sundryRedis:  {port: 18606, column: withExpress, command: stored, env: small, asks: []string{redisServer}},
		bareMirror:   {port: 18607, column: bareHandler, command: bareLike(digestPath), asks: []string{sundryReplay}},
		bareProxy:    {port: 18608, column: bareHandler, command: bareLike(""), asks: []string{upstream}},
		bareRedis:    {port: 18609, column: bareHandler, command: bareLike(keyPath + "1"), asks: []string{sundryRedis}},
		nginxCache:   {port: 18610, column: nginx, command: nginxWith("nginx.conf"), asks: []string{sundryReplay}},
		sundryTLS:    {port: 18618, column: withExpress, command: replayed, env: append(endless(), "SUNDRY_TLS_CERT=cert.pem", "SUNDRY_TLS_KEY=key.pem"), tls: true},
		nginxTLS:     {port: 18619, column: nginx, command: nginxWith("tls.conf"), asks: []string{sundryReplay}, tls: true},
		varnishCache: {port: 18611, column: varnish, command: varnishCommand, asks: []string{sundryReplay}},
		upstream:     {port: 18612, command: nginxWith("upstream.conf"), aside: true},
		redisServer:  {port: 18613, command: redisCommand, aside: true},
		sundryAPI:    {port: 18614, column: withExpress, command: sundryWith("--to", "http://127.0.0.1:18612"), env: endless(), asks: []string{upstream}},
		nginxAPI:     {port: 18615, column: nginx, command: nginxWith("api.conf"), asks: []string{upstream}},
	}
	for i := range slices.Max(fleetSizes()) {
		all[member(i)] = spec{port: 18620 + i, command: withRedis(fetched), env: fetching(),
			asks: []string{upstream, redisServer}}
	}
	return all
}

// endless has no limits of rate and of queues, because all of the load has one address
// and is meant to keep the core busy.
func endless() []string {
	return []string{"SUNDRY_LIMITS_RATE=0", "SUNDRY_DRAIN_DELAY=0s", "SUNDRY_LIMITS_QUEUE_DELAY=0s"}
}

// fetching asks upstreams for real. Nobody asks for anything but the bench's own
// endpoint; whatever else Sundry wanted to fetch would go to a proxy that does not exist.
func fetching() []string {
	const nowhere = "SUNDRY_PROXY=http://127.0.0.1:1"
	return append(endless(), "SUNDRY_CACHE_WARM=false", nowhere, "SUNDRY_PROXIES=benchitem=direct")
}

func sundryWith(args ...string) func(*bench, *server) []string {
	return func(b *bench, s *server) []string {
		return append([]string{b.file(sundryProgram), "serve", "--listen", s.address(), "--admin", s.admin()}, args...)
	}
}

// Files in the directory of the run, in which all servers are.
const (
	redisSocket   = "redis.sock"
	sundryProgram = "sundry-program"
)

// withRedis has a busy machine wait for Redis: a read that takes longer than its usual
// time becomes a miss, which is not what is measured.
func withRedis(command func(*bench, *server) []string) func(*bench, *server) []string {
	return func(b *bench, s *server) []string {
		return append(command(b, s), "--redis", "unix://"+b.file(redisSocket)+"?read_timeout=2s&pool_timeout=2s")
	}
}

func nginxWith(config string) func(*bench, *server) []string {
	return func(b *bench, _ *server) []string {
		return []string{"nginx", "-p", b.dir, "-c", b.file("files/" + config), "-e", "stderr"}
	}
}

// varnishCommand is without its own gzip: it would keep the compressed answer alone, and
// expand it for everybody who does not accept it.
func varnishCommand(b *bench, s *server) []string {
	return []string{"varnishd", "-F", "-j", "none", "-n", b.file("varnish"), "-a", s.address(),
		"-f", b.file("files/varnish.vcl"), "-s", "malloc,512m", "-p", "http_gzip_support=off", "-p", "workspace_client=64k"}
}

// redisCommand stores nothing on disk.
func redisCommand(b *bench, s *server) []string {
	return []string{"redis-server", "--port", fmt.Sprint(s.port), "--unixsocket", b.file(redisSocket),
		"--save", "", "--appendonly", "no", "--dir", b.dir}
}

// files are settings of servers, catalogs, and what wrk runs.
//
//go:embed files
var files embed.FS

// server is one that is measured, or that one of those asks.
type server struct {
	spec
	*process
	name string
}

func (s *server) address() string { return fmt.Sprintf("127.0.0.1:%d", s.port) }

func (s *server) admin() string { return fmt.Sprintf("127.0.0.1:%d", s.port+100) }

func (s *server) url(path string) string {
	if s.tls {
		return "https://" + s.address() + path
	}
	return "http://" + s.address() + path
}

// isCache says that what it asks is a Sundry, which it should not ask while it is measured.
func (s *server) isCache() bool {
	return s.name == nginxCache || s.name == nginxTLS || s.name == varnishCache
}

func (s *server) isSundry() bool { return strings.HasPrefix(s.name, "sundry") }

func (s *server) stop() {
	if s.process != nil {
		s.process.stop()
		s.process = nil
	}
}

// started is the server of that name, which is started, after those that it asks, when it
// is wanted for the first time.
func (b *bench) started(name string) (*server, error) {
	s := b.servers[name]
	if s.process != nil {
		return s, nil
	}
	for _, asked := range s.asks {
		if _, err := b.started(asked); err != nil {
			return nil, err
		}
	}
	core := "0"
	if s.aside {
		core = "1"
	}
	if err := os.MkdirAll(b.file(s.name), 0o755); err != nil { //nolint:gosec // nginx may be another user
		return nil, err
	}
	var err error
	if s.process, err = b.startProcess(s.name, core, s.env, s.command(b, s)); err != nil {
		return nil, err
	}
	return s, until("starting "+s.name, func() bool {
		c, err := net.DialTimeout("tcp", s.address(), time.Second) //nolint:noctx,gosec // of the bench's own, closed at once
		if err == nil {
			_ = c.Close() // nothing was sent
		}
		return err == nil
	})
}

// until waits for something that takes no longer than a few seconds.
func until(what string, ready func() bool) error {
	for range 1000 {
		if ready() {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("%s: not within 20 seconds", what)
}
