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
