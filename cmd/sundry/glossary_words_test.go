package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// replaced reads the table of deploy/glossary.zh-CN.md of words that are not used, with
// what to say instead.
func replaced(t *testing.T) map[string]string {
	t.Helper()
	_, table, _ := strings.Cut(readFile(t, filepath.Join(samples, "glossary.zh-CN.md")), "| 不用 | 改用 |")
	instead := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|\n]*\p{Han}[^|\n]*) \| ([^|\n]+) \|$`).FindAllStringSubmatch(table, -1) {
		for word := range strings.SplitSeq(row[1], "、") {
			instead[word] = row[2]
		}
	}
	if len(instead) < 15 {
		t.Fatalf("only %d words are in the table", len(instead))
	}
	return instead
}

// glossaryFile names the words that are not used.
const glossaryFile = "deploy/glossary.zh-CN.md"

// isOurText reports whether a file of the repository holds words of our own. Recorded
// exchanges hold those of others.
func isOurText(path string) bool {
	switch filepath.Ext(path) {
	case ".go", ".yaml", ".html", ".js", ".json", ".md", ".txt":
		return !strings.HasPrefix(path, "bin/") && !strings.Contains(path, "fixtures/testdata/") && !strings.Contains(path, "node_modules/") &&
			!strings.HasSuffix(path, "_test.go") && path != glossaryFile
	}
	return false
}

var (
	unspaced = regexp.MustCompile(`\p{Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Han}`)
	// together are escapes, verbs of formats, dates as services write them, and the names of two.
	together = regexp.MustCompile(`\\+[nrt]|%[.0-9]*[a-z]|[0-9]+年[0-9]+月[0-9]+日|快递100|每天60秒`)
)

// isSpaced reports whether Chinese words of our own stand apart from Latin ones and from
// figures. Files of endpoints also have words of others, outside of zh.
func isSpaced(path, line string) bool {
	if strings.HasPrefix(path, "upstreams/") {
		_, line, _ = strings.Cut(line, "zh: ")
	}
	return !unspaced.MatchString(together.ReplaceAllLiteralString(line, " "))
}

// TestChineseTextsUseTheWordsOfTheGlossary: one thing has one name.
func TestChineseTextsUseTheWordsOfTheGlossary(t *testing.T) {
	t.Parallel()
	instead, read := replaced(t), 0
	err := fs.WalkDir(os.DirFS("../.."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && d.Name() != "." && strings.HasPrefix(d.Name(), ".") {
				return fs.SkipDir
			}
			return err
		}
		if !isOurText(path) {
			return nil
		}
		read++
		number := 0
		for line := range strings.Lines(readFile(t, filepath.Join("../..", path))) {
			number++
			if !isSpaced(path, line) {
				t.Errorf("%s:%d: a space belongs between Chinese and Latin words: %.120s", path, number, strings.TrimSpace(line))
			}
			for word, better := range instead {
				if strings.Contains(line, word) {
					t.Errorf("%s:%d: not %s, but %s: %.120s", path, number, word, better, strings.TrimSpace(line))
				}
			}
		}
		return nil
	})
	if err != nil || read < 300 {
		t.Errorf("%d files: %v", read, err)
	}
}
