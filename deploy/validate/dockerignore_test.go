package validate

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// source is what `go list` tells of a package.
type source struct {
	Dir                 string
	GoFiles, EmbedFiles []string
}

// sources are the files that the program is built from, from the top.
func sources(t *testing.T) []string {
	t.Helper()
	root, err := filepath.Abs(top)
	if err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Dir,GoFiles,EmbedFiles", "./cmd/sundry")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"go.mod", "go.sum", "LICENSE", ".git/HEAD"}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p source
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil || strings.HasPrefix(dir, "..") {
			continue // of the standard library or a module
		}
		for _, f := range append(p.GoFiles, p.EmbedFiles...) {
			files = append(files, filepath.Join(dir, f))
		}
	}
}

// TestDockerignoreKeepsWhatTheBuildNeeds, and nothing that may be secret.
func TestDockerignoreKeepsWhatTheBuildNeeds(t *testing.T) {
	f, err := os.Open(filepath.Join(top, ".dockerignore"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	patterns, err := ignorefile.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	m, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	ignored := func(file string) bool {
		yes, err := m.MatchesOrParentMatches(file)
		if err != nil {
			t.Fatal(err)
		}
		return yes
	}
	files := sources(t)
	if len(files) < 100 {
		t.Errorf("only %d files: %q", len(files), files)
	}
	for _, file := range files {
		if ignored(file) {
			t.Errorf("%s is left out of the build's context", file)
		}
	}
	for _, file := range []string{".env", "sundry.yaml", "bin/sundry", "deploy/tools/node/node_modules/x", "cmd/sundry/deploy_test.go"} {
		if !ignored(file) {
			t.Errorf("%s gets into the build's context", file)
		}
	}
}
