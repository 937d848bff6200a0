package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"sundry/upstreams/lib/longtest"
)

var update = flag.Bool("update", false, "write golden files and the README's table anew")

// call runs a command to its end.
func call(t *testing.T, env map[string]string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	longtest.NotShort(t, "it runs a command")
	var out, errs bytes.Buffer
	w := processOf(t, env)
	w.stdout, w.stderr = &out, &errs
	err = execute(w, args)
	return out.String(), errs.String(), err
}

// processOf has no variables but these.
func processOf(t testing.TB, env map[string]string) *process {
	t.Helper()
	return &process{
		ctx: t.Context(), urgent: t.Context(), stdout: io.Discard, stderr: io.Discard,
		getenv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }, variables: slices.Sorted(maps.Keys(env)),
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	out, _, err := call(t, nil, "check")
	if err != nil || !strings.HasPrefix(out, "ok: ") {
		t.Errorf("%s %v", out, err)
	}
	if _, errs, err := call(t, nil, "check", "--config", "../../deploy/sundry.yaml"); err != nil {
		t.Errorf("the sample configuration: %v %s", err, errs)
	}
}

func TestCheckPrintsEveryMistakeWithItsLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "one.yaml", "version: 1\nname: other\ngroup: music\nparams:\n  - {name: n, type: int, example: a}\ncache:\n  class: wide\n  until: '6am Asia/Shanghai'\nforms:\n  - {name: json, json: '.a |'}\n  - {name: two, json: ., text: .}\nsources: []\n")
	write(t, dir, "two.yaml", "version: 2\nname: two\nnonsense: 1\ngroup: text\nforms: 7\n")
	cfg := write(t, dir, "sundry.conf", "endpoints:\n  nope: {cache: {ttl: 1h}}\n  ip:\n    cache:\n      ttl: -5s\n      unknown: 1\n")
	_, errs, err := call(t, nil, "check", "--catalog", dir, "--config", cfg)
	if err == nil {
		t.Fatal("a bad catalog passed")
	}
	for _, want := range []string{
		"one.yaml:2: name: expected the name of the file, \"one\", got \"other\"", "one.yaml:3: group: expected one of images, media, lookups, text, or one of your own as in {name: tools, en: Tools, zh: 工具}, got \"music\"",
		"one.yaml:2: summary: expected a sentence", "one.yaml:5: param n: expected min and max for an int", "one.yaml:7: cache.class: expected shared",
		"one.yaml:8: cache: until: calendar", "one.yaml:10: jq: the program ends too early", "one.yaml:11: form \"two\": expected exactly one of",
		"chain main: no sources", "two.yaml:3: unknown key nonsense", "two.yaml:5:",
		"sundry.conf:2: endpoints: nope: not an endpoint", "sundry.conf:5: ", "sundry.conf:6: unknown key unknown",
	} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in:\n%s", want, errs)
		}
	}
}

func TestCommandLineMistakes(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"serve", "--log-level", "loud"}, {"serve", "--log-format", "xml"}, {"serve", "--redis", "localhost:6379"}, {"serve", "--replay-fault", "kd=error:1"},
		{"serve", "--replay", "--replay-fault", "kd"}, {"serve", "--admin", "0.0.0.0:0"}, {"serve", "--admin", ":9090"}, {"serve", "--catalog", "/does/not/exist"},
		{"serve", "--config", "/does/not/exist"}, {"serve", "--listen", "nowhere"}, {"try", "nope"}, {"try", "ip", "x"}, {"try", "ip", "ip=zz"}, {"nonsense"},
	} {
		if _, _, err := call(t, nil, args...); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

// TestTryTellsAFailureOnce: what each source said is in its attempt, and not again at the end.
func TestTryTellsAFailureOnce(t *testing.T) {
	t.Parallel()
	out, _, err := call(t, onlyIn(t, "60s"), "try", "--replay", "--replay-fault", "60s=error:1", "60s")
	if !strings.Contains(out, "  error            replay:60s-static: unavailable: injected fault") || err == nil || err.Error() != "60s: no answer: unavailable" {
		t.Errorf("%v after\n%s", err, out)
	}
}

func TestTryShowsEachStage(t *testing.T) {
	t.Parallel()
	out, _, err := call(t, nil, "try", "--replay", "--replay-fault", "60s/60s-mirror=status:503", "60s")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"source replay:60s-mirror\n", "GET https://cdn.jsdmirror.com/gh/vikiboss/60s-static-host@main/static/60s/", "503 Service Unavailable", "verdict          unavailable",
		"source replay:60s-static\n", "data             {", "verdict          success", "answer from replay:60s-static", "  type=json: 200 application/json; charset=utf-8, ", "  type=text: 200 text/plain; ", "每天60秒读懂世界"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if out, _, err = call(t, nil, "try", "--replay", "sjsp"); err != nil || !strings.Contains(out, `data             {"list":[{`) || !strings.Contains(out, "  type=json, candidate 2 of 2: 200 ") {
		t.Errorf("a pool is not shown as it is: %s %v", out, err)
	}
	for form, others := range map[string]string{"type=json": "type=image", "type=image": "type=json, type=text, type=redirect"} {
		if out, _, err = call(t, onlyIn(t, "dailywp"), "try", "--replay", "dailywp", form); err != nil || !strings.Contains(out, "\nother forms, whose chains were not called: "+others+"\n") {
			t.Errorf("%s: no other forms in\n%s%v", form, out, err)
		}
	}
	if out, _, err = call(t, nil, "try", "--replay", "music", "mid=404404"); err != nil || !strings.Contains(out, "answer: not found") {
		t.Errorf("%s %v", out, err)
	}
}

// TestTryNamesTheRule that decided, and what the service said.
func TestTryNamesTheRule(t *testing.T) {
	t.Parallel()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"code":1004,"msg":"invalid api key"}`) }))
	t.Cleanup(up.Close)
	dir := t.TempDir()
	write(t, dir, "ruled.yaml", `version: 1
name: ruled
group: text
summary: {en: A test., zh: 测试}
cache: {class: shared, ttl: 1h}
forms: [{name: json, json: .}]
sources:
  - name: one
    http: {url: "`+up.URL+`/"}
    judge:
      - {if: .code == 1, is: limited}
      - {if: .code != 0, is: unavailable}
`)
	out, _, err := call(t, onlyIn(t), "try", "ruled", "--catalog", dir)
	if want := `judge[2], line 12: "invalid api key"`; err == nil || !strings.Contains(out, want) {
		t.Errorf("no %s in\n%s%v", want, out, err)
	}
}

// TestTryIndentsText: every line of an answer stands below its form.
func TestTryIndentsText(t *testing.T) {
	t.Parallel()
	out, _, err := call(t, onlyIn(t, "ip"), "try", "--replay", "ip", "ip=8.8.8.8")
	_, answer, _ := strings.Cut(out, "answer from ")
	if err != nil || !strings.Contains(answer, "\n    IP：8.8.8.8\n    归属地：") || !strings.Contains(answer, "\n  type=text, zh: 200 ") || !strings.Contains(answer, "\n  type=text, en: 200 ") {
		t.Errorf("%s %v", out, err)
	}
}

// What a source maps is shown in the order of the answer.
func TestTryShowsFieldsInTheirOrder(t *testing.T) {
	t.Parallel()
	out, _, err := call(t, nil, "try", "--replay", "sfz", "card=11010519491231002X", "type=text")
	if err != nil || !strings.Contains(out, `data             {"valid":true,"type":"resident","length":18,"checksum_ok":true,`) {
		t.Errorf("%s %v", out, err)
	}
}

// metricsPage lists the metrics for operators.
const metricsPage = "../../deploy/metrics.md"

// TestMetricsGolden holds the list of metrics still: it is an API.
func TestMetricsGolden(t *testing.T) {
	t.Parallel()
	p := serveWith(t, keptIn(t.TempDir()), "--replay", "--redis", "redis://127.0.0.1:1")
	mustGet(t, p.public+"/api/60s")
	p.ask(http.MethodPost, "upstreams/kg.qq.com", `{"do":"closed"}`) // pending, but in force here
	_, text := mustGet(t, p.admin+"/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	series := 0
	for name, f := range families {
		if !strings.HasPrefix(name, "sundry_") {
			continue
		}
		series += len(f.GetMetric())
		lines = append(lines, fmt.Sprintf("| `%s` | %s | %s | %s |\n", name, strings.ToLower(f.GetType().String()), strings.Join(labels(f), ", "), f.GetHelp()))
	}
	sort.Strings(lines)
	if series > 3000 {
		t.Errorf("%d series", series)
	}
	table := "| metric | type | labels | what it says |\n|---|---|---|---|\n" + strings.Join(lines, "")
	golden(t, metricsPage, between(t, readFile(t, metricsPage), "metrics", table))
	problems, err := promlint.NewWithMetricFamilies(slices.Collect(mapValues(families))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, pr := range problems {
		if strings.HasPrefix(pr.Metric, "sundry_") {
			t.Errorf("promlint: %s: %s", pr.Metric, pr.Text)
		}
	}
}

func labels(f *dto.MetricFamily) []string {
	seen := map[string]bool{}
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			seen[l.GetName()] = true
		}
	}
	var out []string
	for l := range seen {
		out = append(out, l)
	}
	sort.Strings(out)
	return out
}

func mapValues(m map[string]*dto.MetricFamily) func(func(*dto.MetricFamily) bool) {
	return func(yield func(*dto.MetricFamily) bool) {
		for _, f := range m {
			if !yield(f) {
				return
			}
		}
	}
}

// TestDependencies lets imports point one way only.
func TestDependencies(t *testing.T) {
	t.Parallel()
	allowed := dependencies()
	root := "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if strings.HasPrefix(d.Name(), ".") && rel != "." || d.Name() == "testdata" || rel == "deploy" || rel == "bin" {
			return filepath.SkipDir
		}
		pkg, err := build.ImportDir(path, 0)
		if err != nil {
			return nil // no Go here
		}
		may, known := allowed[rel]
		if !known {
			t.Errorf("package %s: not in the table of dependencies", rel)
		}
		for _, imp := range pkg.Imports {
			ours, ok := strings.CutPrefix(imp, "sundry/")
			// All packages declare their metrics under metrics.Namespace, and may catch panics.
			if ok && ours != "metrics" && ours != "metrics/panics" && may != nil && !slices.Contains(may, ours) {
				t.Errorf("package %s must not import %s", rel, ours)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// dependencies are what each package may import of ours; nil: anything.
func dependencies() map[string][]string {
	return map[string][]string{
		// Libraries: they know nothing of the service.
		"cache/clients": {}, "cache/confirm": {}, "cache/purged": {"cache/policy"}, "cache/waiters": {}, "cache/durable": {}, "cache/far/redistest": {"upstreams/lib/longtest"}, "cache/jitter": {}, "metrics": {}, "metrics/panics": {"metrics"}, "upstreams/lib/chinatime": {},
		"upstreams/lib/geoip": {}, "upstreams/lib/guard": {}, "upstreams/lib/conntest": {}, "upstreams/lib/costtest": {"upstreams/lib/longtest"}, "upstreams/lib/longtest": {},
		"upstreams/lib/minecraft": {"upstreams/lib/guard", "upstreams/lib/pixels", "metrics/words"}, "upstreams/lib/peertest": {"upstreams/lib/longtest"}, "upstreams/lib/plainjson": {},
		"upstreams/lib/qrcode": {"metrics/words"}, "upstreams/lib/shape": {}, "upstreams/lib/sharelink": {"metrics/words"}, "upstreams/lib/signing": {"upstreams/lib/webpage"}, "upstreams/lib/waittest": {}, "upstreams/lib/webpage": {}, "upstreams/lib/charsets": {},
		"metrics/words": {}, "upstreams/lib/webpage/webtest": {"upstreams/lib/guard"},
		"cache":                   {"cache/clients", "cache/confirm", "cache/waiters", "cache/entry", "cache/jitter", "cache/near", "cache/policy", "cache/purged", "cache/snapshot", "metrics"},
		"cache/near":              {"cache/entry", "cache/policy", "metrics"},
		"cache/entry":             {},
		"cache/policy":            {"cache/entry"},
		"cache/advise":            {"cache", "cache/durable", "cache/entry", "cache/policy", "metrics", "metrics/words"},
		"cache/far":               {"cache/entry", "cache/jitter", "metrics"},
		"upstreams/scaffold":      {"metrics/words", "upstreams/lib/charsets", "upstreams/lib/chinatime", "upstreams/httpsource", "upstreams/lib/plainjson", "upstreams/lib/redact"},
		"upstreams/lib/favicon":   {"upstreams/lib/guard", "upstreams/lib/pixels", "upstreams/lib/webpage", "metrics/words"},
		"upstreams/lib/idcard":    {"upstreams/lib/chinatime", "upstreams/lib/geoip", "metrics/words"},
		"upstreams/lib/ipcard":    {"upstreams/lib/chinatime"},
		"upstreams/lib/shortlink": {"upstreams/lib/guard", "upstreams/lib/sharelink", "upstreams/lib/webpage", "metrics/words"},
		"upstreams/lib/tracking":  {"upstreams/lib/chinatime", "metrics/words"},
		// The request's way, from its end to its beginning.
		"upstreams/declare":    {"metrics/words"},
		"upstreams/lib/pixels": {},
		"upstreams/lib/redact": {},
		"upstreams/loop":       {},
		"upstreams/host":       {"cache/clients", "cache/jitter", "metrics"},
		"upstreams/fields":     {"upstreams/lib/chinatime"},
		"upstreams/jq":         {"metrics/words", "upstreams/lib/chinatime", "upstreams/declare", "upstreams/fields", "upstreams/lib/geoip", "upstreams/lib/sharelink", "upstreams/lib/signing", "upstreams/lib/tracking"},
		"upstreams": {
			"metrics", "upstreams/declare", "upstreams/fields", "upstreams/lib/charsets", "upstreams/lib/geoip", "upstreams/lib/guard", "upstreams/host", "upstreams/jq", "upstreams/loop",
			"upstreams/lib/redact", "upstreams/lib/shape", "metrics/words",
		},
		"upstreams/envtest": {"upstreams", "upstreams/lib/guard", "upstreams/lib/redact"},
		"upstreams/replay":  {"metrics/words", "upstreams", "upstreams/lib/chinatime", "upstreams/lib/minecraft"},
		"upstreams/httpsource": {
			"upstreams", "upstreams/declare", "upstreams/lib/guard", "upstreams/host", "upstreams/jq", "upstreams/lib/pixels", "upstreams/lib/plainjson", "upstreams/lib/redact",
			"upstreams/lib/charsets", "upstreams/lib/chinatime", "upstreams/lib/sharelink", "upstreams/lib/webpage", "metrics/words",
		},
		"upstreams/kinds": {
			"upstreams", "upstreams/lib/chinatime", "upstreams/declare", "upstreams/lib/favicon", "upstreams/lib/geoip", "upstreams/lib/guard",
			"upstreams/host", "upstreams/httpsource", "upstreams/lib/idcard", "upstreams/lib/ipcard", "upstreams/jq", "upstreams/lib/minecraft", "upstreams/lib/qrcode",
			"upstreams/lib/shortlink", "metrics/words",
		},
		"upstreams/catalog": {
			"cache", "cache/advise", "cache/durable", "cache/entry", "cache/policy", "cache/web", "upstreams", "upstreams/lib/guard", "upstreams/lib/chinatime", "upstreams/declare", "upstreams/lib/favicon", "upstreams/fields", "upstreams/lib/geoip", "upstreams/host", "upstreams/httpsource",
			"upstreams/lib/idcard", "upstreams/lib/ipcard", "upstreams/jq", "upstreams/kinds", "upstreams/lib/minecraft", "upstreams/lib/plainjson", "upstreams/lib/qrcode",
			"upstreams/lib/redact", "upstreams/lib/sharelink", "upstreams/lib/shortlink", "upstreams/lib/tracking", "metrics/words",
		},
		"upstreams/catalog/catalogtest": {"upstreams/catalog", "upstreams/envtest", "upstreams/replay"},
		"upstreams/fixtures": {
			"upstreams", "upstreams/catalog", "upstreams/declare", "upstreams/fields", "upstreams/httpsource", "upstreams/jq", "upstreams/lib/plainjson", "upstreams/lib/redact",
			"upstreams/replay", "upstreams/lib/shape", "metrics/words",
		},
		"proxy/mcp":          {"cache/clients", "proxy/site/apidoc", "proxy/site/i18n", "upstreams/catalog", "upstreams/lib/plainjson", "metrics/words"},
		"proxy/site/apidoc":  {"proxy/site/i18n", "upstreams", "upstreams/catalog", "upstreams/fixtures", "upstreams/lib/plainjson", "metrics/words"},
		"proxy/site/openapi": {"proxy/site/apidoc", "proxy/site/i18n", "upstreams/catalog", "upstreams/lib/plainjson", "upstreams/fixtures"},
		"proxy/site/pages": {
			"cache/entry", "cache/policy", "proxy/site/apidoc", "proxy/site/i18n", "proxy/site/openapi", "proxy/site/status", "upstreams/catalog", "upstreams/lib/chinatime",
			"upstreams/fields", "upstreams/lib/plainjson", "metrics/words", "upstreams/fixtures",
		},
		"proxy/explain": {
			"cache", "cache/policy", "cache/web", "proxy", "proxy/site/i18n", "proxy/site/pages", "proxy/through", "proxy/uri", "upstreams", "upstreams/catalog", "upstreams/declare", "upstreams/host", "metrics/words",
		},
		"proxy/browsertest": {"upstreams/lib/peertest", "upstreams/lib/waittest"},
		"proxy/site/i18n":   {"metrics/words"},
		"proxy/express":     {"cache/clients", "metrics", "metrics/words", "proxy/uri"},
		"cache/snapshot":    {"cache/durable", "metrics"}, "cache/web": {"cache/clients", "cache/confirm", "cache/entry", "cache/purged", "cache/snapshot", "metrics", "metrics/words"}, "cache/web/webtest": {"cache/entry"},
		"proxy/uri": {"metrics/words"}, "proxy/through": {"cache/clients", "cache/jitter", "cache/waiters", "cache/web", "metrics/words", "proxy/uri", "proxy/express", "upstreams/host", "upstreams/lib/redact"}, "proxy/through/suitetest": {"upstreams/lib/longtest"},
		"proxy/site/status": {},
		"proxy/ratelimit":   {"cache/clients"},
		"proxy": {
			"cache", "cache/clients", "cache/entry", "cache/jitter", "proxy/uri", "cache/policy", "cache/web", "metrics", "proxy/express", "proxy/through", "proxy/site/i18n", "proxy/mcp", "proxy/site/apidoc", "proxy/site/pages", "proxy/ratelimit", "proxy/site/status", "upstreams", "upstreams/catalog", "upstreams/lib/ipcard", "upstreams/loop", "upstreams/lib/plainjson",
			"upstreams/fixtures", "metrics/words",
		},
		"proxy/live":      {"cache/durable", "cache/far", "cache/jitter", "cache/policy", "metrics", "upstreams/host", "metrics/words"},
		"proxy/autopilot": {"cache/jitter", "metrics", "metrics/words", "proxy/live"},
		"proxy/admin": {
			"cache", "cache/advise", "cache/entry", "cache/policy", "cache/web", "metrics", "proxy/autopilot", "proxy/explain", "proxy/ratelimit", "proxy/site/status", "proxy/site/i18n", "proxy/express", "proxy/live", "proxy/through", "proxy/uri", "upstreams", "upstreams/catalog", "upstreams/declare", "upstreams/host",
			"upstreams/lib/plainjson", "upstreams/lib/redact", "metrics/words",
		},
		"proxy/listener":   {"cache/clients", "metrics"},
		"proxy/secure":     {"cache/durable", "cache/jitter", "metrics/words"},
		"proxy/logwriter":  {"metrics"},
		"proxy/logmarks":   {"cache/durable", "cache/far", "proxy"},
		"proxy/requestlog": {"cache/advise", "metrics/words", "proxy", "upstreams/catalog"},
		"cmd/sundry/internal/config": {
			"metrics/words", "cache", "cache/near", "cache/far", "proxy", "upstreams", "upstreams/catalog", "upstreams/declare", "upstreams/lib/guard", "upstreams/lib/redact", "upstreams/loop",
		},
		"cmd/sundry/internal/simulation": {},  // it knows the program from outside alone
		"cmd/sundry":                     nil, // anything
	}
}

// TestTopLevel keeps the root as it was agreed, with what .gitignore leaves to who works here: bin, catalog.
func TestTopLevel(t *testing.T) {
	t.Parallel()
	want := []string{"cmd", "proxy", "upstreams", "cache", "metrics", "deploy", "docker-compose.yml", "go.mod", "go.sum", "README.md", "README.zh-CN.md", "LICENSE", "CHANGELOG.md", "Makefile", "bin", "catalog"}
	entries, err := os.ReadDir("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(want, e.Name()) {
			t.Errorf("%s does not belong at the top level", e.Name())
		}
	}
}
