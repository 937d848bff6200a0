package main

import (
	"go/ast"
	"io"
	"net/http"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics/panics"
	"sundry/upstreams"
)

// panickingTransport panics at each request to an upstream.
type panickingTransport struct{}

func (panickingTransport) RoundTrip(*http.Request) (*http.Response, error) { panic("it failed") }

// TestAPanicEndsNothing: its caller gets an error, it is counted and logged with its stack,
// and the process serves on.
func TestAPanicEndsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "own.yaml", `version: 1
name: own
group: text
summary: {en: A test., zh: 测试}
cache: {class: shared, ttl: 1h}
forms: [{name: json, json: .}]
sources: [{name: one, http: {url: "http://127.0.0.1:9/"}}]
`)
	p := launch(t, &process{getenv: noEnv, onEnvironment: func(env *upstreams.Environment) { env.Transport = panickingTransport{} }}, "--catalog", dir)
	p.panics = true
	if status, _, body, err := get(p.public + "/api/own"); err != nil || status != http.StatusInternalServerError {
		t.Errorf("%d: %s, %v", status, body, err)
	}
	_, metrics := mustGet(t, p.admin+"/metrics")
	for _, want := range []string{`sundry_panics_total{task="fill"} 1`, `sundry_panics_total{task="request"} 0`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
	if log := p.stderr.String(); strings.Count(log, "panickingTransport.RoundTrip") != 1 || !strings.Contains(log, "task=fill") {
		t.Error(log)
	}
	mustGet(t, p.public+"/healthz")
}

// TestCatchersAreGivenToAll: whatever has a place for a catcher has one while it serves.
// Those that hand it on, and those that are made later, are left out.
func TestCatchersAreGivenToAll(t *testing.T) {
	t.Parallel()
	s := builtServer(t, "redis: unix://"+filepath.Join(t.TempDir(), "none")+"\ndata: "+t.TempDir()+"\nacme: {hosts: [a.example]}\n"+only("qrcode"))
	handedOn := []string{"cache.Config", "express.Config", "proxy.warming", "mcp.Config", "through.Handler", "secure.Config", "through.Watcher", "panics.handler", "panics.listener", "panics.registerer", "panics.collector"}
	given := catchersOf(s)
	for _, place := range placesOfCatchers(t) {
		switch got, found := given[place]; {
		case slices.Contains(handedOn, place):
		case !found:
			t.Errorf("%s: is not reached from what serves", place)
		case !got:
			t.Errorf("%s: has none", place)
		}
	}
}

// builtServer is a server with these settings that answers from recorded exchanges; it does
// not listen.
func builtServer(t *testing.T, settings string) *server {
	t.Helper()
	cmd := &serveCmd{faultFlags: faultFlags{flags: flags{Replay: true, Config: write(t, t.TempDir(), "sundry.yaml", settings)}}}
	w := &process{ctx: t.Context(), urgent: t.Context(), getenv: noEnv, stdout: io.Discard, stderr: io.Discard}
	c, err := cmd.config(w)
	if err != nil {
		t.Fatal(err)
	}
	log, level, lines := newLogger(c, w)
	t.Cleanup(lines.End)
	reg := prometheus.NewRegistry()
	s := &server{cmd: cmd, config: c, process: w, log: log, level: level}
	s.panics = panics.New(reg, log)
	if err := s.build(reg); err != nil {
		t.Fatal(err)
	}
	s.newSystem(reg)
	t.Cleanup(s.close)
	return s
}

// placesOfCatchers are the types with a field for one, by package and name.
func placesOfCatchers(t *testing.T) (places []string) {
	t.Helper()
	for file, parsed := range serviceFiles(t) {
		pkg := path.Base(path.Dir(file))
		if parsed.Name.Name == "main" {
			pkg = "main"
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok && slices.ContainsFunc(s.Fields.List, isCatcherField) {
				places = append(places, pkg+"."+spec.Name.Name)
			}
			return true
		})
	}
	if len(places) < 15 {
		t.Fatalf("only %q", places)
	}
	return places
}

func isCatcherField(f *ast.Field) bool {
	star, ok := f.Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	if s, ok := star.X.(*ast.SelectorExpr); ok {
		return s.Sel.Name == "Catcher"
	}
	name, ok := star.X.(*ast.Ident)
	return ok && name.Name == "Catcher"
}

// catchersOf says of the types with a field for a catcher, as far as one is reached from v,
// whether all of their values have one.
func catchersOf(v any) map[string]bool {
	given, seen := map[string]bool{}, map[uintptr]bool{}
	var walk func(reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() && !seen[v.Pointer()] {
				seen[v.Pointer()] = true
				walk(v.Elem())
			}
		case reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Struct:
			if t := v.Type(); t.PkgPath() != "main" && !strings.HasPrefix(t.PkgPath(), "sundry/") && t.PkgPath() != "" {
				return
			}
			for _, f := range v.Fields() {
				if f.Type() == reflect.TypeFor[*panics.Catcher]() {
					name := v.Type().String()
					before, found := given[name]
					given[name] = !f.IsNil() && (before || !found)
					continue
				}
				walk(f)
			}
		}
	}
	walk(reflect.ValueOf(v))
	return given
}
