package validate

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestComposeSecretsAreMadeOnce runs the script of the service in a directory.
func TestComposeSecretsAreMadeOnce(t *testing.T) {
	dir := t.TempDir()
	s := compose(t).Services["secrets"]
	script := strings.ReplaceAll(strings.ReplaceAll(s.Command[0], "/run/", dir+"/"), "$$", "$")
	files := []string{filepath.Join(dir, "sundry", "admin-token"), filepath.Join(dir, "prometheus", "read-token"), filepath.Join(dir, "grafana", "admin-password")}
	for _, f := range files {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run := func() (contents [3]string) {
		if out, err := exec.CommandContext(t.Context(), s.Entrypoint[0], append(s.Entrypoint[1:], script)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for i, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			contents[i] = string(b)
		}
		return contents
	}
	first := run()
	for _, secret := range first {
		if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(secret) {
			t.Errorf("secret %q", secret)
		}
	}
	if first[0] == first[1] || first[1] == first[2] || first[0] == first[2] {
		t.Error("two secrets are the same")
	}
	if second := run(); second != first {
		t.Errorf("another start made %q of %q", second, first)
	}
	for _, f := range files { // read by other users than root, who made them
		if info, err := os.Stat(f); err != nil || info.Mode().Perm() != 0o444 {
			t.Errorf("%s: %v %v", f, info.Mode(), err)
		}
	}
}
