package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/cmd/sundry/internal/config"
)

const ownEndpoint = `version: 1
name: own
group: lookups
summary: {en: Mine, zh: 自己的}
params: []
cache: {class: keyed, ttl: 1h}
forms: [{name: json, json: .}]
sources: [{name: mine, embedded: {file: own.json}}]
`

// TestLiveChangesCompileWhatIsInForce: while every file on the disk is half
// edited, a TTL can be set, and nothing else changes.
func TestLiveChangesCompileWhatIsInForce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, below := range []string{"data", "testdata/own/mine/good"} {
		if err := os.MkdirAll(filepath.Join(dir, below), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	write(t, dir, "own.yaml", ownEndpoint)
	write(t, dir, "data/own.json", `{"mine":1}`)
	cfg := write(t, t.TempDir(), "sundry.yaml", "endpoints: {ip: {cache: {grace: 5m}}}\n")
	p := serve(t, "--replay", "--catalog", dir, "--config", cfg)
	if _, body := mustGet(t, p.public+"/api/own"); !strings.Contains(body, `"mine":1`) {
		t.Fatal(body)
	}
	write(t, dir, "own.yaml", ownEndpoint[:len(ownEndpoint)/2])
	write(t, dir, "ip.yaml", "version: 1\nname: i")
	write(t, dir, "data/own.json", `{"mi`)
	write(t, dir, "testdata/own/mine/good/exchange.yaml", "orig")
	write(t, filepath.Dir(cfg), "sundry.yaml", "endpoints: {ip: {cache: {gra")
	for endpoint, ttl := range map[string]string{"ip": "1m30s", "own": "1m20s"} {
		p.mustAsk(http.MethodPut, "endpoints/"+endpoint+"/cache", `{"set":{"ttl":"`+ttl+`"}}`)
		if got := p.ttl(endpoint); got != ttl {
			t.Errorf("%s: ttl %s, want %s", endpoint, got, ttl)
		}
	}
	p.mustAsk(http.MethodPost, "purge", `{"endpoint":"own","mode":"hard"}`)
	if _, body := mustGet(t, p.public+"/api/own"); !strings.Contains(body, `"mine":1`) {
		t.Errorf("the half-edited data were read: %s", body)
	}
	if status, doc := p.ask(http.MethodPost, "reload", ""); status != http.StatusBadRequest {
		t.Errorf("a reload does look at the disk: %d %v", status, doc)
	}
	p.mustAsk(http.MethodDelete, "endpoints/ip/cache", "")
	if got := p.ttl("ip"); got != "24h0m0s" {
		t.Errorf("back to the file: %s", got)
	}
}

// TestSecretsAreThoseOfTheLoad: a key whose file goes is missed at a reload, not
// at a change of a TTL.
func TestSecretsAreThoseOfTheLoad(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "key", "k\n")
	getenv, err := config.Secrets([]string{"SUNDRY_X_FILE=" + file})
	if err != nil {
		t.Fatal(err)
	}
	in, err := readInputs(config.Default(), getenv)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if v, ok := in.secret("SUNDRY_X"); v != "k" || !ok {
			t.Errorf("%q %v", v, ok)
		}
		_ = os.Remove(file)
	}
	if v, ok := getenv("SUNDRY_X"); ok {
		t.Errorf("the file is still read: %q", v)
	}
}
