package recorded

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/host"
	"sundry/upstreams/replay"
)

var update = flag.Bool("update", false, "write want.json of the recorded exchanges anew")

func mustCases(t testing.TB) []*Case {
	t.Helper()
	cases, err := Cases(Builtin(), "testdata")
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestExchanges plays every recorded exchange through its source: the request
// must be the recorded one, the verdict and the mapped data as wanted.
func TestExchanges(t *testing.T) {
	network := replay.New(nil)
	network.Strict = true
	env := testEnvironment(t, network)
	env.GeoFile = onePlace{}
	// No case may find a breaker that another one opened.
	env.Hosts.Config = host.Config{Failures: 1 << 20, Ratio: 2}
	c, err := catalog.Load(catalog.Options{}, env)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range mustCases(t) {
		t.Run(path.Join(x.Endpoint, x.Source, x.Name), func(t *testing.T) {
			if _, err := Exchanges(c, []*Case{x}); err != nil {
				t.Fatal(err)
			}
			network.Set([]*replay.Exchange{&x.Exchange})
			e, ok := c.Get(x.Endpoint)
			if !ok {
				t.Fatalf("no endpoint %s", x.Endpoint)
			}
			playCase(t, e, env, x)
		})
	}
}

func playCase(t *testing.T, e *catalog.Endpoint, env *upstreams.Environment, x *Case) {
	t.Helper()
	src := sourceOfCase(t, e, x)
	call := &upstreams.Call{Endpoint: e.Name, Params: x.Params, Now: x.Now}
	answer, err := (upstreams.NewChain(e.Name, []*upstreams.Source{src}, true, env)).Do(t.Context(), call, false, nil)
	verdict := "success"
	if err != nil {
		verdict = verdictOf(err)
	}
	if verdict != x.Want {
		t.Fatalf("verdict %s, want %s: %v", verdict, x.Want, err)
	}
	if err != nil {
		return
	}
	got, err := json.MarshalIndent(answer.Data, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(filepath.Join(x.Dir, "want.json"), append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(normal(t, x.WantJSON), normal(t, got)); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}

// verdictOf is the verdict of the one attempt inside a chain's error.
func verdictOf(err error) string {
	for _, k := range []upstreams.ErrorKind{upstreams.Malformed, upstreams.Limited, upstreams.Skipped} {
		if strings.Contains(err.Error(), ": "+k.String()) {
			return k.String()
		}
	}
	return upstreams.KindOf(err).String()
}

func sourceOfCase(t *testing.T, e *catalog.Endpoint, x *Case) *upstreams.Source {
	t.Helper()
	for _, ch := range e.Chains {
		for _, s := range ch.Sources {
			if s.Name == "replay:"+x.Source && (x.Chain == "" || x.Chain == ch.Name) {
				return s
			}
		}
	}
	t.Fatalf("no source %s in %s", x.Source, e.Name)
	return nil
}

// normal decodes for comparing. A latency is measured, so only whether there is
// one is compared.
func normal(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&v); err != nil {
		t.Fatal(err)
	}
	if m, ok := v.(map[string]any); ok {
		if _, measured := m["latency_ms"].(float64); measured {
			m["latency_ms"] = "measured"
		}
	}
	return v
}

// TestEverySourceHasCases holds every source that asks somebody over HTTP to a
// good case, one in which it has nothing (a definite no where that can be an
// answer), and a malformed one.
func TestEverySourceHasCases(t *testing.T) {
	c := mustLoad(t, replay.New(nil))
	cases := mustCases(t)
	for _, e := range c.Endpoints {
		for _, s := range e.Sources() {
			name := strings.TrimPrefix(s.Name, "replay:")
			if !s.CallsDeclaredHost() {
				continue
			}
			have := map[string]bool{}
			for _, x := range CasesOf(cases, e.Name, name) {
				have[x.Want] = true
			}
			for _, want := range []string{"success", "malformed"} {
				if !have[want] {
					t.Errorf("%s/%s: no %s case", e.Name, name, want)
				}
			}
			if !have["negative"] && !have["unavailable"] && !have["skipped"] {
				t.Errorf("%s/%s: no case in which it has nothing", e.Name, name)
			}
		}
	}
}

// TestCasesAreUsed finds directories that no source claims.
func TestCasesAreUsed(t *testing.T) {
	c := mustLoad(t, replay.New(nil))
	dirs, err := fs.Glob(Builtin(), "testdata/*/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		endpoint, source := path.Base(path.Dir(dir)), path.Base(dir)
		e, ok := c.Get(endpoint)
		if !ok {
			t.Errorf("%s: no such endpoint", dir)
			continue
		}
		found := false
		for _, s := range e.Sources() {
			found = found || s.Name == "replay:"+source
		}
		if !found {
			t.Errorf("%s: no such source", dir)
		}
	}
}
