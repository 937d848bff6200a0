package recorded

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"sundry/upstreams/catalog"
	"sundry/upstreams/host"
)

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
		th := newReplayed(t, host.Config{})
		for _, e := range th.Endpoints {
			version, digest := strings.ReplaceAll(e.Version(), " ", ","), made(t, e)
			fmt.Fprintln(&now, e.Name, version, digest)
			old := before[e.Name]
			switch {
			case len(old) == 2 && old[0] == version && old[1] != digest:
				t.Errorf("%s: the program makes another answer of the same file and replies: raise rendering in upstreams/catalog/fingerprint.go, then run go test ./upstreams/recorded -run TestRendering -update", e.Name)
			case (len(old) != 2 || old[0] != version) && !*update:
				t.Errorf("%s: its file or data changed: run go test ./upstreams/recorded -run TestRendering -update", e.Name)
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
func made(t *testing.T, e *catalog.Endpoint) string {
	t.Helper()
	h := sha256.New()
	for _, row := range Calls(e) {
		s := answeredCall{endpoint: e, query: row.Query}
		in, bad := e.Parse(row.Query, catalog.Caller{Addr: caller})
		if bad != nil || slices.ContainsFunc(e.Params, func(p *catalog.Param) bool { return p.Spec.Pick != nil }) && !strings.Contains(row.Query, "lx=") {
			continue
		}
		content, err := (&catalog.Fill{Input: in}).Load(t.Context(), false)
		if err != nil {
			t.Errorf("%s: %v", s.String(), err)
			continue
		}
		_, _ = fmt.Fprintln(h, row.Query, content.Source, content.Edition, content.Expires, content.Fresh, content.Negative)
		for _, form := range content.Forms {
			for _, body := range form {
				_, _ = fmt.Fprintln(h, body.Status, body.Type, body.ETag, body.Location, string(body.Data))
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
