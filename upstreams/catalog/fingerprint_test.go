package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"sundry/cache"
	"sundry/upstreams"
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
		return e.version()
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
}

// TestRendering holds what the program makes of every recorded exchange to what
// it made when rendering was last raised.
func TestRendering(t *testing.T) {
	const golden = "testdata/rendering.txt"
	b, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	before := map[string][]string{} // version and digest
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); len(f) == 3 {
			before[f[0]] = f[1:]
		}
	}
	var now strings.Builder
	synctest.Test(t, func(t *testing.T) {
		th := newTheatre(t, upstreams.BreakerConfig{})
		for _, e := range th.Endpoints {
			version, digest := strings.ReplaceAll(e.version(), " ", ","), made(t, e)
			fmt.Fprintln(&now, e.Name, version, digest)
			old := before[e.Name]
			switch {
			case len(old) == 2 && old[0] == version && old[1] != digest:
				t.Errorf("%s: the program makes another answer of the same file and replies: raise rendering in fingerprint.go, then run go test ./upstreams/catalog -run TestRendering -update", e.Name)
			case (len(old) != 2 || old[0] != version) && !*update:
				t.Errorf("%s: its file or data changed: run go test ./upstreams/catalog -run TestRendering -update", e.Name)
			}
		}
	})
	if *update && !t.Failed() {
		if err := os.WriteFile(golden, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// made is a digest of the answers to an endpoint's calls. The clock stands still
// at the beginning of a bubble; what is picked at random is left out.
func made(t *testing.T, e *Endpoint) string {
	t.Helper()
	h := sha256.New()
	for _, row := range e.Calls() {
		s := scene{endpoint: e, query: row.Query}
		in, bad := e.Parse(row.Query, Caller{Addr: noCaller})
		if bad != nil || slices.ContainsFunc(e.Params, func(p *Param) bool { return p.Spec.Pick != nil }) && !strings.Contains(row.Query, "lx=") {
			continue
		}
		content, err := (&Fill{Input: in}).Load(t.Context(), false)
		if err != nil {
			t.Errorf("%s: %v", s.String(), err)
			continue
		}
		_, _ = fmt.Fprintln(h, row.Query, content.Source, content.Edition, content.Expires, content.Fresh, content.Negative)
		for _, form := range content.Forms {
			for _, body := range form {
				_, _ = fmt.Fprintln(h, body.Status, body.Type, body.ETag, body.Location, string(body.Data[cache.Identity]))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
