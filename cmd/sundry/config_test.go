package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sundry/upstreams/lib/longtest"

	"sundry/metrics/words"
)

// TestLoadBadConfigs has a file for every rule, with what is said of it.
func TestLoadBadConfigs(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "sundry.yaml")
	for text, want := range map[string]string{
		"listne: x":                                     `1: unknown key listne; did you mean listen?`,
		"limits: {rat: 1}":                              `1: unknown key limits.rat; did you mean limits.rate?`,
		"limit: {rate: 1}":                              `1: unknown key limit; did you mean limits?`,
		"colour: red":                                   `1: unknown key colour; it may be of a newer version of Sundry: upgrade Sundry, or remove it`,
		"listen: ':1'\nlisten: ':2'":                    `2: listen: set twice`,
		"- listen":                                      `1: expected keys with values`,
		"limits: 5":                                     `1: limits: expected keys with values`,
		"\nlisten: 8080":                                `2: listen: "8080": expected an address and a port, such as :8080`,
		"listen: ''":                                    `1: listen: "": expected an address and a port, such as :8080`,
		"listen: ':99999'":                              `1: listen: ":99999": expected an address and a port, such as :8080`,
		"listen: [':1']":                                `1: listen: expected an address and a port, such as :8080`,
		"listen: 'http://a:80'":                         `1: listen: "http://a:80": expected an address and a port, such as :8080`,
		"admin: localhost":                              `1: admin: "localhost": expected an address and a port, such as 127.0.0.1:9090`,
		"admin: ':9090'":                                `1: admin: ":9090": the admin listener beyond loopback needs a token: set SUNDRY_ADMIN_TOKEN, or listen on 127.0.0.1`,
		"catalog: /does/not/exist":                      `1: catalog: "/does/not/exist": no such file or directory; expected a directory, such as /etc/sundry/catalog`,
		"base_path: tools/":                             `1: base_path: "tools/": expected a path that begins with a slash and does not end with one, such as /tools`,
		"base_path: /a//b":                              `1: base_path: "/a//b": expected a path that begins with a slash and does not end with one, such as /tools`,
		"base_path: '/a?b'":                             `1: base_path: "/a?b": expected a path that begins with a slash and does not end with one, such as /tools`,
		"public_url: api.example.org":                   `1: public_url: "api.example.org": expected http or https, a host, and a port if need be, without a path, such as https://api.example.org`,
		"public_url: 'https://a.b/'":                    `1: public_url: "https://a.b/": expected http or https, a host, and a port if need be, without a path, such as https://api.example.org`,
		"public_url: 'https://u:p@a.b'":                 `1: public_url: "https://u:p@a.b": expected http or https, a host, and a port if need be, without a path, such as https://api.example.org`,
		"grafana_url: grafana":                          `1: grafana_url: "grafana": expected http or https, a host, and a path if need be, without a user, a query and a fragment, such as https://grafana.example.org`,
		"grafana_url: 'javascript:alert(1)'":            `1: grafana_url: "javascript:alert(1)": expected http or https, a host, and a path if need be, without a user, a query and a fragment, such as https://grafana.example.org`,
		"grafana_url: 'https://u:p@a.b'":                `1: grafana_url: "https://u:p@a.b": expected http or https, a host, and a path if need be, without a user, a query and a fragment, such as https://grafana.example.org`,
		"grafana_url: 'https://a.b/d/x?orgId=1'":        `1: grafana_url: "https://a.b/d/x?orgId=1": expected http or https, a host, and a path if need be, without a user, a query and a fragment, such as https://grafana.example.org`,
		"base_path: /../a":                              `1: base_path: "/../a": expected a path that begins with a slash and does not end with one, such as /tools`,
		"log_format: xml":                               `1: log_format: "xml": expected text or json, such as json`,
		"log_level: loud":                               `1: log_level: "loud": expected debug, info, warn or error, such as info`,
		"log_level: info+2":                             `1: log_level: "info+2": expected debug, info, warn or error, such as info`,
		"log_hits: 0":                                   `1: log_hits: "0": expected a whole number from 1 to 1000000000, such as 100`,
		"log_hits: -5":                                  `1: log_hits: "-5": expected a whole number from 1 to 1000000000, such as 100`,
		"log_refusals: 0":                               `1: log_refusals: "0": expected a whole number from 1 to 1000000000, such as 100`,
		"trusted_proxies: [10.0.0.0/8,\n  10.0.0.0/99]": `2: trusted_proxies: "10.0.0.0/99": expected an address range, such as 10.0.0.0/8`,
		"allow_targets: [localhost]":                    `1: allow_targets: "localhost": expected an address range, such as 10.0.0.0/8`,
		"own_hosts: ['https://a.b/']":                   `1: own_hosts: "https://a.b/": expected a host name without scheme, port and path, such as api.example.org`,
		"contact: example.org":                          `1: contact: "example.org": expected an e-mail address, or the URL of a page, such as https://example.org/about`,
		"contact: 'https://u:p@a.b/'":                   `1: contact: "https://u:p@a.b/": expected an e-mail address, or the URL of a page, such as https://example.org/about`,
		"contact: 'Ops <ops@example.org>'":              `1: contact: "Ops <ops@example.org>": expected an e-mail address, or the URL of a page, such as https://example.org/about`,
		"user_agent: 浏览器":                               `1: user_agent: "浏览器": expected up to 512 letters, digits and signs of ASCII, such as Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0`,
		"proxy: 'ftp://u:geheim@a.b'":                   `1: proxy: expected the URL of an http, https, socks5 or socks5h proxy, such as socks5://127.0.0.1:1080, or direct`,
		"proxy: 127.0.0.1:1080":                         `1: proxy: expected the URL of an http, https, socks5 or socks5h proxy, such as socks5://127.0.0.1:1080, or direct`,
		"proxies:\n  ip: direct\n  kd: socks4://a":      `3: proxies: kd: expected the URL of an http, https, socks5 or socks5h proxy, such as socks5://127.0.0.1:1080, or direct`,
		"proxies: {ip: direct, ip: direct}":             `1: proxies: ip: set twice`,
		"proxies: direct":                               `1: proxies: expected an endpoint, or an endpoint and a source, with the URL of its proxy or direct, such as vidparse=socks5://127.0.0.1:1080 or vidparse/bilibili=direct`,
		"geo_file: city.csv":                            `1: geo_file: "city.csv": expected files ending in .mmdb or .xdb, such as /var/lib/sundry/city.mmdb`,
		"geo_file:\n  - city.csv":                       `2: geo_file: "city.csv": expected files ending in .mmdb or .xdb, such as /var/lib/sundry/city.mmdb`,
		"geo_file: /none/city.mmdb":                     `1: geo_file: "/none/city.mmdb": no such file or directory; expected files ending in .mmdb or .xdb, such as /var/lib/sundry/city.mmdb`,
		"data: /none/sundry":                            `1: data: "/none/sundry": expected a directory, or a new one in a directory that exists, such as /var/lib/sundry`,
		"data: /dev/null":                               `1: data: "/dev/null": expected a directory, or a new one in a directory that exists, such as /var/lib/sundry`,
		"drain_delay: 5":                                `1: drain_delay: "5": expected a duration from 0s to 10m, such as 5s`,
		"drain_delay: -1s":                              `1: drain_delay: "-1s": expected a duration from 0s to 10m, such as 5s`,
		"drain_timeout: 2h":                             `1: drain_timeout: "2h": expected a duration from 0s to 1h, such as 20s`,
		"limits:\n  rate: -1":                           `2: limits.rate: "-1": expected a number of requests per second from 0.001 to 1000000, or 0 for no limit, such as 20`,
		"limits: {rate: .nan}":                          `1: limits.rate: ".nan": expected a number of requests per second from 0.001 to 1000000, or 0 for no limit, such as 20`,
		"limits: {rate: NaN}":                           `1: limits.rate: "NaN": expected a number of requests per second from 0.001 to 1000000, or 0 for no limit, such as 20`,
		"limits: {rate: 1e300}":                         `1: limits.rate: "1e300": expected a number of requests per second from 0.001 to 1000000, or 0 for no limit, such as 20`,
		"limits: {rate: fast}":                          `1: limits.rate: "fast": expected a number of requests per second from 0.001 to 1000000, or 0 for no limit, such as 20`,
		"limits: {burst: -3}":                           `1: limits.burst: "-3": expected a whole number from 0 to 1000000, such as 40`,
		"limits: {burst: 1.5}":                          `1: limits.burst: "1.5": expected a whole number from 0 to 1000000, such as 40`,
		"limits: {in_flight: -1}":                       `1: limits.in_flight: "-1": expected a whole number from 1 to 10000000, such as 10000`,
		"limits: {in_flight: 0}":                        `1: limits.in_flight: "0": expected a whole number from 1 to 10000000, such as 10000`,
		"limits: {in_flight_share: 0}":                  `1: limits.in_flight_share: "0": expected a share from 0.01 to 1, such as 0.5`,
		"limits: {in_flight_share: 2}":                  `1: limits.in_flight_share: "2": expected a share from 0.01 to 1, such as 0.5`,
		"limits: {queue_delay: 1m}":                     `1: limits.queue_delay: "1m": expected a duration from 0s to 10s, such as 20ms`,
		"limits: {fills: 0}":                            `1: limits.fills: "0": expected a whole number from 1 to 1000000, such as 2000`,
		"limits: {fills: 1e9}":                          `1: limits.fills: "1e9": expected a whole number from 1 to 1000000, such as 2000`,
		"limits: {reply_memory: 1MiB}":                  `1: limits.reply_memory: "1MiB": expected 16MiB to 1024GiB, such as 128MiB`,
		"limits: {reply_memory: 0}":                     `1: limits.reply_memory: "0": expected 16MiB to 1024GiB, such as 128MiB`,
		"cache: {memory: lots}":                         `1: cache.memory: "lots": expected 8MiB to 1024GiB, such as 256MiB`,
		"cache: {memory: 1MiB}":                         `1: cache.memory: "1MiB": expected 8MiB to 1024GiB, such as 256MiB`,
		"cache: {memory: 9999GiB}":                      `1: cache.memory: "9999GiB": expected 8MiB to 1024GiB, such as 256MiB`,
		"cache: {memory: NaN}":                          `1: cache.memory: "NaN": expected 8MiB to 1024GiB, such as 256MiB`,
		"cache: {warm: perhaps}":                        `1: cache.warm: "perhaps": expected true or false, such as false`,
		"endpoints:\n  ip: {}\n  nope: {}":              `3: endpoints: nope: not an endpoint; expected one of 60s, avatar,`,
		"endpoints: {vidparze: {}}":                     `1: endpoints: vidparze: not an endpoint; did you mean vidparse? Expected one of 60s, avatar,`,
		"endpoints:\n  ip: {x: 1}":                      `2: unknown key x in endpoints.ip; expected one of cache, through, autopilot, off; it may be of a newer version of Sundry: upgrade Sundry, or remove it`,
	} {
		write(t, dir, "sundry.yaml", text+"\n")
		commands := []string{"serve", "check"}
		if !strings.Contains(text, "in_flight") && !strings.Contains(text, "endpoints") {
			commands = commands[:1] // the other compiles the catalog each time
		}
		for _, command := range commands {
			out, errs, err := call(t, nil, command, "--config", file)
			said := out + errs
			if err != nil {
				said += "\n" + err.Error()
			}
			line := file + ":" + want
			if err == nil || !slices.ContainsFunc(strings.Split(said, "\n"), func(l string) bool {
				return l == line || strings.Contains(want, "not found") && strings.HasPrefix(l, line) || strings.Contains(want, "not an endpoint") && strings.HasPrefix(l, line)
			}) {
				t.Errorf("%s: %q: want\n%s\ngot\n%s", command, text, line, said)
			}
		}
	}
}

// TestRedisMistakeHidesTheAddress: it may hold a password.
func TestRedisMistakeHidesTheAddress(t *testing.T) {
	t.Parallel()
	_, errs, err := call(t, nil, "check", "--config", write(t, t.TempDir(), "sundry.yaml", "redis: 'geheim@localhost:6379'\n"))
	if err == nil || !strings.Contains(errs, "sundry.yaml:1: redis: ") || !strings.Contains(errs, "expected redis://") || strings.Contains(errs, "geheim") {
		t.Errorf("%v %s", err, errs)
	}
}

func TestMistakesInVariablesAndFlags(t *testing.T) {
	t.Parallel()
	few := onlyIn(t)["SUNDRY_CONFIG"]
	for variable, want := range map[string]string{
		"SUNDRY_LIMITS_IN_FLIGHT=-1":                  `SUNDRY_LIMITS_IN_FLIGHT: "-1": expected a whole number`,
		"SUNDRY_MEMORY=x":                             `SUNDRY_MEMORY: "x": expected 8MiB to 1024GiB`,
		"SUNDRY_TRUSTED_PROXIES=::1,x":                `SUNDRY_TRUSTED_PROXIES: "::1,x": expected an address range`,
		"SUNDRY_ADMIN=:1":                             `SUNDRY_ADMIN: ":1": the admin listener beyond loopback needs a token`,
		"SUNDRY_ENDPOINTS={ip: {cach: {}}}":           `SUNDRY_ENDPOINTS:1: unknown key cach in ip; did you mean cache? Expected one of cache, through`,
		"SUNDRY_ENDPOINTS={ip: {cache: {ttl: soon}}}": `SUNDRY_ENDPOINTS:1: ip.cache.ttl: duration "soon"`,
	} {
		name, value, _ := strings.Cut(variable, "=")
		if _, errs, err := call(t, map[string]string{name: value, "SUNDRY_CONFIG": few}, "check"); err == nil || !strings.Contains(errs, want) {
			t.Errorf("%s: %v\n%s", variable, err, errs)
		}
	}
	if _, _, err := call(t, nil, "serve", "--log-level", "loud"); err == nil || err.Error() != `--log-level: "loud": expected debug, info, warn or error, such as info` {
		t.Error(err)
	}
	_, errs, err := call(t, map[string]string{"SUNDRY_MEMORY": "64MiB", "SUNDRY_CACHE_MEMORY": "64MiB", "SUNDRY_CONFIG": few}, "check")
	if err == nil || !strings.Contains(errs, "SUNDRY_CACHE_MEMORY and SUNDRY_MEMORY are both set: expected only one") {
		t.Errorf("%v %s", err, errs)
	}
}

func TestUnknownVariablesAreMistakes(t *testing.T) {
	t.Parallel()
	few := onlyIn(t, "60s")["SUNDRY_CONFIG"]
	for name, want := range map[string]string{
		"SUNDRY_LISTNE":          "SUNDRY_LISTNE: unknown variable; did you mean SUNDRY_LISTEN?",
		"SUNDRY_RATE":            "SUNDRY_RATE: unknown variable; it may be of a newer version of Sundry: upgrade Sundry, or remove it",
		"SUNDRY_KDNIAO_KYE":      "did you mean SUNDRY_KDNIAO_KEY?",
		"SUNDRY_ADMIN_TOKN_FILE": "unknown variable",
		"SUNDRY_REDIS_URI":       "did you mean SUNDRY_REDIS_URL?",
	} {
		for _, command := range [][]string{{"check"}, {"serve"}, {"try", "--replay", "60s"}} {
			_, errs, err := call(t, map[string]string{name: "x", "SUNDRY_CONFIG": few}, command...)
			if err == nil || !strings.Contains(errs+err.Error(), want) {
				t.Errorf("%s %s: %v %s", command, name, err, errs)
			}
		}
	}
	mistaken := map[string]string{
		"SUNDRY_LISTENN": "x", "SUNDRY_OWN_KEY": "x", "SUNDRY_KDNIAO_KEY": "x",
		"SUNDRY_CONFIG": write(t, t.TempDir(), "sundry.yaml", "endpoints: {ipp: {off: true}}\n"),
	}
	own := t.TempDir()
	write(t, own, "own.yaml", "version: 1\nname: own\nsources: [{name: own, secrets: {key: SUNDRY_OWN_KEY}}]\n")
	_, errs, _ := call(t, mistaken, "check", "--catalog", own)
	if !strings.Contains(errs, "endpoints: ipp: not an endpoint") || !strings.Contains("\n"+errs, "\nSUNDRY_LISTENN: unknown variable; did you mean SUNDRY_LISTEN?\n") || strings.Count(errs, "unknown variable") != 1 {
		t.Errorf("beside other mistakes: %s", errs)
	}
	known := map[string]string{}
	for _, name := range []string{
		"SUNDRY_CONFIG", "SUNDRY_ADMIN_TOKEN", "SUNDRY_ADMIN_TOKEN_FILE", "SUNDRY_KUAIDI100_KEY", "SUNDRY_KDNIAO_KEY_FILE", "SUNDRY_UAPIS_KEY", "SUNDRY_REDIS_URL_FILE",
		"SUNDRY_TEST_REQUIRE", "SUNDRY_PORT", "SUNDRY_SERVICE_HOST", "SUNDRY_SERVICE_PORT_HTTP", "SUNDRY_PORT_8080_TCP_ADDR", "SUNDRY_REDIS_PORT", "SUNDRY_REDIS_PORT_6379_TCP",
	} {
		known[name] = ""
	}
	if _, errs, err := call(t, known, "check"); err != nil {
		t.Errorf("%v %s", err, errs)
	}
}

func TestUnknownFaultsAreMistakes(t *testing.T) {
	t.Parallel()
	few := onlyIn(t, "60s")
	for fault, want := range map[string]string{
		"60z=error:1": "60z: unknown endpoint or source; did you mean 60s?", "60s/60s-statik=error:1": "did you mean 60s/60s-static?", "nonsense/x=error:1": "nonsense/x: unknown endpoint or source",
	} {
		if _, _, err := call(t, few, "serve", "--replay", "--replay-fault", fault); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fault, err)
		}
	}
}

func TestTryRefusesParametersThatThereAreNot(t *testing.T) {
	t.Parallel()
	few := onlyIn(t, "60s", "ip")
	for arg, want := range map[string]string{"ipp=8.8.8.8": `unknown parameter "ipp" of ip; did you mean ip?`, "colour=red": `unknown parameter "colour" of ip; expected one of`} {
		if _, _, err := call(t, few, "try", "--replay", "ip", arg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", arg, err)
		}
	}
	dir := t.TempDir()
	write(t, dir, "locked.yaml", "version: 1\nname: locked\ngroup: text\nsummary: {en: A test., zh: 测试}\ncache: {class: shared, ttl: 1h}\nforms: [{name: json, json: .}]\n"+
		"sources: [{name: one, secrets: {key: SUNDRY_LOCKED_KEY}, http: {url: 'http://127.0.0.1:1/', query: {key: $secrets.key}}}]\n")
	if _, _, err := call(t, few, "try", "--catalog", dir, "locked"); err == nil || err.Error() != "locked: each of its sources needs a key; set SUNDRY_LOCKED_KEY" {
		t.Error(err)
	}
	few["SUNDRY_LANGUAGE"] = "zh"
	if _, _, err := call(t, few, "try", "--replay", "ip", "ip=zz"); !strings.HasPrefix(words.Of(err, words.Text{}).ZH(), "参数 ip 有误：所给的值不是") {
		t.Error(err)
	}
	if _, _, err := call(t, few, "try", "--replay", "60z"); err == nil || !strings.Contains(err.Error(), "did you mean 60s?") {
		t.Error(err)
	}
}

func TestEnvironmentBeatsFileAndFlagBeatsBoth(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "sundry.yaml", "listen: ':1'\nadmin: '127.0.0.1:2'\nredis: redis://file\ncache: {memory: 64MiB}\n")
	env := map[string]string{"SUNDRY_ADMIN": "127.0.0.1:3", "SUNDRY_REDIS_URL": "redis://env", "SUNDRY_CONFIG": file}
	c, err := (&serveCmd{Redis: "redis://flag"}).config(processOf(t, env))
	if err != nil || c.Listen != ":1" || c.Admin != "127.0.0.1:3" || c.Redis != "redis://flag" || c.Cache.Memory != 64<<20 {
		t.Errorf("%+v %v", c, err)
	}
}

func TestUsualFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "sundry.yaml", "listen: ':1'\n")
	if c, err := (&serveCmd{}).config(processOf(t, nil)); err != nil || c.Listen != ":1" {
		t.Errorf("%+v %v", c, err)
	}
}

// TestCheckNamesPicturesThatAreNotKept, and only where the memory is too small.
func TestCheckNamesPicturesThatAreNotKept(t *testing.T) {
	t.Parallel()
	few := onlyIn(t, "sjbz")["SUNDRY_CONFIG"]
	out, errs, err := call(t, map[string]string{"SUNDRY_CACHE_MEMORY": "32MiB", "SUNDRY_CONFIG": few}, "check")
	if err != nil || !strings.HasPrefix(out, "ok: ") || !strings.Contains(errs, "warning: sjbz: source ") || !strings.Contains(errs, "6144 KiB (max_kib)") {
		t.Errorf("%s %s %v", out, errs, err)
	}
	want := regexp.MustCompile(`warning: sjbz: .*; set cache.memory to (\d+MiB) or more\n`).FindStringSubmatch(errs)
	if want == nil {
		t.Fatalf("no advice: %s", errs)
	}
	for _, memory := range []string{want[1], ""} {
		if _, errs, err := call(t, map[string]string{"SUNDRY_CACHE_MEMORY": memory, "SUNDRY_CONFIG": few}, "check"); err != nil || strings.Contains(errs, "sjbz") {
			t.Errorf("with %s: %s %v", memory, errs, err)
		}
	}
	if _, errs, _ := call(t, nil, "check"); errs != "" {
		t.Errorf("with the default: %s", errs)
	}
}
