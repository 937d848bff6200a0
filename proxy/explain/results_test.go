package explain

import (
	"os"
	"strings"
	"testing"

	"sundry/upstreams"
)

// TestResultsAreNamedAsInTheConsole: each has a word in Chinese, the same in both places.
func TestResultsAreNamedAsInTheConsole(t *testing.T) {
	console, err := os.ReadFile("../admin/console/words.zh.js")
	if err != nil {
		t.Fatal(err)
	}
	results := []string{"success"}
	for kind := upstreams.Internal; ; kind++ {
		if _, ok := upstreams.ParseErrorKind(kind.String()); !ok {
			break
		}
		results = append(results, kind.String())
	}
	for _, name := range results {
		if row := `"` + name + `": "` + ResultWord(name).ZH() + `",`; ResultWord(name).EN() != name || !strings.Contains(string(console), row) {
			t.Errorf("the console has no %s", row)
		}
	}
	if got := became("unavailable"); got.EN() != "unavailable" || got.ZH() != "失败（不可用）" {
		t.Errorf("%q, %q", got.EN(), got.ZH())
	}
}
