package kinds

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/envtest"
	"sundry/upstreams/jq"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func environment(t testing.TB) *upstreams.Environment {
	t.Helper()
	env := envtest.Bare()
	env.Transport = upstreams.NewTransport()
	t.Cleanup(env.CloseIdle)
	return env
}

// compile compiles a source from YAML, which may include the defs of its file.
func compile(t testing.TB, env *upstreams.Environment, text string, params ...string) *upstreams.Source {
	t.Helper()
	s, problems := tryCompile(t, env, text, params...)
	if len(problems) > 0 {
		t.Fatalf("problems: %v", problems)
	}
	return s
}

func tryCompile(t testing.TB, env *upstreams.Environment, text string, params ...string) (*upstreams.Source, declare.Problems) {
	t.Helper()
	var spec SourceSpec
	var problems declare.Problems
	of := Endpoint{Name: "test", Params: params}
	var doc yaml.Node
	if err := yaml.Load([]byte(text), &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	source := doc.Content[0]
	for i := 0; i < len(source.Content); i += 2 {
		if source.Content[i].Value == "defs" { // of the file
			var defs declare.Defs
			declare.Decode(source.Content[i+1], "defs", &defs, &problems)
			of.Defs = jq.CompileDefs(defs, &problems)
			source.Content = slices.Delete(source.Content, i, i+2)
		}
	}
	if !declare.Decode(source, "", &spec, &problems) {
		return nil, problems
	}
	return Compile(of, &spec, env, &problems), problems
}

func upstream(t testing.TB, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// chainOf makes a chain of sources from YAML.
func chainOf(t testing.TB, env *upstreams.Environment, mayBeNegative bool, texts ...string) *upstreams.Chain {
	t.Helper()
	sources := make([]*upstreams.Source, len(texts))
	for i, text := range texts {
		sources[i] = compile(t, env, text)
	}
	return upstreams.NewChain("test", sources, mayBeNegative, env)
}

func ask(t testing.TB, env *upstreams.Environment, s *upstreams.Source, params map[string]any) (upstreams.Answer, error) {
	t.Helper()
	return upstreams.NewChain("test", []*upstreams.Source{s}, true, env).Do(t.Context(), &upstreams.Call{Endpoint: "test", Params: params, Now: time.Unix(1_795_219_200, 0)}, false, nil)
}
