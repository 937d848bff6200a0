package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCompletion: what may follow, by the words so far.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		words string // the last one is to be completed
		want  string // all of it, or … and what it must hold
	}{
		{"ser", "serve"},
		{"help c", "check completion"},
		{"serve --re", "--replay --replay-fault --redis"},
		{"serve --log-level ", "debug info warn error"},
		{"serve --log-format=", "--log-format=text --log-format=json"},
		{"serve --catalog ", ""},
		{"serve x", ""},
		{"schema ", "catalog part config"},
		{"schema config ", ""},
		{"schema p", "part"},
		{"completion ", "bash zsh fish"},
		{"try ", ""},
		{"try -- --re", ""},
		{"advise x", ""},
		{"nonsense ", "…serve"},
	} {
		args := append([]string{completeCommand}, strings.Split(c.words, " ")...)
		out, errs, err := call(t, nil, args...)
		if err != nil || errs != "" {
			t.Errorf("%s: %v %s", c.words, err, errs)
		}
		var got []string
		for line := range strings.Lines(out) {
			word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			got = append(got, word)
		}
		part, isPart := strings.CutPrefix(c.want, "…")
		if isPart && !slices.Contains(got, part) || !isPart && strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, want %s", c.words, got, c.want)
		}
	}
	if out, _, err := call(t, nil, completeCommand); err != nil || !strings.HasPrefix(out, "serve\tServe the endpoints.\n") {
		t.Errorf("%s %v", out, err)
	}
}

// TestShellsComplete has each shell that is there load its script and complete with it.
// This test binary is sundry.
func TestShellsComplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "sundry")); err != nil {
		t.Fatal(err)
	}
	for shell, c := range map[string]struct{ program, args, want string }{
		"bash": {`source <(sundry completion bash)
of() { COMP_LINE=$1 COMP_POINT=${#1}; _sundry; printf '%s|' "${COMPREPLY[@]}"; echo; }
of "sundry ser"; of "sundry serve --log-format="; of "sundry schema "; complete -p sundry`, "",
			"serve|\ntext|json|\ncatalog|part|config|\ncomplete -o default -F _sundry sundry\n"},
		"zsh": {`autoload -Uz compinit; compinit -u -D; source <(sundry completion zsh)
_describe() { print -rl -- "${(@P)4}"; }
_files() { print files; }
words=(sundry schema ''); CURRENT=3; _sundry; words=(sundry serve --config ''); CURRENT=4; _sundry; print $_comps[sundry]`, "-f",
			"catalog\npart\nconfig\nfiles\n_sundry\n"},
		"fish": {`sundry completion fish | source
complete -C "sundry ser"; complete -C "sundry schema "`, "--no-config",
			"serve\tServe the endpoints.\ncatalog\nconfig\npart\n"},
	} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(shell, "is not installed")
			}
			args := append(strings.Fields(c.args), "-c", c.program)
			cmd := exec.CommandContext(t.Context(), path, args...)
			cmd.Env = append(os.Environ(), asProgram+"=yes", "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil || string(out) != c.want {
				t.Errorf("%v: %q, want %q", err, out, c.want)
			}
		})
	}
}
