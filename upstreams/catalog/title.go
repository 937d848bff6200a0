package catalog

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"sundry/metrics/words"
	"sundry/upstreams/declare"
)

// longestTitle is the length, in characters, of the longest title that lists have room for.
const longestTitle = 40

// compile is the title of a file, which may have none: then it is how the summary begins, where
// that is short, or else the name.
func (b *bilingual) compile(name, en, zh string, line int, problems *declare.Problems) words.Text {
	if b == nil {
		return words.Say(beginning(en, name), beginning(zh, name))
	}
	if b.EN == "" || b.ZH == "" || utf8.RuneCountInString(b.EN) > longestTitle || utf8.RuneCountInString(b.ZH) > longestTitle {
		problems.Add(line, "title: expected both languages, at most %d characters each, for example {en: Joke of the day, zh: 每日笑话}", longestTitle)
	}
	return words.Say(b.EN, b.ZH)
}

// beginning is the first part of a summary; otherwise where that is no title.
func beginning(summary, otherwise string) string {
	for _, end := range []string{". ", "; ", ": ", ", ", "。", "；", "：", "，"} {
		summary, _, _ = strings.Cut(summary, end)
	}
	if summary = strings.TrimRight(summary, "."); utf8.RuneCountInString(summary) > longestTitle {
		return otherwise
	}
	return cmp.Or(summary, otherwise)
}
