package declare

import (
	"strings"
	"testing"
)

// TestMistakesOfSyntaxInChinese: those that are frequent, with what to do; of others, that they are in English.
func TestMistakesOfSyntaxInChinese(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"version：1\nname: a\n":       "半角冒号",
		"name: a\n state: on\n":      "缩进",
		"cache:\n\tttl: 1h\n":        "制表符",
		"name: `a`\n":                "引号",
		"cache: {ttl: 1h\nname: a\n": "括号",
		"hosts: [a, b\n":             "括号",
		"hosts: [a,\n":               "括号",
		"name: \"a\n":                "引号",
		"name: '\xbb\xb6'\n":         "UTF-8",
		"name: \xd6\xd0\n":           "UTF-8",
		"name: a\nstate\ncount: 1\n": "冒号",
		"hosts:\n  - a\n  b: c\n":    "以 - 开头",
		"name: \"a\" b\n":            "对齐",
		"name: *.example.org\n":      "引号",
		"name: \"\\d\"\n":            "单引号",
		"hosts: - a\n":               "另起一行",
		"name: >a\n":                 "有误（详情为英文）：did not find expected comment or line break",
	} {
		var problems Problems
		var into fileExample
		if Read([]byte(text), &into, &problems) || len(problems) != 1 || !strings.Contains(problems[0].Msg.ZH(), want) {
			t.Errorf("%q: no %q in %v", text, want, problems)
		}
	}
}

// TestWideIndentation is told with its line, which is not that of the library; one in a text is none.
func TestWideIndentation(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"name: a\n\u3000\u3000b: c\nd: e\n":        2,
		"list:\n\u3000- a\n  - b: c\n":             2,
		"a:\n  - b: c\n  \u00a0 d: e\n    f: g\n":  3,
		"a: |\n  one\n  \u3000two\nb: c\n  d: e\n": 0,
		"a: one\n  \u3000two\nb: \"c\n":            0,
	} {
		var problems Problems
		Read([]byte(text), new(fileExample), &problems)
		if len(problems) == 0 {
			t.Errorf("%q: %v", text, problems)
			continue
		}
		wide := strings.Contains(problems[0].Msg.EN(), "ordinary spaces") && strings.Contains(problems[0].Msg.ZH(), "全角空格")
		if wide != (want > 0) || wide && problems[0].Line != want {
			t.Errorf("%q: %v, want line %d", text, problems, want)
		}
	}
}
