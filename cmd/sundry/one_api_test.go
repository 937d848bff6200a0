package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"
)

// silent is an API that says nothing about caching, and counts its calls.
func silent(t *testing.T) (url string, calls *atomic.Int64) {
	t.Helper()
	calls = &atomic.Int64{}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprintf(w, `{"call":%d,"host":%q}`, calls.Add(1), r.Host)
	}))
	t.Cleanup(origin.Close)
	return origin.URL, calls
}

// TestTheFirstHit: an API that says nothing about caching has one by --ttl, for whoever sends no credentials.
func TestTheFirstHit(t *testing.T) {
	t.Parallel()
	origin, _ := silent(t)
	p := serve(t, "--to", origin, "--ttl", "1m", "--host", "shop.example.org", "--name", "shop")
	ask := func(path string, lines ...string) (status, body string) {
		return getAs(t, clientName, p.public+path, lines...)
	}
	for _, row := range []struct{ path, fields, status, body string }{
		{"/a", "", "fwd=uri-miss; stored", `{"call":1,"host":"shop.example.org"}`},
		{"/a", "", "hit; ttl=", `{"call":1,"host":"shop.example.org"}`},
		{"/a", "Cookie: a=b", "fwd=", `{"call":2,"host":"shop.example.org"}`},
		{"/a", "Authorization: Basic YTpi", "fwd=", `{"call":3,"host":"shop.example.org"}`},
		{"/a", "X-Api-Key: k", "fwd=", `{"call":4,"host":"shop.example.org"}`},
		{"/a", "", "hit; ttl=", `{"call":1,"host":"shop.example.org"}`},
		{"/missing", "", "stored", `{"call":5,"host":"shop.example.org"}`},
		{"/missing", "", "hit; ttl=", `{"call":5,"host":"shop.example.org"}`},
	} {
		var fields []string
		if row.fields != "" {
			fields = append(fields, row.fields)
		}
		status, body := ask(row.path, fields...)
		if !strings.Contains(status, row.status) || body != row.body {
			t.Errorf("%s with %q: %s, %s; want %s, %s", row.path, row.fields, status, body, row.status, row.body)
		}
	}
	if _, text := mustGet(t, p.admin+"/metrics"); !strings.Contains(text, `sundry_requests_total{class="2xx",endpoint="shop",outcome="hit"}`) {
		t.Error("no metrics by the name")
	}
	log := p.stderr.String()
	for _, part := range []string{"msg=API name=shop", "at=" + p.public + "/ ", "origins=" + origin, "host=shop.example.org", "fresh for a minute if its status is 200, "} {
		if !strings.Contains(log, part) {
			t.Errorf("no %q in\n%s", part, log)
		}
	}
}

// TestOneAPIOfCommands: commands know an API by --to, and say how long its responses would be kept.
func TestOneAPIOfCommands(t *testing.T) {
	t.Parallel()
	origin, calls := silent(t)
	for command, want := range map[string]string{
		"try --to " + origin + " /a?x=1":                      "not stored because nothing says for how long",
		"try --to " + origin + " --ttl 1m /a?x=1":             "fresh for a minute because cache: default has a minute for status 200",
		"try --to " + origin + " --ttl 1m api":                "origin GET " + origin + "/\n",
		"try --to " + origin + " --host h.example /":          "Host: h.example",
		"try --to " + origin + " --name shop shop /b":         "origin GET " + origin + "/b\n",
		"explain --to " + origin + " --ttl 90s --name shop /": "fresh for 90 s if its status is 200, ",
		"doctor --to " + origin:                               "answers 200 OK",
	} {
		stdout, stderr, err := call(t, nil, strings.Fields(command)...)
		if err != nil || !strings.Contains(stdout, want) {
			t.Errorf("%s: %v\n%s%s\nwant %s", command, err, stdout, stderr, want)
		}
	}
	if n := calls.Load(); n != 6 {
		t.Errorf("%d calls: expected none by explain", n)
	}
}

// TestMistakesOfOneAPI name the flag, and what is allowed.
func TestMistakesOfOneAPI(t *testing.T) {
	t.Parallel()
	const to = " --to http://127.0.0.1:1"
	for command, want := range map[string]string{
		"serve --ttl 1m":                       "--ttl: expected with --to URL; in the file of an API it is proxy: cache: default",
		"try --host a ip":                      "--host: expected with --to URL; in the file of an API it is proxy: host",
		"doctor --name a":                      "--name: expected with --to URL; in the file of an API it is name",
		"explain --timeout 1s /":               "--timeout: expected with --to URL; in the file of an API it is proxy: timeouts: head",
		"serve --ttl 1" + to:                   `--ttl: duration "1": expected a number with a unit, such as 90s, 6h or 30d`,
		"serve --ttl 0s" + to:                  "--ttl: expected more than 0, for example 1m",
		"serve --ttl -1m" + to:                 "--ttl: ",
		"serve --timeout 0s" + to:              "--timeout: expected more than 0",
		"serve --name A/b" + to:                `--name "A/b": expected a name of lower-case letters and digits, such as shop`,
		"serve --host a/b" + to:                `--host "a/b": expected origin, caller or a name such as shop.example.org`,
		"serve --to ftp://a":                   "--to ftp://a: expected the address of an API ",
		"try --to u:p@h /":                     "--to ",
		"explain --catalog . / " + to:          "--to: expected without --catalog",
		"doctor --replay" + to:                 "--to: expected without --replay",
		"try" + to + " /a /b":                  `expected one path, with its query, such as '/a?x=1'`,
		"serve --to http://127.0.0.1:1 --name": "--name: expected a value after it",
	} {
		stdout, stderr, err := call(t, nil, strings.Fields(command)...)
		if err == nil || !strings.Contains(stdout+stderr+fmt.Sprint(err), want) {
			t.Errorf("%s: %v\n%s%s\nwant %s", command, err, stdout, stderr, want)
		}
	}
}

// TestWithoutBuiltinEndpoints: what an operator's directory has is served alone, also if it uses what the built-in files share, and
// nothing else is warmed.
func TestWithoutBuiltinEndpoints(t *testing.T) {
	t.Parallel()
	u := newUpstream(t)
	dir := catalogDir(t, u, "ttl: 1m")
	config := write(t, t.TempDir(), "sundry.yaml", "builtin: false\ncatalog: "+dir+"\n")
	p := serve(t, "--config", config)
	if status, _, _, err := get(p.public + "/api/ip?ip=8.8.8.8"); err != nil || status != http.StatusNotFound {
		t.Errorf("a built-in endpoint: %d %v", status, err)
	}
	if status, _, body, err := get(p.public + "/api/own"); err != nil || status != http.StatusOK {
		t.Errorf("one of the directory: %d %s %v", status, body, err)
	}
	if stdout, stderr, err := call(t, nil, "check", "--config", config); err != nil || !strings.Contains(stdout, "1 endpoint") {
		t.Errorf("%v\n%s%s", err, stdout, stderr)
	}
	alone := write(t, t.TempDir(), "sundry.yaml", "builtin: false\n")
	_, stderr, err := call(t, nil, "check", "--config", alone)
	if err == nil || !strings.Contains(stderr+err.Error(), "sundry.yaml:1: builtin: false: expected with a directory of endpoints of your own, for example catalog: ./catalog") {
		t.Errorf("%v\n%s", err, stderr)
	}
}

// TestARestartOfTheOriginIsShort for its clients: while nothing listens there it is tried each second.
func TestARestartOfTheOriginIsShort(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	p := serve(t, "--to", "http://"+address)
	n := 0
	ask := func() int {
		n++
		status, _, _, err := get(fmt.Sprint(p.public, "/", n))
		if err != nil {
			t.Fatal(err)
		}
		return status
	}
	waittest.Until(t, "the breaker opens", func() bool { return ask() == http.StatusServiceUnavailable })
	for range 3 { // as often as the breaker would stay open for longer and longer
		opened := time.Now()
		waittest.Until(t, "a probe", func() bool { return ask() == http.StatusBadGateway })
		if took := time.Since(opened); took > 4*time.Second {
			t.Errorf("a probe after %v", took)
		}
	}
	if l, err = net.Listen("tcp", address); err != nil {
		t.Skipf("somebody else listens at %s by now: %v", address, err)
	}
	origin := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = origin.Serve(l) }()
	t.Cleanup(func() { _ = origin.Close() })
	started := time.Now()
	waittest.Until(t, "an answer", func() bool { return ask() == http.StatusNotFound })
	if took := time.Since(started); took > 4*time.Second {
		t.Errorf("clients get answers %v after the restart", took)
	}
}

// TestSlowURLsKeepNobodyFromOthers: responses that do not begin in time say nothing of the other URLs of the only address.
func TestSlowURLsKeepNobodyFromOthers(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/poll") {
			<-done
		}
	}))
	t.Cleanup(origin.Close)
	defer close(done)
	p := serve(t, "--to", origin.URL, "--timeout", "100ms")
	mustGet(t, p.public+"/quick?first")
	for n := range 40 {
		if status, _, _, err := get(fmt.Sprint(p.public, "/poll/", n)); err != nil || status != http.StatusGatewayTimeout {
			t.Fatalf("a slow one, number %d: %d %v", n, status, err)
		}
	}
	if status, _, _, err := get(p.public + "/quick"); err != nil || status != http.StatusOK {
		t.Errorf("a quick one: %d %v", status, err)
	}
}
