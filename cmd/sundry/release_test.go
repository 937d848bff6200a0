package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// releaseGo returns the version of Go that builds releases. Only the image in the
// Dockerfile states it.
func releaseGo(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^FROM .*library/golang:(\d+\.\d+\.\d+)-\S+ AS build$`).FindStringSubmatch(readFile(t, "../../deploy/Dockerfile"))
	if found == nil {
		t.Fatal("the Dockerfile does not state a patch release of Go, for example golang:1.26.11-bookworm")
	}
	return found[1]
}

// TestOneGoBuildsAllReleases compares the version in the READMEs with that of the
// Dockerfile.
func TestOneGoBuildsAllReleases(t *testing.T) {
	t.Parallel()
	version := releaseGo(t)
	for _, page := range readmes {
		stated := regexp.MustCompile(`Go \d+\.\d+\.\d+`).FindAllString(readFile(t, page), -1)
		if len(stated) != 1 || stated[0] != "Go "+version {
			t.Errorf("%s states %q, the Dockerfile Go %s", page, stated, version)
		}
	}
}

// TestTheReleaseScriptSelectsItsGo: whatever the user has selected.
func TestTheReleaseScriptSelectsItsGo(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	dir := t.TempDir()
	write(t, dir, "go", "#!/bin/sh\necho selected $GOTOOLCHAIN\nexit 1\n")
	if err := os.Chmod(filepath.Join(dir, "go"), 0o700); err != nil {
		t.Fatal(err)
	}
	script := exec.CommandContext(t.Context(), bash, "../../deploy/release.sh")
	script.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "GOTOOLCHAIN=local")
	// The script ends at the first call of go, before it writes anything.
	if out, err := script.CombinedOutput(); err == nil || string(out) != "selected go"+releaseGo(t)+"\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// TestAnyPatchReleaseOfGoBuilds: go.mod demands no patch release.
func TestAnyPatchReleaseOfGoBuilds(t *testing.T) {
	t.Parallel()
	minor := releaseGo(t)
	minor = minor[:strings.LastIndexByte(minor, '.')]
	mod := readFile(t, "../../go.mod")
	if !strings.Contains(mod, "\ngo "+minor+".0\n") || strings.Contains(mod, "\ntoolchain ") {
		t.Errorf("go.mod must have the line go %s.0 and no toolchain:\n%s", minor, mod)
	}
}
