package declare

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
)

// syntax is what the YAML library says of a text, in Chinese with what to do for what it says most often.
func syntax(message string) words.Text {
	for part, zh := range syntaxInChinese() {
		if strings.Contains(message, part) {
			return words.Say(message, zh)
		}
	}
	return words.Say(message, "有误（详情为英文）："+message)
}

// syntaxInChinese has what to do about a mistake, by a part of its message that no other has.
func syntaxInChinese() map[string]string {
	return map[string]string{ //nolint:gosec // messages about tokens of YAML are none
		"mapping values are not allowed":              "这里不应有键和值；缩进应为空格且上下对齐，这一行和上一行的键后应为半角冒号加空格，例如 version: 1",
		"found character that cannot start any token": "值不能这样开头；缩进应为空格，不用制表符；以 @、` 或 % 开头的文本应加引号",
		"found a tab character":                       "缩进应为空格，不用制表符",
		"did not find expected ',' or":                "括号没有写完；应有半角逗号或右括号，例如 {en: A, zh: 甲} 或 [a, b]",
		"did not find expected node content":          "这里缺少值；括号应成对，例如 {en: A, zh: 甲} 或 [a, b]",
		"found unexpected end of stream":              "文本没有写完；引号应成对，例如 name: \"a\"",
		"UTF-8 octet":                                 "文件不是 UTF-8 编码；应存为 UTF-8",
		"could not find expected ':'":                 "这一行或上一行的键后缺少冒号；应为半角冒号加空格，例如 version: 1",
		"did not find expected '-' indicator":         "列表的每一项都应以 - 开头，且上下对齐",
		"did not find expected key":                   "这里应为键；同一层的键应上下对齐，缩进用空格；值中有引号或括号的，整个值应加引号",
		"unknown anchor":                              "没有这个锚点；以 * 开头的文本应加引号",
		"found unknown escape character":              "双引号中没有这种转义；应改用单引号，或把 \\ 写成 \\\\",
		`parsing time "`:                              "应为时间，例如 2026-11-21T09:00:00+08:00",
		"block sequence entries are not allowed":      "列表不能与键同行；第一项应另起一行，或写成 [a, b]",
	}
}

// indentedWide is the mistake of a line whose indentation has one of wideSpaces.
const indentedWide = "this line is indented by a wide or non-breaking space; expected ordinary spaces"

// wideSpaces match the indentation of a line with spaces that look like those of YAML, and are none: those of
// Chinese input methods (U+3000) and of web pages (U+00A0).
var wideSpaces = regexp.MustCompile(`(?m)^ *[\x{3000}\x{A0}][ \x{3000}\x{A0}]*`)

// wideIndentation is the first line with such an indentation, if the mistake is another one without
// them; 0 for none. The library names a later line, where what it took for a text ends.
func wideIndentation(text []byte, mistake error) int {
	at := wideSpaces.FindIndex(text)
	if at == nil {
		return 0
	}
	ordinary := wideSpaces.ReplaceAllFunc(text, func(indentation []byte) []byte {
		return []byte(strings.NewReplacer("\u3000", "  ", "\u00a0", " ").Replace(string(indentation)))
	})
	var doc yaml.Node
	if err := yaml.Load(ordinary, &doc); err != nil && err.Error() == mistake.Error() {
		return 0
	}
	return 1 + strings.Count(string(text[:at[0]]), "\n")
}
