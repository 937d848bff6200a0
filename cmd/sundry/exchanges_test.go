package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// greeter is a catalog with an endpoint that needs a parameter and has no recorded
// exchange.
func greeter(t *testing.T) (dir string) {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"text":"hello, %s"}`, r.URL.Query().Get("who"))
	}))
	t.Cleanup(up.Close)
	dir = t.TempDir()
	write(t, dir, "greeter.yaml", `version: 1
name: greeter
group: text
summary: {en: A test., zh: 测试}
params:
  - {name: who, type: string, max_len: 20, required: true, summary: {en: Whom., zh: 谁}, example: world}
cache: {class: shared, ttl: 1h}
forms: [{name: json, json: .}]
sources: [{name: well, http: {url: "`+up.URL+`/", query: {who: "{who}"}}}]
`)
	return dir
}

// TestARecordedExchangeHasItsParameters: those of the example, or those that the
// doctor was given. With it, replay and the reference work.
func TestARecordedExchangeHasItsParameters(t *testing.T) {
	t.Parallel()
	few := onlyIn(t)
	for _, given := range []string{"", "moon"} {
		dir, want := greeter(t), "world"
		args := []string{"doctor", "--catalog", dir, "--record", "greeter"}
		if given != "" {
			args, want = append(args, "who="+given), given
		}
		for range 2 { // the second time in place of the first exchange
			if out, errs, err := call(t, few, args...); err != nil {
				t.Fatalf("%v %s %s", err, out, errs)
			}
		}
		b, err := os.ReadFile(filepath.Join(dir, "testdata/greeter/well/good/exchange.yaml"))
		if err != nil || !strings.Contains(string(b), "who: "+want) || !strings.Contains(string(b), "origin: recorded") || !strings.Contains(string(b), "\nnow: 20") {
			t.Errorf("%v:\n%s", err, b)
		}
		p := serveWith(t, few, "--replay", "--catalog", dir)
		if _, body := mustGet(t, p.public+"/api/greeter?who="+want); !strings.Contains(body, "hello, "+want) {
			t.Error(body)
		}
		if _, body := mustGet(t, p.public+"/docs/greeter"); !strings.Contains(body, "hello, "+want) {
			t.Error("no example in /docs/greeter")
		}
	}
}

// TestABadExchangeTakesNothingElseDown: replay and the pages do without it, check
// says where it is.
func TestABadExchangeTakesNothingElseDown(t *testing.T) {
	t.Parallel()
	few := onlyIn(t, "60s")
	const head = "origin: composed\nnow: 2026-11-21T09:00:00+08:00\n"
	for text, want := range map[string]string{
		head + "want: success\nsteps: [{url: \"http://x/\", body: reply.json}]\n":                                                 "exchange.yaml:1: params: ",
		head + "params: {who: " + strings.Repeat("x", 21) + "}\nwant: success\nsteps: [{url: \"http://x/\", body: reply.json}]\n": "exchange.yaml:3: params: ",
		head + "params: {who: you}\nwant: success\nsteps: [{url: \"http://x/\", body: none.json}]\n":                              "exchange.yaml: steps: the reply to http",
		head + "params: {who: you}\nwant: well\n":                                                                                 "exchange.yaml:4: want: expected",
		head + "parms: {who: you}\nwant: success\n":                                                                               "exchange.yaml:3: ",
		head + "want: [success\n": "exchange.yaml:",
	} {
		dir := greeter(t)
		at := filepath.Join(dir, "testdata/greeter/well/good")
		if err := os.MkdirAll(at, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, at, "exchange.yaml", text)
		write(t, at, "reply.json", `{"text":"hello"}`)
		write(t, at, "want.json", `{"text":"hello"}`)
		want = filepath.Join(at, want)
		if out, errs, err := call(t, few, "check", "--catalog", dir); err == nil || !strings.Contains(errs, want) {
			t.Errorf("check: %v %s %s, want %s", err, out, errs, want)
		}
		p := serveWith(t, few, "--replay", "--catalog", dir)
		if !strings.Contains(p.stderr.String(), "level=WARN") || !strings.Contains(p.stderr.String(), "greeter/well/good") {
			t.Errorf("no warning of %s:\n%s", want, p.stderr)
		}
		for _, path := range []string{"/docs", "/docs/greeter", "/openapi.json", "/api/60s"} {
			mustGet(t, p.public+path)
		}
		if status, _, body, err := get(p.public + "/api/greeter?who=you"); err != nil || status != http.StatusBadGateway {
			t.Errorf("an answer of a bad exchange: %d %s %v", status, body, err)
		}
	}
}

// TestExchangesOfNobody: a directory that belongs to no source is a mistake, one of
// a source whose key is not set is none.
func TestExchangesOfNobody(t *testing.T) {
	t.Parallel()
	dir, _ := clinic(t)
	if _, errs, err := call(t, onlyIn(t), "check", "--catalog", dir); err != nil {
		t.Errorf("%v %s", err, errs)
	}
	for from, to := range map[string]string{"well": "keyless", "changed": "nobody"} {
		if err := os.Rename(filepath.Join(dir, "testdata/clinic", from), filepath.Join(dir, "testdata/clinic", to)); err != nil {
			t.Fatal(err)
		}
	}
	_, errs, err := call(t, onlyIn(t), "check", "--catalog", dir)
	want := filepath.Join(dir, "testdata/clinic/nobody/good/exchange.yaml") + `: clinic has no source "nobody"; rename the folder testdata/clinic/nobody to one of its sources (well, changed, refuses, gone, keyed, keyless), or delete it` + "\n"
	if statusOf(err) != statusMisconfigured || !strings.Contains(errs, want) || strings.Contains(errs, "clinic/keyless") {
		t.Errorf("%v %s", err, errs)
	}
	if err := os.Rename(filepath.Join(dir, "testdata/clinic"), filepath.Join(dir, "testdata/clinc")); err != nil {
		t.Fatal(err)
	}
	_, errs, err = call(t, onlyIn(t), "check", "--catalog", dir)
	if want := `there is no endpoint "clinc"; did you mean clinic? Rename the folder testdata/clinc to an endpoint, or delete it` + "\n"; statusOf(err) != statusMisconfigured || !strings.Contains(errs, want) {
		t.Errorf("%v %s", err, errs)
	}
	p := serve(t, "--replay", "--catalog", dir) // it needs none of them
	mustGet(t, p.public+"/api/60s")
}

// TestCheckFindsBadExchangesBesideBadFiles: one does not hide the other.
func TestCheckFindsBadExchangesBesideBadFiles(t *testing.T) {
	t.Parallel()
	dir, _ := clinic(t)
	write(t, filepath.Join(dir, "testdata/clinic/well/good"), "exchange.yaml", "want: well\n")
	write(t, dir, "other.yaml", "nonsense: 1\n")
	_, errs, err := call(t, onlyIn(t), "check", "--catalog", dir)
	if err == nil || !strings.Contains(errs, "other.yaml:1: unknown key nonsense") || !strings.Contains(errs, "exchange.yaml:1: want: expected") {
		t.Errorf("%v %s", err, errs)
	}
}
