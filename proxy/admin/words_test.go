package admin

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	placeholder = regexp.MustCompile(`\{\w+\}`)
	literal     = `"((?:[^"\\]|\\.)*)"`
	said        = regexp.MustCompile(`\bt\(` + literal)
	forms       = regexp.MustCompile(`"(\{n\} [^"]*\|[^"]*)"`) // for t, elsewhere
	counted     = regexp.MustCompile(`\bplural\((?:[^()"]|\([^()]*\)|\[[^\]]*\])*, "(\w[\w ]*)"(?:, "([\w ]+)")?\)`)
	comments    = regexp.MustCompile(`(?m)^\s*//.*$|\s// .*$`)
	noWords     = regexp.MustCompile(`\b(?:class|rel|target|href|autocomplete|preserveAspectRatio|viewBox|d): ` + literal + `|^import .*$`)
	quoted      = regexp.MustCompile(literal)
	text        = regexp.MustCompile(`^[A-Z][a-z]+(?:…|$| )|[a-z]{2,} [a-z]{2,}|\p{Han}`)
)

// consoleSources are the modules of the console without comments, by name.
func consoleSources(t *testing.T) map[string]string {
	t.Helper()
	names, err := fs.Glob(consoleFiles, "console/*.js")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, name := range names {
		b, err := fs.ReadFile(consoleFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(name, "console/")] = comments.ReplaceAllString(string(b), "")
	}
	return all
}

// TestTheConsoleSpeaksBothLanguages: all that it says in English it says in Chinese, with
// the same values, and nothing else.
func TestTheConsoleSpeaksBothLanguages(t *testing.T) {
	sources := consoleSources(t)
	table := sources["words.zh.js"]
	delete(sources, "words.zh.js")
	var chinese map[string]string
	if err := json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(strings.Replace(table, "export default", "", 1)), ";")), &chinese); err != nil {
		t.Fatal(err)
	}
	english := map[string]bool{"d": true, "h": true, "min": true, "s": true}
	for _, unit := range []string{"day", "hour", "minute", "second"} {
		english["{n} "+unit+"|{n} "+unit+"s"] = true
	}
	for _, source := range sources {
		for _, m := range append(said.FindAllStringSubmatch(source, -1), forms.FindAllStringSubmatch(source, -1)...) {
			english[strings.ReplaceAll(m[1], `\"`, `"`)] = true
		}
		for _, m := range counted.FindAllStringSubmatch(source, -1) {
			many := m[2]
			if many == "" {
				many = m[1] + "s"
			}
			english["{n} "+m[1]+"|{n} "+many] = true
		}
	}
	for words := range english {
		other, ok := chinese[words]
		if !ok {
			t.Errorf("no Chinese for %q", words)
		} else if !maps.Equal(placeholders(words), placeholders(other)) {
			t.Errorf("%q and %q have other values", words, other)
		}
	}
	for words := range chinese {
		if !english[words] {
			t.Errorf("Chinese for %q, which is not said", words)
		}
	}
}

func placeholders(text string) map[string]bool {
	all := map[string]bool{}
	for _, p := range placeholder.FindAllString(text, -1) {
		all[p] = true
	}
	return all
}

var section = regexp.MustCompile(`, "([a-z]+)"(?:, [\w.]+)?\);?\n`)

// TestTheConsoleNamesSectionsOfTheRunbook that there are.
func TestTheConsoleNamesSectionsOfTheRunbook(t *testing.T) {
	runbook, err := os.ReadFile("../../deploy/runbook.md")
	if err != nil {
		t.Fatal(err)
	}
	named := section.FindAllStringSubmatch(consoleSources(t)["trouble.js"], -1)
	if len(named) < 6 {
		t.Errorf("only %d troubles name a section", len(named))
	}
	for _, m := range named {
		if !strings.Contains(strings.ToLower(string(runbook)), "\n## "+m[1]+"\n") {
			t.Errorf("the runbook has no section %s", m[1])
		}
	}
}

// TestWordsOfTheConsoleStandInItsTable, as far as a look at its texts can tell.
func TestWordsOfTheConsoleStandInItsTable(t *testing.T) {
	untranslated := []string{"中文", "English", "Content-Type", "Cache-Status", "Cache-Control", "Age", "Location", "Authorization", "TimeoutError", "Sundry", "bar none", "number gain", "number loss"} // names of HTTP, of languages and of classes
	for name, source := range consoleSources(t) {
		if name == "words.zh.js" {
			continue
		}
		for line := range strings.Lines(source) {
			line = counted.ReplaceAllString(said.ReplaceAllString(noWords.ReplaceAllString(line, ""), ""), "")
			line = forms.ReplaceAllString(line, "")
			for _, m := range quoted.FindAllStringSubmatch(line, -1) {
				if text.MatchString(m[1]) && !slices.Contains(untranslated, m[1]) {
					t.Errorf("%s: %q is not in both languages", name, m[1])
				}
			}
		}
	}
}
