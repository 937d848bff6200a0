package declare

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTranslationsAreOfWhatIsSaid: each is of a text that the program has elsewhere, and takes the same arguments.
func TestTranslationsAreOfWhatIsSaid(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, root := range []string{"..", "../../cmd/sundry/internal/config"} {
		addTexts(t, root, used)
	}
	for en, zh := range chinese() {
		if !used[en] {
			t.Errorf("nothing says %q", en)
		}
		if got, want := verbs(t, zh), verbs(t, en); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v as in %q", zh, got, want, en)
		}
	}
}

// addTexts adds the literals of the Go files below a folder, without tests and the translations themselves.
func addTexts(t *testing.T, root string, texts map[string]bool) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "declare/say.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				text, _ := strconv.Unquote(l.Value)
				texts[text] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// verbs are those of a format, in the order of the arguments that they stand for.
func verbs(t *testing.T, format string) []string {
	t.Helper()
	all := regexp.MustCompile(`%(\[(\d)\])?([a-z])`).FindAllStringSubmatch(strings.ReplaceAll(format, "%%", ""), -1)
	out := make([]string, len(all))
	for i, m := range all {
		if m[2] != "" {
			i, _ = strconv.Atoi(m[2])
			i--
		}
		if i >= len(out) {
			t.Errorf("%q: an argument too many", format)
			continue
		}
		out[i] = m[3]
	}
	return out
}
