// Package peertest finds independent programs (peers) with which tests compare
// results. If one is missing the test is skipped with a message, or fails if the
// environment variable SUNDRY_TEST_REQUIRE lists it. With -short, none is started.
package peertest

import (
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sundry/upstreams/lib/longtest"
)

// Program finds the first of the names on the PATH or in the sbin directories.
// SUNDRY_TEST_REQUIRE lists it as peer; debian is the Debian package.
func Program(t testing.TB, peer, debian string, names ...string) string {
	t.Helper()
	longtest.NotShort(t, "it starts "+names[0])
	for _, name := range names {
		for _, at := range []string{name, "/usr/sbin/" + name, "/sbin/" + name} {
			if path, err := exec.LookPath(at); err == nil {
				return path
			}
		}
	}
	missing(t, peer, "%s not found (Debian: apt-get install %s)", strings.Join(names, ", "), debian)
	return ""
}

// Module finds Node, and the folder named by SUNDRY_TEST_NODE_MODULES, which must
// hold the npm package. SUNDRY_TEST_REQUIRE lists both as node.
func Module(t testing.TB, npm string) (node, folder string) {
	t.Helper()
	node = Program(t, "node", "nodejs", "node")
	folder = os.Getenv("SUNDRY_TEST_NODE_MODULES")
	if _, err := fs.Stat(os.DirFS(folder), npm+"/package.json"); err != nil {
		missing(t, "node", "SUNDRY_TEST_NODE_MODULES is not a folder with the npm package %s", npm)
	}
	return node, folder
}

// Python finds the Python of Debian with a module. SUNDRY_TEST_REQUIRE lists it by the name of the module.
func Python(t testing.TB, module string) (python string) {
	t.Helper()
	python = Program(t, module, "python3-"+module, "/usr/bin/python3")
	if err := exec.CommandContext(t.Context(), python, "-c", "import "+module).Run(); err != nil { //nolint:gosec // a test names it
		missing(t, module, "the Python module %s not found (Debian: apt-get install python3-%s)", module, module)
	}
	return python
}

// Tool finds a tool of the Go module in a directory, whose modules must have been
// downloaded. SUNDRY_TEST_REQUIRE lists it by its name.
func Tool(t testing.TB, dir, name string) (program string) {
	t.Helper()
	longtest.NotShort(t, "it starts "+name)
	cmd := exec.CommandContext(t.Context(), "go", "tool", "-n", name) //nolint:gosec // a test names it
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOPROXY=off")
	out, err := cmd.Output()
	if err != nil {
		missing(t, name, "%s cannot be built (cd %s && go mod download): %v", name, dir, err)
	}
	return strings.TrimSpace(string(out))
}

func missing(t testing.TB, peer, format string, args ...any) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("SUNDRY_TEST_REQUIRE"), ","), peer) {
		t.Fatalf(peer+" is required: "+format, args...)
	}
	t.Skipf(format, args...)
}
