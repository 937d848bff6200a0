package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

// samples has the configuration and the reference that operators begin with.
const samples = "../../../../deploy"

func load(file string, env map[string]string) (*Config, error) {
	return Load(Source{File: file, Getenv: func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}})
}

func write(t *testing.T, dir, name, text string) (file string) {
	t.Helper()
	file = filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// sample is every key of the sample configuration with its value as it stands.
func sample(t *testing.T) map[string]*yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Load([]byte(readFile(t, filepath.Join(samples, "sundry.yaml"))), &doc); err != nil {
		t.Fatal(err)
	}
	keys := map[string]*yaml.Node{}
	var walk func(prefix string, n *yaml.Node)
	walk = func(prefix string, n *yaml.Node) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := prefix+n.Content[i].Value, n.Content[i+1]
			if s := find(settings(), key); value.Kind == yaml.MappingNode && key != "endpoints" && (s == nil || !s.pairs) {
				walk(key+".", value)
				continue
			}
			keys[key] = value
		}
	}
	walk("", doc.Content[0])
	return keys
}

// TestEverySettingIsInTheSampleAndTheReference: with its default in the one, with its
// variable and the same default in the other, in both languages.
func TestEverySettingIsInTheSampleAndTheReference(t *testing.T) {
	keys := sample(t)
	var rows []string // of each language
	for _, file := range []string{"settings.md", "settings.zh-CN.md"} {
		text := ""
		for _, m := range settingNames.FindAllStringSubmatch(readFile(t, samples+"/"+file), -1) {
			text += "| `" + m[1] + "` | `" + m[2] + "` | " + m[3] + " |\n"
		}
		rows = append(rows, text)
	}
	if rows[0] != rows[1] {
		t.Errorf("the languages do not have the same rows:\n%s\n%s", rows[0], rows[1])
	}
	c, err := load(filepath.Join(samples, "sundry.yaml"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings() {
		if keys[s.key] == nil {
			t.Errorf("%s is not in the sample", s.key)
		}
		cell := "–" // none, or an empty list
		if value := keys[s.key]; value != nil && value.Value != "" {
			cell = "`" + value.Value + "`"
		}
		delete(keys, s.key)
		if got, want := s.show(c), s.show(Default()); got != want && s.key != "cache.warm" {
			t.Errorf("the sample says %s: %s; the default is %s", s.key, got, want)
		}
		if row := "| `" + s.key + "` | `" + s.variable() + "` | " + cell + " |\n"; !strings.Contains(rows[0], row) {
			t.Errorf("settings.md has no row %s", row)
		}
	}
	delete(keys, "endpoints")
	for key := range keys {
		t.Errorf("the sample has %s, which is no setting", key)
	}
	for _, m := range settingNames.FindAllStringSubmatch(rows[0], -1) {
		if s := find(settings(), m[1]); m[1] != "endpoints" && (s == nil || s.variable() != m[2]) {
			t.Errorf("settings.md has a row for %s", m[1])
		}
	}
}

// settingNames finds the rows of settings: key, variable and default.
var settingNames = regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| `(SUNDRY_[A-Z_]+)`[^|]*\\| ([^|]+) \\|")

// TestEverySettingHasItsVariable sets each by its variable, to something other
// than the default.
func TestEverySettingHasItsVariable(t *testing.T) {
	dir := t.TempDir()
	values := map[string]string{
		"listen": ":1", "tls.cert": write(t, dir, "cert.pem", ""), "tls.key": write(t, dir, "key.pem", ""), "acme.hosts": "a.example, B.example.", "acme.email": "ops@example.org", "acme.directory": "https://acme.example/directory", "acme.cache": filepath.Join(dir, "acme"), "redirect": ":80", "admin": "127.0.0.1:2", "redis": "redis://a", "catalog": dir, "builtin": "false", "base_path": "/tools", "public_url": "https://api.example.org", "grafana_url": "https://grafana.example.org/g/", "language": "en-GB", "log_format": "json", "log_level": "WARN", "log_hits": "7", "log_refusals": "1", "log_keys": "true",
		"trusted_proxies": "10.0.0.0/8, ::1", "allow_targets": "127.0.0.1", "own_hosts": "API.example.org", "loop_id": "shop-1", "contact": "ops@example.org", "user_agent": "Mozilla/5.0", "proxy": "direct", "proxies": "vidparse=direct, ip=http://a:1", "forwarded": "Forwarded", "geo_file": write(t, dir, "a.mmdb", "") + "," + write(t, dir, "b.xdb", ""), "data": filepath.Join(dir, "data"),
		"drain_delay": "3s", "drain_timeout": "1m", "express": "false", "mcp": "true", "mcp_origins": "https://Agent.example.org, http://127.0.0.1:6274", "limits.rate": "2.5", "limits.burst": "9", "limits.in_flight": "5", "limits.in_flight_share": "1", "limits.queue_delay": "0s", "limits.fills": "20", "limits.reply_memory": "1GiB", "cache.memory": "64MiB", "cache.warm": "false",
	}
	for _, s := range settings() {
		for _, variable := range s.variables() {
			c, err := load("", map[string]string{variable: values[s.key]})
			if err != nil || s.show(c) == s.show(Default()) {
				t.Errorf("%s=%s: %s %v", variable, values[s.key], s.show(c), err)
			}
		}
	}
	c, err := load("", map[string]string{"SUNDRY_ENDPOINTS": "{ip: {cache: {ttl: 6h}}}", "SUNDRY_OWN_HOSTS": "API.example.org", "SUNDRY_LANGUAGE": "zh_CN", "SUNDRY_LISTEN": "", "SUNDRY_REDIS_URL": ""})
	if err != nil || len(c.Endpoints) != 1 || c.OwnHosts[0] != "api.example.org" || c.Language != "zh" || c.Listen != ":8080" {
		t.Errorf("%+v %v", c, err)
	}
}

// TestFilesMayBeWrittenInManyWays: nulls, aliases, merges, ranges in IPv6.
func TestFilesMayBeWrittenInManyWays(t *testing.T) {
	file := write(t, t.TempDir(), "sundry.yaml", `
base: &base
  rate: 3
`)
	if _, err := load(file, nil); err == nil {
		t.Error("an unknown key with an anchor was accepted")
	}
	file = write(t, t.TempDir(), "sundry.yaml", "redis: {url: redis://a}\n")
	if _, err := load(file, nil); err == nil || !strings.Contains(err.Error(), "sundry.yaml:1: redis: expected redis://[user:password@]host:port/0") {
		t.Error(err)
	}
	file = write(t, t.TempDir(), "sundry.yaml", `
redis:
limits: &limits {rate: 3, burst: 4}
limits_: null
`)
	if _, err := load(file, nil); err == nil {
		t.Error("an unknown key without a value was accepted")
	}
	file = write(t, t.TempDir(), "sundry.yaml", `
redis:
trusted_proxies: &ranges [10.1.2.3/8, "::ffff:192.0.2.0/120", 2001:db8::1]
allow_targets: *ranges
drain_delay: 0s
limits:
  <<: {rate: 3, burst: 4}
  burst: 5
`)
	c, err := load(file, nil)
	if err != nil || c.Limits.Rate != 3 || c.Limits.Burst != 5 || c.DrainDelay != 0 || c.DrainTimeout != 20*time.Second {
		t.Errorf("%+v %v", c, err)
	}
	var got []string
	for _, p := range c.AllowTargets {
		got = append(got, p.String())
	}
	if want := []string{"10.0.0.0/8", "192.0.2.0/24", "2001:db8::1/128"}; !reflect.DeepEqual(got, want) || !slices.Equal(c.Trusted, c.AllowTargets) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, text := range []string{"", "# nothing\n", "---\n", "{}\n"} {
		if _, err := load(write(t, t.TempDir(), "sundry.yaml", text), nil); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestBrowserAgent(t *testing.T) {
	if got := (&Config{UserAgent: "Mozilla/5.0 mine"}).Agents("1").Browser; got != "Mozilla/5.0 mine" {
		t.Error(got)
	}
	if got := (&Config{}).Agents("1").Browser; !strings.Contains(got, " Chrome/") {
		t.Error(got)
	}
}

func TestOwnVariables(t *testing.T) {
	if got := OwnVariables([]string{"PATH=/", "SUNDRY_B=1", "XSUNDRY_A=2", "SUNDRY_A="}); !slices.Equal(got, []string{"SUNDRY_A", "SUNDRY_B"}) {
		t.Errorf("%q", got)
	}
}
