package main

import (
	"strings"
	"testing"
	"unicode"

	"sundry/proxy/site/i18n"
)

// env looks up in pairs of a name and a value.
func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

// TestTheLanguageOfTheCommandLine: what Sundry is told, else the first variable of the locale that says something.
func TestTheLanguageOfTheCommandLine(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		want  i18n.Language
		pairs []string
	}{
		{i18n.English, nil},
		{i18n.Chinese, []string{"LANG", "zh_CN.UTF-8"}},
		{i18n.Chinese, []string{"LC_MESSAGES", "zh_TW", "LANG", "en_US.UTF-8"}},
		{i18n.Chinese, []string{"LC_ALL", "", "LANG", "zh"}},
		{i18n.English, []string{"LC_ALL", "C", "LANG", "zh_CN.UTF-8"}},
		{i18n.English, []string{"LANG", "de_DE.UTF-8"}},
		{i18n.English, []string{"SUNDRY_LANGUAGE", "en", "LC_ALL", "zh_CN.UTF-8"}},
		{i18n.Chinese, []string{"SUNDRY_LANGUAGE", "zh", "LC_ALL", "C"}},
		{i18n.Chinese, []string{"SUNDRY_LANGUAGE", "", "LC_ALL", "zh_CN.UTF-8"}},
	} {
		if got := languageOf(env(row.pairs...)); got != row.want {
			t.Errorf("%v: %s, want %s", row.pairs, got, row.want)
		}
	}
}

// TestCommandsAreExplainedInChinese, each of them; flags are in English.
func TestCommandsAreExplainedInChinese(t *testing.T) {
	t.Parallel()
	inChinese := func(text string) bool {
		return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
	}
	for _, zh := range []bool{false, true} {
		locale := map[string]string{"LANG": "zh_CN.UTF-8"}
		if !zh {
			locale = nil
		}
		parser, _, err := newParser(processOf(t, locale), &cli{})
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range parser.Model.Children {
			if inChinese(command.Help) != zh {
				t.Errorf("Chinese %v: %s: %s", zh, command.Name, command.Help)
			}
		}
		if out, _, err := call(t, locale, "help"); err != nil || inChinese(out) != zh || strings.Contains(out, "A caching reverse proxy") == zh {
			t.Errorf("Chinese %v: %v\n%s", zh, err, out)
		}
	}
}

// TestColumnsOfChinese: a character of Chinese takes two.
func TestColumnsOfChinese(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a": "a     .", "规则": "规则  .", "a（b）": "a（b）.", "缓存条目": "缓存条目."} {
		if got := padded(text, 6) + "."; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
