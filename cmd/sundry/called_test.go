package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestCalledAs(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"": "sundry", "sundry": "sundry", "bin/sundry": "bin/sundry", "/usr/local/bin/sundry": "/usr/local/bin/sundry",
		"/tmp/go-build123/b001/exe/sundry": "go run ./cmd/sundry", "/home/a b/it's": `'/home/a b/it'\''s'`,
	} {
		if got := calledAs(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// TestCommandsAreShownAsTheyAreTyped: with the program as it was called.
func TestCommandsAreShownAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := processOf(t, nil)
	w.program, w.stdout = "bin/sundry", &out
	dir := t.TempDir()
	if err := execute(w, []string{"new", "joke", "--url", draftServer(t) + "/object", "--out", dir}); err != nil {
		t.Fatal(err)
	}
	if want := "\nnext: bin/sundry try joke --replay --catalog " + filepath.Clean(dir); !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, &out)
	}
	for line, want := range map[string]string{
		"": "More:     bin/sundry help\n", "try": "Example: bin/sundry try ip ip=8.8.8.8\n", "completion": "Example: source <(bin/sundry completion bash)\n",
		"doctor a=b": "such as in bin/sundry doctor kd ",
	} {
		var said bytes.Buffer
		report(&said, w.called(), w.language(), execute(w, strings.Fields(line)))
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q: no %q in\n%s", line, want, &said)
		}
	}
}
