package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An answer made of other data, or by another program, has another key.
func TestKeysKnowWhatMadeTheAnswer(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "data"), 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	version := func() string {
		t.Helper()
		env := testEnvironment(t, nil)
		env.Data = Data(dir)
		c, err := Load(Options{Dir: dir}, env)
		if err != nil {
			t.Fatal(err)
		}
		e, _ := c.Get("whole")
		return e.Version()
	}
	text := strings.Replace(whole, "computed: {}", "embedded: {file: own.json}", 1)
	if text == whole {
		t.Fatal("nothing was replaced")
	}
	write("whole.yaml", text)
	write("data/own.json", `{"v":"one"}`)
	first := version()
	if again := version(); again != first {
		t.Errorf("the same files: %s and %s", first, again)
	}
	write("data/own.json", `{"v":"two"}`)
	if second := version(); second == first {
		t.Error("other data, the same version")
	}
	write("data/own.json", `{"v":"one"}`)
	write("whole.yaml", strings.Replace(text, "ttl: 1h", "ttl: 2h", 1))
	if retuned := version(); retuned != first {
		t.Error("another ttl, another version")
	}
	described := strings.Replace(text, "{name: n,", "{name: n, summary: {en: The number., zh: 编号},", 1)
	if described = strings.Replace(described, "- name: made", "- name: made\n    summary: It is made here.", 1); strings.Count(described, "summary:") != strings.Count(text, "summary:")+2 {
		t.Fatal(described)
	}
	write("whole.yaml", described)
	if got := version(); got != first {
		t.Error("other summaries, another version")
	}
}
