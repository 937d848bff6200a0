package proxy

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/lib/peertest"
)

// exampleOutput is what the example clients print of recorded sources.
const exampleOutput = "ip: 1.1.1.1 中国\n60s: 每天60秒读懂世界 2026-08-22 星期六 农历丙午年七月初十\nqrcode: image/png true\nerror: 400 invalid_parameter size\n"

// TestTypeScriptClient: types are generated from the document, the example client compiles
// with them, strictly, and gets what it asks for, over the network.
func TestTypeScriptClient(t *testing.T) {
	node, folder := peertest.Module(t, "openapi-typescript")
	f := newFront(t, nil, replayed, withExchanges)
	dir := filepath.Join(t.TempDir(), "typescript")
	if err := os.CopyFS(dir, os.DirFS("../deploy/clients/typescript")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(folder, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), []byte(f.get("/openapi.json").body), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), node, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
		return string(out)
	}
	run("node_modules/openapi-typescript/bin/cli.js", "openapi.json", "-o", "sundry.d.ts")
	run("node_modules/typescript/bin/tsc")
	if diff := cmp.Diff(exampleOutput, run("example.js", f.URL)); diff != "" {
		t.Error(diff)
	}
}
