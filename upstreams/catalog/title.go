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

// compileTitle is the title of a file, which may have none: then it is how the summary begins, where
// that is short, or else the name.
func compileTitle(title declare.Words, name string, summary words.Text, line int, problems *declare.Problems) words.Text {
	if title.IsZero() {
		return words.Say(beginning(summary.EN(), name), beginning(summary.ZH(), name))
	}
	if utf8.RuneCountInString(title.EN()) > longestTitle || utf8.RuneCountInString(title.ZH()) > longestTitle {
		problems.Add(line, "title: expected at most %d characters, for example {en: Joke of the day, zh: 每日笑话}", longestTitle)
	}
	return title.Text
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
