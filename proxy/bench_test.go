package proxy

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache"
	"sundry/cache/web"
	"sundry/proxy/uri"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/guard"
)

// The served endpoint of the benchmarks: a JSON answer of about a kibibyte, and
// pools of ten and ten thousand.
const benchCatalog = `version: 1
name: bench
group: text
summary: {en: A benchmark., zh: 基准}
params: [{name: type, role: form, example: pool}]
cache: {class: shared, ttl: 24h, jitter: 0}
forms:
  - {name: json, json: '{text: ("x" * 900)}'}
  - {name: ten, each: 'range(10)', json: '{n: ., text: ("x" * 900)}'}
  - {name: pool, each: 'range(10000)', json: '{n: ., text: ("x" * 900)}'}
sources:
  - name: made
    computed: {}
`

// An endpoint with a required parameter, to measure refused requests.
const refusingCatalog = `version: 1
name: refusing
group: text
summary: {en: A benchmark., zh: 基准}
params: [{name: id, type: int, min: 1, max: 1000, required: true, example: "7"}]
cache: {class: keyed, ttl: 24h, jitter: 0}
forms: [{name: json, json: '{text: "x"}'}]
sources:
  - name: made
    computed: {}
`

// benchServer is a server as `sundry serve` creates it, with metrics.
func benchServer(b testing.TB, limits Limits) *Server {
	b.Helper()
	return serverOf(b, limits, map[string]string{"bench.yaml": benchCatalog, "refusing.yaml": refusingCatalog})
}

// serverOf is a server of these catalog files.
func serverOf(b testing.TB, limits Limits, files map[string]string) *Server {
	b.Helper()
	return serverOn(b, limits, files, cache.Config{})
}

// serverOn is one with a cache of its own configuration.
func serverOn(b testing.TB, limits Limits, files map[string]string, store cache.Config) *Server {
	b.Helper()
	reg := prometheus.NewRegistry()
	env := &upstreams.Environment{Data: catalog.Data(""), Transport: upstreams.NewTransport(), Log: slog.New(slog.DiscardHandler),
		Guard: guard.New(guard.Config{}), Secret: func(string) (string, bool) { return "", false }}
	env.Metrics = upstreams.NewMetrics(reg, &env.Hosts, &env.Quotas)
	dir := b.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	c, err := catalog.Load(catalog.Options{Dir: dir}, env)
	if err != nil {
		b.Fatal(err)
	}
	store.Registerer = reg
	entries, err := cache.New(store)
	if err != nil {
		b.Fatal(err)
	}
	ofAPIs, err := web.NewStore(web.StoreConfig{Memory: 64 << 20, Variants: 50})
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(Config{Cache: entries, Store: ofAPIs, Dial: (&net.Dialer{}).DialContext, Calls: func(string, string) func(error, time.Duration) { return nil }, Settings: Settings{Limits: limits}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Registerer: reg}) //nolint:sloglint // formatting is part of what is measured
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Swap(c); err != nil {
		b.Fatal(err)
	}
	return s
}

// bare writes the same headers and body as a hit and does nothing else.
func bare(like *httptest.ResponseRecorder) http.Handler {
	body := like.Body.Bytes()
	header := like.Header().Clone()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		maps.Copy(h, header)
		_, _ = w.Write(body)
	})
}

func hit(b testing.TB, h http.Handler, path string) *httptest.ResponseRecorder {
	b.Helper()
	var rec *httptest.ResponseRecorder
	for range 2 { // a miss first
		rec = httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, path, nil))
	}
	if rec.Code != http.StatusOK || !strings.Contains(rec.Header().Get("Cache-Status"), "hit") {
		b.Fatalf("%s: %d %v", path, rec.Code, rec.Header())
	}
	return rec
}

// discard is a ResponseWriter that discards the answer.
type discard struct{ h http.Header }

func (n *discard) Header() http.Header         { return n.h }
func (n *discard) Write(b []byte) (int, error) { return len(b), nil }
func (n *discard) WriteHeader(int)             {}

// BenchmarkHandler measures the handler without net/http.
func BenchmarkHandler(b *testing.B) {
	h := benchServer(b, Limits{})
	for name, path := range map[string]string{"hit": "/api/bench", "pool10": "/api/bench?type=ten", "pool10000": "/api/bench?type=pool"} {
		hit(b, h, path)
		r := httptest.NewRequest(http.MethodGet, path, nil)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			w := &discard{}
			for b.Loop() {
				w.h = make(http.Header, 12)
				h.ServeHTTP(w, r)
			}
		})
	}
}

// refusals are the ways in which a request is refused: a path, and the server
// that refuses it with a status.
func refusals(tb testing.TB) map[string]refusal {
	tb.Helper()
	limited, full := benchServer(tb, Limits{Rate: 0.001, Burst: 1}), benchServer(tb, Limits{})
	full.admission.setLimits(Limits{}) // no request may wait
	limited.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api/refusing?id=7", nil))
	return map[string]refusal{
		"limited": {limited, "/api/refusing?id=7", http.StatusTooManyRequests},
		"shed":    {full, "/api/refusing?id=7", http.StatusServiceUnavailable},
		"invalid": {full, "/api/refusing?id=x", http.StatusBadRequest},
		"missing": {full, "/api/refusing", http.StatusBadRequest},
		"unknown": {full, "/api/nothing", http.StatusNotFound},
	}
}

type refusal struct {
	server *Server
	path   string
	status int
}

// BenchmarkRefusals is to be compared with BenchmarkHandler/hit.
func BenchmarkRefusals(b *testing.B) {
	for name, row := range refusals(b) {
		r := httptest.NewRequest(http.MethodGet, row.path, nil)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			w := &discard{}
			for b.Loop() {
				w.h = make(http.Header, 12)
				row.server.ServeHTTP(w, r)
			}
		})
	}
}

// refusalAllocs is the most that a refused request may allocate: a flood of them must
// not cost more than one of hits did before the hot table made those cheaper.
const refusalAllocs = 15

// TestRefusalsAreCheap counts allocations; BenchmarkRefusals measures time.
func TestRefusalsAreCheap(t *testing.T) {
	cost := func(h http.Handler, path string) float64 {
		r, w := httptest.NewRequest(http.MethodGet, path, nil), &discard{}
		return testing.AllocsPerRun(1000, func() {
			w.h = make(http.Header, 12)
			h.ServeHTTP(w, r)
		})
	}
	for name, row := range refusals(t) {
		rec := httptest.NewRecorder()
		row.server.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, row.path, nil))
		if rec.Code != row.status {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
		}
		if n := cost(row.server, row.path); n >= refusalAllocs {
			t.Errorf("%s takes %.0f allocations", name, n)
		}
	}
}

func BenchmarkKey(b *testing.B) {
	env := &upstreams.Environment{Data: catalog.Data(""), Transport: http.DefaultTransport, Log: slog.New(slog.DiscardHandler),
		Guard: guard.New(guard.Config{}), Secret: func(string) (string, bool) { return "", false }}
	env.Metrics = upstreams.NewMetrics(nil, &env.Hosts, &env.Quotas)
	c, err := catalog.Load(catalog.Options{}, env)
	if err != nil {
		b.Fatal(err)
	}
	for name, query := range map[string]string{"wpcat": "n=4&p=2&type=text", "ip": "ip=8.8.8.8"} {
		e, _ := c.Get(name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				in, bad := e.Parse(query, catalog.Caller{Addr: uri.ParseHop("127.0.0.1:1")})
				if bad != nil || in.Key() == "" {
					b.Fatal(bad)
				}
			}
		})
	}
}

// childEnv makes this test binary a server of the kind it names.
const childEnv = "SUNDRY_BENCH_CHILD"

// TestBenchChild is not a test: it is the server that BenchmarkConnection
// starts, so that its CPU time can be told from the load's.
func TestBenchChild(t *testing.T) {
	kind := os.Getenv(childEnv)
	if kind == "" {
		t.Skip("only as a child of BenchmarkConnection")
	}
	var h http.Handler = benchServer(t, Limits{})
	path := map[string]string{"bare": "/api/bench", "hit": "/api/bench", "pool10": "/api/bench?type=ten", "pool10000": "/api/bench?type=pool"}[kind]
	rec := hit(t, h, path)
	if kind == "bare" {
		h = bare(rec)
	}
	serveChild(t, h, path)
}

// serveChild serves until its parent closes the standard input.
func serveChild(t *testing.T, h http.Handler, path string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute}
	go func() { _ = srv.Serve(l) }()
	fmt.Printf("\nLISTEN %s %s\n", l.Addr(), path)
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() { // each line requests the CPU time so far
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("CPU %d\n", u.Utime.Nano()+u.Stime.Nano())
	}
	_ = srv.Close()
}

// child is a server process under load.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	addr string
	path func() string // of the next request
	// expect checks the header of every answer; nil: any will do.
	expect func(http.Header) bool
}

func startChild(b *testing.B, kind string) *child {
	b.Helper()
	return startServer(b, "TestBenchChild", childEnv, kind)
}

// profilesEnv is a directory for CPU and allocation profiles of the servers.
const profilesEnv = "SUNDRY_BENCH_PROFILES"

// startServer starts the server that a test of this binary is with a variable set to a
// kind, and perhaps more after a space.
func startServer(b *testing.B, test, variable, value string) *child {
	b.Helper()
	args := []string{"-test.run=^" + test + "$"}
	if dir := os.Getenv(profilesEnv); dir != "" {
		kind, _, _ := strings.Cut(value, " ")
		path := filepath.Join(dir, kind)
		args = append(args, "-test.cpuprofile="+path+".cpu", "-test.memprofile="+path+".mem", "-test.memprofilerate=131072")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), variable+"="+value)
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	c := &child{cmd: cmd, in: in, out: bufio.NewScanner(out)}
	f := strings.Fields(c.line(b, "LISTEN "))
	c.addr, c.path = f[0], func() string { return f[1] }
	b.Cleanup(func() {
		_ = c.in.Close()
		_ = c.cmd.Wait()
	})
	return c
}

func (c *child) line(b *testing.B, prefix string) string {
	b.Helper()
	for c.out.Scan() {
		if rest, ok := strings.CutPrefix(c.out.Text(), prefix); ok {
			return rest
		}
	}
	b.Fatalf("the server ended without a line %q", prefix)
	return ""
}

func (c *child) cpu(b *testing.B) time.Duration {
	b.Helper()
	if _, err := io.WriteString(c.in, "?\n"); err != nil {
		b.Fatal(err)
	}
	n, err := strconv.ParseInt(c.line(b, "CPU "), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return time.Duration(n)
}

// load sends n requests over each of some connections that stay open, and
// returns the server's CPU time per request.
func (c *child) load(b *testing.B, n int) time.Duration {
	b.Helper()
	return c.loadOver(b, 16, n)
}

func (c *child) loadOver(b *testing.B, conns, n int) time.Duration {
	b.Helper()
	before := c.cpu(b)
	var wg sync.WaitGroup
	for range conns {
		wg.Go(func() { c.client(b, n) })
	}
	wg.Wait()
	return (c.cpu(b) - before) / time.Duration(n*conns)
}

func (c *child) client(b *testing.B, n int) {
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		b.Error(err)
		return
	}
	defer conn.Close()
	r := bufio.NewReaderSize(conn, 64<<10)
	for range n {
		if _, err := io.WriteString(conn, "GET "+c.path()+" HTTP/1.1\r\nHost: bench\r\n\r\n"); err != nil {
			b.Error(err)
			return
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil || resp.StatusCode != http.StatusOK || c.expect != nil && !c.expect(resp.Header) {
			b.Error(resp, err)
			return
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Error(err)
			return
		}
		resp.Body.Close()
	}
}

// BenchmarkConnection measures the CPU time of a server process per request
// over real connections: a bare net/http handler that writes the same headers
// and body, a hit, and hits in pools of two sizes. They run in turns, so that
// other load on the machine affects all alike; the median of the rounds counts.
func BenchmarkConnection(b *testing.B) {
	kinds := []string{"bare", "hit", "pool10", "pool10000"}
	servers := map[string]*child{}
	for _, k := range kinds {
		servers[k] = startChild(b, k)
		servers[k].load(b, 300)
	}
	for b.Loop() {
		rounds := map[string][]time.Duration{}
		for range 9 {
			for _, k := range kinds {
				rounds[k] = append(rounds[k], servers[k].load(b, 600))
			}
		}
		base := median(rounds["bare"])
		b.ReportMetric(float64(base.Nanoseconds()), "bare-cpu-ns")
		for _, k := range kinds[1:] {
			b.ReportMetric(float64(median(rounds[k]))/float64(base), k+"/bare")
		}
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
