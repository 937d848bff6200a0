package proxy

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/lib/peertest"
)

// TestGoClient: a client is generated from the document, the example compiles with it, and
// gets what it asks for, over the network.
func TestGoClient(t *testing.T) {
	const example = "../deploy/clients/go"
	generator := peertest.Tool(t, example, "oapi-codegen")
	f := newFront(t, nil, replayed, withExchanges)
	dir := filepath.Join(t.TempDir(), "go")
	if err := os.CopyFS(dir, os.DirFS(example)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "api"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), []byte(f.get("/openapi.json").body), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", program, err, out)
		}
		return string(out)
	}
	run(generator, "-config", "oapi-codegen.yaml", "openapi.json")
	if diff := cmp.Diff(exampleOutput, run("go", "run", ".", f.URL)); diff != "" {
		t.Error(diff)
	}
}
