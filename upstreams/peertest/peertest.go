// Package peertest finds the programs of others that tests are held against.
// Where one is missing the test is skipped and says so, or fails where the
// environment variable SUNDRY_TEST_REQUIRE names it.
package peertest

import (
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Program finds the first of these on the PATH or among the programs of
// administrators. SUNDRY_TEST_REQUIRE knows them as peer, Debian as the package
// debian.
func Program(t testing.TB, peer, debian string, names ...string) string {
	t.Helper()
	for _, name := range names {
		for _, at := range []string{name, "/usr/sbin/" + name, "/sbin/" + name} {
			if path, err := exec.LookPath(at); err == nil {
				return path
			}
		}
	}
	missing(t, peer, "no %s here (Debian: apt-get install %s)", strings.Join(names, ", "), debian)
	return ""
}

// Module finds Node and the folder, by SUNDRY_TEST_NODE_MODULES, that holds the
// npm package. SUNDRY_TEST_REQUIRE knows both as node.
func Module(t testing.TB, npm string) (node, folder string) {
	t.Helper()
	node = Program(t, "node", "nodejs", "node")
	folder = os.Getenv("SUNDRY_TEST_NODE_MODULES")
	if _, err := fs.Stat(os.DirFS(folder), npm+"/package.json"); err != nil {
		missing(t, "node", "SUNDRY_TEST_NODE_MODULES names no folder with the npm package %s", npm)
	}
	return node, folder
}

func missing(t testing.TB, peer, format string, args ...any) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("SUNDRY_TEST_REQUIRE"), ","), peer) {
		t.Fatalf(peer+" is required: "+format, args...)
	}
	t.Skipf(format, args...)
}
