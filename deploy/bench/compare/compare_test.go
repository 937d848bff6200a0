//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sundry/deploy/bench/harness"
	"sundry/upstreams/lib/peertest"
)

// needed skips where a program is missing, and where there is one core only.
func needed(t *testing.T) {
	t.Helper()
	for peer, names := range map[string][2]string{
		"nginx": {"nginx-light", "nginx"}, "varnish": {"varnish", "varnishd"}, "redis": {"redis-server", "redis-server"}, "wrk": {"wrk", "wrk"},
		"taskset": {"util-linux", "taskset"},
	} {
		program := peertest.Program(t, peer, names[0], names[1])
		t.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Dir(program))
	}
	if _, _, err := harness.Cores(); err != nil {
		t.Skip(err)
	}
}

// TestATableComesOut runs the script itself, so briefly that its figures mean nothing.
func TestATableComesOut(t *testing.T) {
	if testing.Short() {
		t.Skip("starts five servers")
	}
	needed(t)
	cmd := exec.Command("bash", "../run.sh", "--rounds", "1", "--seconds", "0.1", "--only", "hit-1k,head,miss")
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, &messages)
	}
	for _, want := range []string{
		"| hit, 1 kB, to nginx | ", "| HEAD, to nginx | ", "| miss, 1 kB, to `httputil.ReverseProxy` | ",
		"| hit, 1 kB (`60s`) | ", "| HEAD (`60s`) | ", "| miss, 1 kB, one HTTP source", "nginx 1.", "Varnish ",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing in:\n%s", want, out)
		}
	}
}

func TestTheScriptsAreWellFormed(t *testing.T) {
	for _, script := range []string{"../run.sh", "../overload.sh"} {
		if out, err := exec.Command("bash", "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", script, err, out)
		}
	}
}

// TestFiguresHaveTheirPlaces writes into copies of the documents.
func TestFiguresHaveTheirPlaces(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"deploy/bench/README.md", "deploy/sizing.md"} {
		text, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := harness.WriteFile(filepath.Join(root, name), string(text)); err != nil {
			t.Fatal(err)
		}
	}
	r := &report{results: newResults(), rows: allRows(), machine: "a machine", rounds: "one round"}
	r.results.add("hit-1k", withExpress, 10)
	r.results.add("hit-1k", nginx, 20)
	for range 2 { // the second run replaces the figures of the first
		if err := r.write(root); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"deploy/bench/README.md": "| hit, 1 kB (`60s`) | 10.0 | – | – | 20.0 | – | `hit-1k` |",
		"deploy/sizing.md":       "| hit, 1 kB (`60s`) | 100000 | 10.0 µs |",
	} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(text), want); n != 1 {
			t.Errorf("%s has %q %d times", name, want, n)
		}
	}
}

func TestGoalsAreAboutRows(t *testing.T) {
	for _, g := range goals() {
		for _, f := range []figure{g.of, g.to} {
			name, _, _ := strings.Cut(f.row, " ")
			if rows, err := chooseRows([]string{name}); f != (figure{}) && (err != nil || len(rows) != 1) {
				t.Errorf("%s: %v", g.what, err)
			}
		}
	}
}

func TestMistakesInOptions(t *testing.T) {
	for _, args := range []string{"--rounds 0", "--seconds 1.5", "--seconds 0", "--only hit-1k --write", "more"} {
		if _, err := readOptions(strings.Fields(args), &strings.Builder{}); err == nil {
			t.Errorf("%s: no error", args)
		}
	}
	if _, err := chooseRows([]string{"hits"}); err == nil || !strings.Contains(err.Error(), "hit-1k") {
		t.Errorf("a row that does not exist: %v", err)
	}
}
