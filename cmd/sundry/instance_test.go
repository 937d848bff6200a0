package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// output collects what a command prints while it runs.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

func noEnv(string) (string, bool) { return "", false }

// instance is `sundry serve` running in this process.
type instance struct {
	t      testing.TB
	stderr *output
	public string
	admin  string
	stop   context.CancelFunc
	done   chan error
	panics bool // as the test has it
}

// listening finds the addresses in a log of text or JSON.
var listening = regexp.MustCompile(`serving"?[ ,]"?public"?[=:]"?([^\s",]+)"?[ ,]"?admin"?[=:]"?([^\s",]+)`)

func serve(t testing.TB, args ...string) *instance {
	t.Helper()
	return serveWith(t, nil, args...)
}

// only is the part of a configuration that turns all endpoints of the program off but these. With
// the race detector, all of them take a second and a half to compile.
func only(names ...string) string {
	lines := "endpoints:\n"
	for _, name := range catalog.BuiltinNames() {
		if !slices.Contains(names, name) {
			lines += "  " + name + ": {off: true}\n"
		}
	}
	return lines
}

// onlyWith is only, with settings of the endpoint.
func onlyWith(name, settings string) string {
	return strings.Replace(only(name), "\n", "\n  "+name+": "+settings+"\n", 1)
}

// onlyIn is a variable that names a configuration with these endpoints of the program alone.
func onlyIn(t testing.TB, names ...string) map[string]string {
	t.Helper()
	return map[string]string{"SUNDRY_CONFIG": write(t, t.TempDir(), "few.yaml", only(names...))}
}

// serveWith adds variables. Nobody is in front of the server that had to hear
// of its end first.
func serveWith(t testing.TB, env map[string]string, args ...string) *instance {
	t.Helper()
	getenv := func(name string) (string, bool) {
		if v, ok := env[name]; ok || name != "SUNDRY_DRAIN_DELAY" {
			return v, ok
		}
		return "0s", true
	}
	return launch(t, &process{getenv: getenv}, args...)
}

// launch serves with a process that gets its end and its outputs here.
func launch(t testing.TB, w *process, args ...string) *instance {
	t.Helper()
	longtest.NotShort(t, "it serves")
	ctx, stop := context.WithCancel(context.Background())
	p := &instance{t: t, stderr: &output{}, stop: stop, done: make(chan error, 1)}
	w.ctx, w.urgent, w.stderr = ctx, context.Background(), p.stderr
	w.light = true // see TestMain
	if w.stdout == nil {
		w.stdout = io.Discard
	}
	if !slices.Contains(args, "--replay") && !slices.Contains(args, "--config") {
		// Nothing here may ask a real upstream, and warming would. All clients of a
		// test have one address, and share the processors with the server.
		config := "cache: {warm: false}\nlimits: {rate: 0, queue_delay: 0s}\n"
		if slices.Contains(args, "--catalog") {
			config += only()
		}
		args = append(args, "--config", write(t, t.TempDir(), "cold.yaml", config))
	}
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)
	go func() { p.done <- execute(w, args) }()
	waittest.Until(t, "the server listens", func() bool {
		m := listening.FindStringSubmatch(p.stderr.String())
		if m == nil {
			return false
		}
		p.public, p.admin = "http://"+m[1], "http://"+m[2]
		return true
	})
	t.Cleanup(p.end)
	return p
}

func (p *instance) end() {
	http.DefaultClient.CloseIdleConnections()
	p.stop()
	select {
	case err, ok := <-p.done:
		if ok && err != nil {
			p.t.Errorf("serve: %v\n%s", err, p.stderr)
		}
		if ok {
			close(p.done)
		}
	case <-time.After(30 * time.Second):
		p.t.Error("the server does not stop")
	}
	http.DefaultClient.CloseIdleConnections()
	if log := p.stderr.String(); !p.panics && strings.Contains(log, "a panic was caught") {
		p.t.Errorf("it panicked:\n%s", log)
	}
}

// clientName is the Host by which tests reach each instance, as by a balancer in front: responses are stored for one.
const clientName = "localhost"

func get(url string) (status int, header http.Header, body string, err error) {
	r, err := http.NewRequest(http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, nil, "", err
	}
	r.Host = clientName
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b), err
}

func mustGet(t testing.TB, url string) (http.Header, string) {
	t.Helper()
	status, header, body, err := get(url)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s %v", url, status, body, err)
	}
	return header, body
}

// upstream is a source for catalog files of the tests.
type upstream struct {
	*httptest.Server
	calls atomic.Int64
	takes atomic.Int64
}

func newUpstream(t testing.TB) *upstream {
	t.Helper()
	u := &upstream{}
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.calls.Add(1)
		select {
		case <-time.After(time.Duration(u.takes.Load())):
		case <-r.Context().Done():
		}
		fmt.Fprintf(w, `{"id":%q}`, r.URL.Query().Get("id"))
	}))
	t.Cleanup(u.Close)
	return u
}

// patient is the address of a Redis that is waited for: a read that takes longer than its usual
// time, as on a busy machine, is a miss, which is not what every test is about.
func patient(redis string) string { return redis + "?read_timeout=2s&pool_timeout=2s" }

// catalogDir holds one endpoint, "own", with the given cache rule.
func catalogDir(t testing.TB, u *upstream, rule string) string {
	t.Helper()
	dir := t.TempDir()
	writeOwn(t, dir, u, rule)
	return dir
}

func writeOwn(t testing.TB, dir string, u *upstream, rule string) {
	t.Helper()
	writeEndpoint(t, dir, "own", u.URL, rule)
}

// writeEndpoint writes the file of an endpoint with an id, whose source is at the URL.
func writeEndpoint(t testing.TB, dir, name, source, rule string) {
	t.Helper()
	writeSources(t, dir, name, rule, `sources: [{name: up, timeout: 3s, http: {url: "`+source+`/", query: {id: "{id}"}}}]
`)
}

// writeSources writes the file of an endpoint with an id and these sources.
func writeSources(t testing.TB, dir, name, rule, sources string) {
	t.Helper()
	write(t, dir, name+".yaml", `version: 1
name: `+name+`
group: lookups
summary: {en: Own., zh: 自己的}
params: [{name: id, type: int, min: 1, max: 1000000000, default: "1", example: "1"}]
cache: {class: keyed, `+rule+`}
forms: [{name: json, json: .}]
`+sources)
}

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// kill stops the process, whose requests under way may be cut off.
func (p *instance) kill(t *testing.T) {
	t.Helper()
	p.stop()
	select {
	case <-p.done:
		close(p.done)
	case <-time.After(10 * time.Second):
		t.Error("the server does not stop")
	}
}

// run executes a command line in a process that no second signal can stop at once.
func run(ctx context.Context, args []string, getenv func(string) (string, bool), stdout, stderr io.Writer) error {
	return execute(&process{ctx: ctx, urgent: context.Background(), getenv: getenv, stdout: stdout, stderr: stderr}, args)
}

// metric is the value of a series, which is given as a regular expression.
func (p *instance) metric(name string) float64 {
	p.t.Helper()
	_, body := mustGet(p.t, p.admin+"/metrics")
	m := regexp.MustCompile(`(?m)^` + name + ` (\S+)$`).FindStringSubmatch(body)
	if m == nil {
		p.t.Fatalf("no metric %s", name)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}
