package simulation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPromisesAreMade compares each rule with the document that makes its promise.
func TestPromisesAreMade(t *testing.T) {
	names := map[string]bool{}
	for _, r := range rules() {
		if names[r.name] {
			t.Errorf("two rules are named %s", r.name)
		}
		names[r.name] = true
		text, err := os.ReadFile(filepath.Join("../../../../deploy", filepath.FromSlash(r.file)))
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), r.says) {
			t.Errorf("%s: %s does not say %q", r.name, r.file, r.says)
		}
	}
}
