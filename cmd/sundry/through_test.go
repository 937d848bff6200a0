package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sundry/cache/far/redistest"
	"sundry/cache/policy"
	"sundry/cache/web"
	"sundry/cmd/sundry/internal/config"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// TestServeTo serves an API as it is with no file at all: cached as it says, all methods, all paths but those of health.
func TestServeTo(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := calls.Add(1)
		if r.Method != http.MethodGet {
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s %s", r.Method, r.URL, body)
			return
		}
		w.Header().Set("Cache-Control", "max-age=60")
		fmt.Fprintf(w, "%s %d", r.URL, n)
	}))
	t.Cleanup(api.Close)
	p := serve(t, "--to", api.URL+"/v1")
	for range 2 {
		if _, body := mustGet(t, p.public+"/api/60s?b=1&a=2"); body != "/v1/api/60s?b=1&a=2 1" {
			t.Errorf("%q", body)
		}
	}
	header, _ := mustGet(t, p.public+"/api/60s?b=1&a=2")
	if s := header.Get("Cache-Status"); !strings.HasPrefix(s, "sundry; hit; ttl=") {
		t.Errorf("%q", s)
	}
	resp, err := http.Post(p.public+"/api/60s?b=1&a=2", "text/plain", strings.NewReader("text"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "POST /v1/api/60s?b=1&a=2 text" {
		t.Errorf("%q", body)
	}
	if _, body := mustGet(t, p.public+"/api/60s?b=1&a=2"); body != "/v1/api/60s?b=1&a=2 3" {
		t.Errorf("%q after a POST", body)
	}
	if _, body := mustGet(t, p.public+"/healthz"); !strings.HasPrefix(body, "/v1/healthz ") {
		t.Errorf("the API's own /healthz: %q", body)
	}
	mustGet(t, p.public+"/-/healthz")
	for _, to := range []string{"api.example.org", "ftp://x", "http://", "http://x?y", "http://u:p@x", "http://x:99999", "unix:a.sock"} {
		if _, errs, err := call(t, nil, "serve", "--to", to); err == nil || !strings.Contains(err.Error(), "https://api.example.org") && !strings.Contains(err.Error(), "unix:/run/app.sock") {
			t.Errorf("%s: %v %s", to, err, errs)
		}
	}
	if _, errs, err := call(t, nil, "serve", "--to", api.URL, "--catalog", t.TempDir()); statusOf(err) != statusMisused || !strings.Contains(err.Error(), "--catalog") {
		t.Errorf("%v %s", err, errs)
	}
}

// counting is an API that numbers its answers to GET, each with a tag and for a minute.
func counting(t *testing.T) (url string, calls *atomic.Int64) {
	t.Helper()
	calls = &atomic.Int64{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := calls.Add(1)
		w.Header().Set("Cache-Control", "max-age=60")
		w.Header().Set("Cache-Tag", "all, "+strings.Trim(r.URL.Path, "/"))
		fmt.Fprintf(w, "%s %s key=%s %d", r.Host, r.URL, r.Header.Get("X-Api-Key"), n)
	}))
	t.Cleanup(api.Close)
	return api.URL, calls
}

// TestAPIsOfACatalog are served beside the endpoints, below their own path or by their Host names, with what their files
// change.
func TestAPIsOfACatalog(t *testing.T) {
	t.Parallel()
	origin, _ := counting(t)
	dir := t.TempDir()
	write(t, dir, "weather.yaml", "version: 1\nname: weather\nsummary: {en: Weather., zh: 天气}\nproxy:\n  to: "+origin+"/v1\n  host: inner.example\n"+
		"  secrets: {key: SUNDRY_TEST_WEATHER}\n  request: {set: {X-Api-Key: 'k-$secrets.key'}}\n  cache: {drop: ['utm_*'], sort: true}\n")
	write(t, dir, "news.yaml", "version: 1\nname: news\nproxy: {to: '"+origin+"', hosts: [News.example.org]}\n")
	p := serveWith(t, map[string]string{"SUNDRY_TEST_WEATHER": "s3cret"}, "--catalog", dir)
	for range 2 {
		if _, body := mustGet(t, p.public+"/api/weather/a?b=1&utm_x=2&a=3"); body != "inner.example /v1/a?a=3&b=1 key=k-s3cret 1" {
			t.Errorf("%q", body)
		}
	}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, p.public+"/api/ip?x", http.NoBody)
	r.Host = "news.EXAMPLE.org:8080"
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); !strings.HasSuffix(string(body), " /api/ip?x key= 2") {
		t.Errorf("%q", body)
	}
	if status, _, _, err := get(p.public + "/api/news/x"); err != nil || status != http.StatusNotFound {
		t.Errorf("an API that has Host names answers below a path: %d", status)
	}
	for _, path := range []string{"/", "/docs", "/status", "/openapi.json"} {
		mustGet(t, p.public+path)
	}
	_, metrics := mustGet(t, p.admin+"/metrics")
	for _, want := range []string{`sundry_requests_total{class="2xx",endpoint="weather",outcome="hit"} 1`, `sundry_requests_total{class="2xx",endpoint="weather",outcome="miss"} 1`,
		`sundry_upstream_attempts_total{endpoint="weather",result="success",source="` + strings.TrimPrefix(origin, "http://") + `"} 1`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %s", want)
		}
	}
}

// TestMistakesOfAPIs are told with file and line, what is allowed and an example.
func TestMistakesOfAPIs(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	few := onlyIn(t)
	for text, want := range map[string]string{
		"proxy: {to: example.org}":                                               `weather.yaml:3: proxy: to: expected the address of an API such as https://api.example.org`,
		"proxy: {to: 'http://127.0.0.1：80'}":                                     `weather.yaml:3: proxy: to: expected the address of an API such as https://api.example.org`,
		"proxy: {to: 'unix:app.sock'}":                                           `weather.yaml:3: proxy: to: expected unix: and the absolute path of a socket, of at most 107 bytes; a colon and the path of the API there may follow; for example unix:/run/app.sock or unix:/run/app.sock:/v1, got "unix:app.sock"`,
		"proxy: {to: 'unix:/app.sock:v1'}":                                       `weather.yaml:3: proxy: to: expected unix: and the absolute path`,
		"proxy: {to: []}":                                                        `proxy: to: expected the address of an API, for example https://api.example.org`,
		"proxyy: {to: 'http://a'}":                                               `weather.yaml:3: unknown key proxyy; did you mean proxy? Expected one of version, name, title, summary, proxy`,
		"proxy: {}":                                                              `proxy: to: expected the address of an API, for example https://api.example.org`,
		"proxy: {to: 'http://a', hosts: ['a b']}":                                `weather.yaml:3: proxy: hosts: expected a name such as weather.example.org, or *.example.org for all names below example.org, got "a b"`,
		"proxy: {to: 'http://a', hosts: ['*.']}":                                 `weather.yaml:3: proxy: hosts: expected a name such as weather.example.org, or *.example.org for all names below example.org, got "*."`,
		"proxy: {to: 'http://a', hosts: ['a.*.org']}":                            `weather.yaml:3: proxy: hosts: expected a name such as weather.example.org, or *.example.org for all names below example.org, got "a.*.org"`,
		"proxy: {to: 'http://a', host: 'a/b'}":                                   `weather.yaml:3: proxy: host: expected origin, caller or a name such as weather.internal, got "a/b"`,
		"proxy: {to: 'http://a', cache: {default: {99: 1m}}}":                    `proxy: cache: default: expected a status from 200 to 599, for example {404: 10s}, got "99"`,
		"proxy: {to: 'http://a', cache: {default: soon}}":                        `expected a number with a unit, such as 90s, 6h or 30d`,
		"proxy: {to: 'http://a', upload: {most: 100MB}}":                         `size "100MB": expected a number of bytes, or of KiB, MiB or GiB, such as 100MiB`,
		"proxy: {to: 'http://a', retry: [404]}":                                  `weather.yaml:3: proxy: retry: expected statuses from 500 to 599, for example [502, 503, 504], got "404"`,
		"proxy: {to: 'http://a', balance: random}":                               `weather.yaml:3: proxy.balance: expected first, round_robin or least, got "random"`,
		"proxy: {to: 'http://a', health: {every: 5s}}":                           `weather.yaml:2: proxy: health: path: expected a path of the API that answers quickly, for example /healthz, got ""`,
		"proxy: {to: 'http://a', health: {path: 'http://a/b'}}":                  `weather.yaml:3: proxy: health: path: expected a path of the API`,
		"proxy: {to: 'http://a', health: {path: /, every: 100ms}}":               `weather.yaml:3: proxy: health: every: expected at least 1s, got 100ms`,
		"proxy: {to: 'http://a', health: {path: /, expect: [up]}}":               `weather.yaml:3: proxy: health: expect: expected statuses from 200 to 599, for example [200, 204], got "up"`,
		"proxy: {to: 'http://a', cache: {tags: ['a:']}}":                         `weather.yaml:3: proxy: cache: tags: expected the name of a field such as User-Agent, got "a:"`,
		"proxy: {to: 'http://a', cache: {tags: [cache-groups]}}":                 `weather.yaml:3: proxy: cache: tags: expected another field than Cache-Groups, such as Cache-Tag; cache groups can be purged without this`,
		"proxy: {to: 'http://a', cache: {drop: ['[']}}":                          `expected the name of a parameter such as gclid, or utm_* for all that begin so, got "["`,
		"proxy: {to: 'http://a', request: {set: {Host: x}}}":                     `proxy: request: set: expected the name of a field such as X-Api-Key`,
		"proxy: {to: 'http://a', request: {set: {A: $secrets.key}}}":             `there is no $secrets.key; expected it below secrets, for example secrets: {key: SUNDRY_WEATHER_KEY}`,
		"proxy: {to: 'http://a', cache: {callers: no}}":                          `weather.yaml:3: proxy.cache.callers: expected honour or ignore, got "no"`,
		"proxy: {to: 'http://a', cache: {cookies: always}}":                      `weather.yaml:3: proxy.cache.cookies: expected explicit or never, got "always"`,
		"proxy: {to: 'http://a', cache: {credentials: all}}":                     `weather.yaml:3: proxy.cache.credentials: expected separate or shared, got "all"`,
		"proxy: {to: 'http://a', cache: {heuristic: 7}}":                         `weather.yaml:3: proxy.cache.heuristic: expected 0 to 1, got 7`,
		"proxy: {to: 'http://a', cache: {body: -1}}":                             `weather.yaml:3: proxy.cache.body: expected 0 to 268435456, got -1`,
		"proxy: {to: 'http://a', cach: {}}":                                      `weather.yaml:3: unknown key cach in proxy; did you mean cache?`,
		"params: []\nproxy: {to: 'http://a'}":                                    `weather.yaml:3: unknown key params`,
		"summary: {}\nproxy: {to: 'http://a'}":                                   `weather.yaml:3: expected a text, or one in each language, as in {en: A joke., zh: 笑话}`,
		"proxy: {to: 'http://a', tls: {ca: ca.pem}}":                             `proxy: tls: expected an address in to that begins with https://`,
		"proxy: {to: 'https://a', tls: {ca: missing.pem}}":                       `weather.yaml:3: proxy: tls: ca: expected a file in PEM beside this one, or an absolute path: stat `,
		"proxy: {to: 'https://a', tls: {ca: .}}":                                 `not a regular file`,
		"proxy: {to: 'https://a', tls: {ca: weather.yaml}}":                      `weather.yaml:3: proxy: tls: ca: weather.yaml: expected certificates in PEM, which begin with -----BEGIN CERTIFICATE-----`,
		"proxy: {to: 'https://a', tls: {key: k.pem}}":                            `weather.yaml:3: proxy: tls: expected both cert and key, for example {cert: client.pem, key: client-key.pem}`,
		"proxy: {to: 'https://a', tls: {cert: weather.yaml, key: weather.yaml}}": `weather.yaml:3: proxy: tls: cert and key: expected a certificate and its private key in PEM: `,
		"proxy: {to: 'https://a', tls: {server_name: 'a b'}}":                    `weather.yaml:3: proxy: tls: server_name: expected the name of its certificate such as weather.internal, got "a b"`,

		"proxy: {to: 'http://a', compress: true, cache: {ignore_vary: [A, accept-encoding]}}": `weather.yaml:3: proxy: cache: ignore_vary: with compress: true, clients that do not accept gzip would get it; expected other fields than Accept-Encoding, such as User-Agent`,
	} {
		dir := t.TempDir()
		write(t, dir, "weather.yaml", "version: 1\nname: weather\n"+text+"\n")
		if _, errs, err := call(t, few, "check", "--catalog", dir); err == nil || !strings.Contains(errs, want) {
			t.Errorf("%s:\n%s%v\nwant %s", text, errs, err, want)
		}
	}
	dir := t.TempDir()
	write(t, dir, "a.yaml", "version: 1\nname: a\nproxy: {to: 'http://a', hosts: [x.org]}\n")
	write(t, dir, "b.yaml", "version: 1\nname: b\nproxy: {to: 'http://a', hosts: [X.org]}\n")
	if _, errs, err := call(t, few, "check", "--catalog", dir); err == nil || !strings.Contains(errs, "b.yaml: proxy: hosts: x.org belongs to a already") {
		t.Errorf("%s %v", errs, err)
	}
}

// TestProbesOfAnAPIBelowABasePath are answered here, as load balancers and sundry health ask for them. Those of the API are its own.
func TestProbesOfAnAPIBelowABasePath(t *testing.T) {
	t.Parallel()
	origin, calls := counting(t)
	p := serveWith(t, map[string]string{"SUNDRY_BASE_PATH": "/tools"}, "--to", origin)
	for _, path := range []string{"/tools/-/healthz", "/tools/-/readyz"} {
		mustGet(t, p.public+path)
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("the origin was asked %d times", n)
	}
	for _, path := range []string{"/tools/healthz", "/tools/readyz", "/tools/status", "/-/healthz", "/status"} {
		mustGet(t, p.public+path)
	}
	if n := calls.Load(); n != 5 {
		t.Errorf("the origin was asked %d times for five paths of its own", n)
	}
}

// TestServeToCallsNoUpstream of endpoints that nobody can ask for, whatever the configuration says of warming.
func TestServeToCallsNoUpstream(t *testing.T) {
	t.Parallel()
	for warm, want := range map[string]bool{"": true, "true": true, "false": false} {
		s := &server{cmd: &serveCmd{}, config: &config.Config{}}
		s.config.Cache.Warm = config.Choice(warm)
		if s.warms() != want {
			t.Errorf("warm: %q is not heard", warm)
		}
		if s.cmd.To = "http://127.0.0.1:9/"; s.warms() {
			t.Errorf("warm: %q: upstreams are called", warm)
		}
	}
}

// TestPurgesOfAnAPI by URL, prefix, tag and whole, hard and soft, by the admin API and by PURGE.
func TestPurgesOfAnAPI(t *testing.T) {
	t.Parallel()
	origin, calls := counting(t)
	p := serve(t, "--to", origin)
	paths := []string{"/a", "/a/b?x=1", "/c"}
	fill := func() {
		for _, path := range paths {
			mustGet(t, p.public+path)
		}
	}
	purge := func(body string) func() {
		return func() {
			if _, v := p.ask(http.MethodPost, "purge", body); v["change"] == nil {
				t.Errorf("%s: %v", body, v)
			}
		}
	}
	method := func(path string, header http.Header) func() {
		return func() {
			r, _ := http.NewRequestWithContext(t.Context(), "PURGE", p.admin+path, http.NoBody)
			r.Header = header
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if b, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
				t.Errorf("PURGE %s: %s %s", path, resp.Status, b)
			}
		}
	}
	for _, row := range []struct {
		purge func()
		gone  int64
	}{
		{purge(`{"endpoint":"api","url":"/a","mode":"hard"}`), 1},
		{purge(`{"endpoint":"api","prefix":"/a","mode":"hard"}`), 2},
		{purge(`{"endpoint":"api","tag":"c","mode":"hard"}`), 1},
		{purge(`{"endpoint":"api","tag":"all","mode":"soft"}`), 3},
		{purge(`{"endpoint":"api","mode":"hard"}`), 3},
		{purge(`{"endpoint":"*","mode":"soft"}`), 3},
		{method("/a/b?x=1", nil), 1},
		{method("/", http.Header{"Cache-Tag": {"all"}, "Soft-Purge": {"1"}}), 3},
	} {
		fill()
		before := calls.Load()
		fill()
		if n := calls.Load() - before; n != 0 {
			t.Fatalf("%d calls for what is fresh", n)
		}
		row.purge()
		if fill(); calls.Load()-before != row.gone {
			t.Errorf("%d calls after a purge, want %d", calls.Load()-before, row.gone)
		}
	}
	_, kept := p.ask(http.MethodGet, "apis/api/entries?tag=all", "")
	if entries, ok := kept["entries"].([]any); !ok || len(entries) != 3 {
		t.Errorf("%v", kept)
	}
	if _, v := p.ask(http.MethodGet, "apis", ""); fmt.Sprint(v["apis"].([]any)[0].(map[string]any)["kept"]) != "3" {
		t.Errorf("%v", v)
	}
}

// TestAFleetSharesAnAPI: what one instance has fetched the other has too, what one has replaced or purged, in whatever way,
// is gone at both, and a third that starts later does not find it either.
func TestAFleetSharesAnAPI(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	origin, calls := counting(t)
	start := func() *instance { return serve(t, "--to", origin, "--redis", patient(redis.URL())) }
	one, two := start(), start()
	body := func(p *instance) string { _, b := mustGet(t, p.public+"/a"); return b }
	first := body(one)
	waittest.Until(t, "the response in Redis", func() bool {
		reply, err := redis.Do("EXISTS sundry:/web:api/a")
		return err == nil && strings.HasPrefix(reply, ":1")
	})
	if got := body(two); got != first || calls.Load() != 1 {
		t.Fatalf("%q and %q in %d calls", first, got, calls.Load())
	}
	for _, change := range []func(){
		func() { one.mustAsk(http.MethodPost, "purge", `{"endpoint":"api","tag":"a","mode":"hard"}`) },
		func() { one.mustAsk(http.MethodPost, "purge", `{"endpoint":"api","url":"/a","mode":"soft"}`) },
		func() {
			resp, err := http.Post(one.public+"/a", "text/plain", strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
		},
	} {
		before := body(two)
		outlastClockDifference(t)
		change()
		outlastClockDifference(t) // what is fetched sooner may count as older than the change, and is then not shared
		waittest.Until(t, "another response at the other instance", func() bool { return body(two) != before })
		waittest.Until(t, "the same one at both", func() bool { return body(one) == body(two) })
	}
	one.mustAsk(http.MethodPost, "purge", `{"endpoint":"api","mode":"hard"}`)
	before := calls.Load()
	three := start()
	if body(three); calls.Load() != before+1 {
		t.Errorf("%d calls of an instance that starts after a purge", calls.Load()-before)
	}
}

// TestARestartKeepsWhatAPIsAnswered, and of a process that did not end in order nothing.
func TestARestartKeepsWhatAPIsAnswered(t *testing.T) {
	t.Parallel()
	origin, calls := counting(t)
	env := keptIn(t.TempDir())
	p := serveWith(t, env, "--to", origin)
	mustGet(t, p.public+"/a")
	p.end()
	p = serveWith(t, env, "--to", origin)
	if mustGet(t, p.public+"/a"); calls.Load() != 1 {
		t.Errorf("%d calls: it was not kept", calls.Load())
	}
	if _, err := os.Stat(filepath.Join(env["SUNDRY_DATA"], "snapshot")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file would be read after a crash: %v", err)
	}
	p.end()
	other, asked := counting(t)
	p = serveWith(t, env, "--to", other)
	if mustGet(t, p.public+"/a"); asked.Load() != 1 {
		t.Error("what another API has answered is taken for this one's")
	}
}

// TestPipesInThePlaceOfWhatIsKept keep no instance from starting and ending.
func TestPipesInThePlaceOfWhatIsKept(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for _, name := range []string{"snapshot", "advice", "status", "marks"} {
		if err := syscall.Mkfifo(filepath.Join(data, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	origin, _ := counting(t)
	p := serveWith(t, keptIn(data), "--to", origin)
	mustGet(t, p.public+"/a")
	p.end()
	if log := p.stderr.String(); strings.Count(log, "expected a regular file") < 3 {
		t.Errorf("the log says\n%s", log)
	}
}

// TestARestartForgetsTheLastPurge: one that is answered when no more connections come to the admin listener.
func TestARestartForgetsTheLastPurge(t *testing.T) {
	t.Parallel()
	origin, calls := counting(t)
	env := keptIn(t.TempDir())
	p := serveWith(t, env, "--to", origin)
	mustGet(t, p.public+"/a")
	address := strings.TrimPrefix(p.admin, "http://")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const order = `{"endpoint":"api","mode":"hard"}`
	_, _ = fmt.Fprintf(c, "POST /admin/api/purge HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n", address, len(order))
	in := bufio.NewReader(c)
	if line, err := in.ReadString('\n'); !strings.Contains(line, "100") {
		t.Fatal(line, err)
	}
	p.stop()
	waittest.Until(t, "no more connections to it", func() bool {
		other, err := net.Dial("tcp", address)
		if err == nil {
			_ = other.Close()
		}
		return err != nil
	})
	_, _ = fmt.Fprint(c, order)
	_, _ = in.ReadString('\n') // the empty line that ends the interim answer
	if line, err := in.ReadString('\n'); !strings.Contains(line, "200") {
		t.Fatal(line, err)
	}
	p.end()
	p = serveWith(t, env, "--to", origin)
	if mustGet(t, p.public+"/a"); calls.Load() != 2 {
		t.Errorf("%d calls: what was purged came back", calls.Load())
	}
}

// TestARestartForgetsWhatTheLastRequestsChanged: they are waited for before what is kept of APIs is written.
func TestARestartForgetsWhatTheLastRequestsChanged(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	asked, goOn := make(chan struct{}), make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			close(asked)
			<-goOn
			return
		}
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = fmt.Fprint(w, calls.Add(1))
	}))
	t.Cleanup(origin.Close)
	data := t.TempDir()
	p := serveWith(t, keptIn(data), "--to", origin.URL)
	mustGet(t, p.public+"/a")
	put := make(chan error, 1)
	go func() {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, p.public+"/a", strings.NewReader("x"))
		if err == nil {
			var resp *http.Response
			if resp, err = http.DefaultClient.Do(r); err == nil {
				resp.Body.Close()
			}
		}
		put <- err
	}()
	<-asked
	p.stop()
	waittest.Until(t, "no more connections", func() bool {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.public, "http://"))
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	close(goOn)
	if err := <-put; err != nil {
		t.Fatal(err)
	}
	p.end()
	p = serveWith(t, keptIn(data), "--to", origin.URL)
	if _, body := mustGet(t, p.public+"/a"); body != "2" {
		t.Errorf("answer %s, of before the change", body)
	}
}

// TestAnAPIThatMoves answers nothing that is from where it was.
func TestAnAPIThatMoves(t *testing.T) {
	t.Parallel()
	asked, goOn := make(chan struct{}), make(chan struct{})
	before := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		if r.Method == http.MethodPost { // whose answer is that of a GET
			w.Header().Set("Content-Location", r.URL.Path)
			close(asked)
			<-goOn
		}
		_, _ = io.WriteString(w, "before")
	}))
	t.Cleanup(before.Close)
	after, calls := counting(t)
	dir := t.TempDir()
	declared := func(to string) {
		write(t, dir, "weather.yaml", "version: 1\nname: weather\nproxy: {to: '"+to+"', host: origin}\n")
	}
	declared(before.URL)
	p := serveWith(t, nil, "--catalog", dir)
	mustGet(t, p.public+"/api/weather/a")
	posted := make(chan error, 1)
	go func() {
		resp, err := http.Post(p.public+"/api/weather/b", "text/plain", strings.NewReader("x"))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		posted <- err
	}()
	<-asked
	declared(after)
	waittest.Until(t, "the reload", func() bool {
		mustGet(t, p.public+fmt.Sprint("/api/weather/", time.Now().UnixNano()))
		return calls.Load() > 0
	})
	close(goOn)
	if err := <-posted; err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a", "b"} {
		if _, body := mustGet(t, p.public+"/api/weather/"+path); !strings.HasPrefix(body, strings.TrimPrefix(after, "http://")) {
			t.Errorf("%s: %q", path, body)
		}
	}
}

// TestAnAPIWhoseCallersAreToldApart by a field that its file names now: nobody gets what was kept for all before.
func TestAnAPIWhoseCallersAreToldApart(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		_, _ = io.WriteString(w, r.Header.Get("X-Tenant"))
	}))
	t.Cleanup(origin.Close)
	dir := t.TempDir()
	declared := func(more string) {
		write(t, dir, "weather.yaml", "version: 1\nname: weather\nproxy: {to: '"+origin.URL+"'"+more+"}\n")
	}
	declared("")
	p := serveWith(t, nil, "--catalog", dir)
	ask := func(tenant string) (varies bool, body string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.public+"/api/weather/a", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Tenant", tenant)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.Header.Get("Vary") != "", string(b)
	}
	if _, body := ask("one"); body != "one" {
		t.Fatal(body)
	}
	declared(", response: {set: {Vary: X-Tenant}}")
	waittest.Until(t, "the reload", func() bool { varies, _ := ask("one"); return varies })
	if _, body := ask("two"); body != "two" {
		t.Errorf("two got what was kept for %s", body)
	}
}

// TestClientsOfAnAPIAreLimited each in what is not stored, also behind a trusted proxy, which itself is not.
func TestClientsOfAnAPIAreLimited(t *testing.T) {
	t.Parallel()
	origin, _ := counting(t)
	p := serveWith(t, map[string]string{"SUNDRY_LIMITS_RATE": "0.001", "SUNDRY_LIMITS_BURST": "3", "SUNDRY_TRUSTED_PROXIES": "127.0.0.0/8"}, "--to", origin)
	for _, row := range []struct{ client, want string }{
		{"192.0.2.1", "200 200 200 429 429"}, {"192.0.2.2", "200 200 200 429 429"}, {"", "200 200 200 200 200"},
	} {
		var got []string
		for i := range 5 {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprint(p.public, "/", row.client, "/", i), http.NoBody)
			if row.client != "" {
				r.Header.Set("X-Forwarded-For", row.client)
			}
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			got = append(got, fmt.Sprint(resp.StatusCode))
		}
		if s := strings.Join(got, " "); s != row.want {
			t.Errorf("%q: %s, want %s", row.client, s, row.want)
		}
	}
}

// TestASecondPurgeOfAnAPIIsNoRepetition, however soon it follows the first.
func TestASecondPurgeOfAnAPIIsNoRepetition(t *testing.T) {
	t.Parallel()
	store, err := web.NewStore(web.StoreConfig{Memory: 1 << 20, Variants: 1})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{store: store}
	for range 2 {
		s.purgeAPIs(map[string]policy.Purge{"x": {Hard: time.Now()}})
		r := &web.Response{Status: http.StatusOK, Header: http.Header{"Cache-Control": {"max-age=60"}}, Requested: time.Now(), Received: time.Now()}
		terms, selector := web.TermsOf(r, &web.Rules{}), store.Selector(nil, &web.Rules{})
		if store.Get("x/a") != nil || !store.Put("x/a", web.NewObject(r, &terms, &selector, &web.Rules{})) {
			t.Fatal("what was asked for between the purges is there, or what is asked for after them is not")
		}
	}
}

// TestErrorsOfAnAPICanBeFound: who gets one has the id by which the log has it, with the path and without the query.
func TestErrorsOfAnAPICanBeFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "weather.yaml", "version: 1\nname: weather\nproxy: {to: 'http://127.0.0.1:9'}\n")
	p := serve(t, "--replay", "--catalog", dir)
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, p.public+"/api/weather/a/b?key=s3cret", http.NoBody)
	r.Header = http.Header{"X-Request-Id": {"call-7"}, "Accept-Language": {"en"}}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if h := resp.Header; resp.StatusCode != http.StatusBadGateway || h.Get("X-Request-Id") != "call-7" || h.Get("Sundry-Error") != "upstream_unavailable" ||
		!strings.Contains(string(body), `"the origin is not asked: there is no network in replay"`) {
		t.Errorf("%s %v %s", resp.Status, h, body)
	}
	waittest.Until(t, "the line", func() bool { return strings.Contains(p.stderr.String(), "id=call-7 endpoint=weather path=/a/b ") })
	if strings.Contains(p.stderr.String(), "s3cret") {
		t.Error("the query is logged")
	}
}

// TestAWebSocketIsCounted as one request, and is none that took an hour.
func TestAWebSocketIsCounted(t *testing.T) {
	t.Parallel()
	p := serve(t, "--to", echo(t))
	conn, ok := openTunnel(t, "127.0.0.1", p.public)
	if !ok {
		t.Fatal("no tunnel")
	}
	conn.Close()
	metrics := ""
	waittest.Until(t, "the request to be counted", func() bool {
		_, metrics = mustGet(t, p.admin+"/metrics")
		return strings.Contains(metrics, `sundry_requests_total{class="1xx",endpoint="api",outcome="bypass"} 1`)
	})
	if !strings.Contains(metrics, `sundry_request_duration_seconds_count{endpoint="api"} 0`) {
		t.Error("it counts among what took long")
	}
}

// TestRedirectionsOfAnAPILeadHere, wherever it is: what was kept of another place is not used after a reload.
func TestRedirectionsOfAnAPILeadHere(t *testing.T) {
	t.Parallel()
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		http.Redirect(w, r, "http://"+r.Host+"/b", http.StatusMovedPermanently)
	}))
	t.Cleanup(origin.Close)
	dir := t.TempDir()
	declared := func(more string) {
		write(t, dir, "weather.yaml", "version: 1\nname: weather\nproxy: {to: '"+origin.URL+"'"+more+"}\n")
	}
	declared("")
	p := serveWith(t, nil, "--catalog", dir)
	location := func(path, host string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.public+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		return resp.Header.Get("Location")
	}
	if got := location("/api/weather/a", ""); got != "/api/weather/b" {
		t.Errorf("below a prefix: %s", got)
	}
	declared(", hosts: [weather.example.org]")
	waittest.Until(t, "the reload", func() bool { return location("/a", "weather.example.org") != "" })
	if got := location("/a", "weather.example.org"); got != "/b" {
		t.Errorf("by its name: %s", got)
	}
}
