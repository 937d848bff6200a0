package proxy

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sundry/cache"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/envtest"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/host"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/replay"
)

func TestMain(m *testing.M) {
	longtest.WaitTogether()
	longtest.CollectLess()
	goleak.VerifyTestMain(m)
}

// fake is an upstream whose answers a test sets.
type fake struct {
	*httptest.Server
	calls  atomic.Int64
	status atomic.Int64
	takes  atomic.Int64 // nanoseconds
	body   atomic.Value
}

func newFake(t testing.TB, body string) *fake {
	t.Helper()
	f := &fake{}
	f.status.Store(http.StatusOK)
	f.body.Store(body)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.calls.Add(1)
		select {
		case <-time.After(time.Duration(f.takes.Load())):
		case <-r.Context().Done():
			return
		}
		w.WriteHeader(int(f.status.Load()))
		_, _ = io.WriteString(w, f.body.Load().(string))
	}))
	t.Cleanup(f.Close)
	return f
}

// front is a server with a catalog of the test's own, if it has any, or else the built-in
// one; where calls are replayed, with both.
type front struct {
	*httptest.Server
	server *Server
	env    *upstreams.Environment
	dir    string
	t      testing.TB
	over   map[string]catalog.Overrides
}

// allOff turns all built-in endpoints off but these, which saves the time to compile them.
func allOff(but ...string) map[string]catalog.Overrides {
	off := map[string]catalog.Overrides{}
	for _, name := range catalog.BuiltinNames() {
		off[name] = catalog.Overrides{Off: true}
	}
	for _, name := range but {
		delete(off, name)
	}
	return off
}

type option func(*Config, *upstreams.Environment)

func newFront(t testing.TB, files map[string]string, options ...option) *front {
	t.Helper()
	transport := upstreams.NewTransport()
	env := &upstreams.Environment{
		Guard: guard.New(guard.Config{}), Transport: transport, Data: catalog.Data(""),
		Secret: func(string) (string, bool) { return "", false }, Log: slog.New(slog.DiscardHandler),
		Hosts: host.Hosts{Config: host.Config{Open: 300 * time.Millisecond}},
	}
	env.Metrics = upstreams.NewMetrics(nil, &env.Hosts, &env.Quotas)
	store, err := cache.New(cache.Config{Memory: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Cache: store, Log: slog.New(slog.DiscardHandler)}
	for _, o := range options {
		o(&cfg, env)
	}
	env.StepCache = catalog.StepCache{Cache: cfg.Cache}
	f := &front{env: env, dir: t.TempDir(), t: t}
	if few, ok := env.Replay.(ofFew); ok {
		f.over = allOff(few.names...)
	} else if env.Replay == nil && len(files) > 0 {
		f.over = allOff()
	}
	if f.server, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	f.load(files)
	f.Server = httptest.NewServer(f.server)
	t.Cleanup(func() {
		f.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		env.CloseIdle()
		transport.CloseIdleConnections()
	})
	return f
}

// withBuiltins adds built-in endpoints.
func (f *front) withBuiltins(names ...string) *front {
	f.t.Helper()
	f.over = allOff(names...)
	f.load(nil)
	return f
}

// load writes the files and swaps the catalog, as a reload does.
func (f *front) load(files map[string]string) {
	f.t.Helper()
	for name, text := range files {
		delete(f.over, name)
		if err := os.WriteFile(filepath.Join(f.dir, name+".yaml"), []byte(text), 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	c, err := catalog.Load(catalog.Options{Dir: f.dir, Overrides: f.over}, f.env)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.server.Swap(c); err != nil {
		f.t.Fatal(err)
	}
}

type answer struct {
	*http.Response
	body string
}

func (f *front) get(path string, headers ...string) answer {
	f.t.Helper()
	return f.do(f.t.Context(), http.MethodGet, path, headers...)
}

func (f *front) do(ctx context.Context, method, path string, headers ...string) answer {
	f.t.Helper()
	a, err := f.try(ctx, method, path, headers...)
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

func (f *front) try(ctx context.Context, method, path string, headers ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, f.URL+path, nil)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := http.Client{Transport: f.Client().Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp, string(b)}, err
}

func (a answer) want(t testing.TB, status int, parts ...string) {
	t.Helper()
	if a.StatusCode != status {
		t.Errorf("status %d, want %d: %s", a.StatusCode, status, a.body)
	}
	for _, p := range parts {
		if !strings.Contains(a.body, p) {
			t.Errorf("body lacks %q: %s", p, a.body)
		}
	}
}

func (a answer) header(t testing.TB, name, want string) {
	t.Helper()
	if got := a.Header.Get(name); !strings.Contains(got, want) {
		t.Errorf("%s: %q, want it to hold %q", name, got, want)
	}
}

// simple is an endpoint with a source for each fake and the given cache settings.
func simple(cacheRule string, sources ...*fake) string {
	text := `version: 1
name: simple
group: text
summary: {en: A test., zh: 测试}
params:
  - {name: id, type: int, min: 1, max: 1000, default: "1", example: "7"}
  - {name: type, role: form, example: text}
cache: {class: shared, ` + cacheRule + `}
forms:
  - {name: json, json: .}
  - {name: text, text: .v}
  - {name: goto, redirect: '"https://example.org/" + .v'}
sources:
`
	for i, s := range sources {
		text += "  - {name: " + []string{"first", "second", "third"}[i] + ", timeout: 2s, http: {url: \"" + s.URL + "/item\", query: {id: \"{id}\"}}, judge: [{status: [404], is: negative}]}\n"
	}
	return text
}

// cases and exchanges are read and compiled once for all tests.
var cases = sync.OnceValue(func() []*fixtures.Case {
	all, err := fixtures.BuiltinCases()
	if err != nil {
		panic(err)
	}
	return all
})

var exchanges = sync.OnceValue(func() []*replay.Exchange {
	env := envtest.Bare()
	env.Data, env.Replay = catalog.Data(""), replay.New(nil)
	c, err := catalog.Load(catalog.Options{}, env)
	if err != nil {
		panic(err)
	}
	ready, err := fixtures.ReadyFor(c, cases())
	if err != nil {
		panic(err)
	}
	return fixtures.Exchanges(ready)
})

func replayed(_ *Config, env *upstreams.Environment) {
	network := replay.New(nil)
	network.Set(exchanges())
	env.Replay = network
}

// replaying is replayed with these built-in endpoints alone: all of them take most of a test's time to compile.
func replaying(names ...string) option {
	return func(c *Config, env *upstreams.Environment) {
		replayed(c, env)
		env.Replay = ofFew{env.Replay, names}
	}
}

// ofFew is a network for the built-in endpoints of these names.
type ofFew struct {
	upstreams.Network
	names []string
}

func trusting(ranges ...string) option {
	return func(c *Config, _ *upstreams.Environment) {
		for _, r := range ranges {
			c.Trusted = append(c.Trusted, netip.MustParsePrefix(r))
		}
	}
}

// ofMany lets all requests of a test be those of many clients: a trusted proxy does not name them.
func ofMany(c *Config, env *upstreams.Environment) { trusting("127.0.0.0/8")(c, env) }

// Swap replaces the catalog.
func (s *Server) Swap(c *catalog.Catalog) error {
	return s.Reload(c, s.current.Load().settings.Settings)
}
