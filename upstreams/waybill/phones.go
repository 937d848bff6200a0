package waybill

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	grouped = regexp.MustCompile(`1[0-9]{2}[- ][0-9]{4}[- ][0-9]{4}`)
	figures = regexp.MustCompile(`[0-9０-９]+`)
)

// MaskPhones hides the mobile numbers of couriers and addressees in an event's
// text: 13800138000 becomes 1**********, also when it is grouped by hyphens or
// spaces, or follows 0, 86 or 0086. Landline and service numbers, which begin
// with 0, 4 or 9 or are shorter, stay; so do longer digits such as tracking
// numbers. Everything else is left as it is.
func MaskPhones(text string) string {
	return figures.ReplaceAllStringFunc(replaceAlone(grouped, text, maskGroups), maskRun)
}

func maskGroups(s string) string {
	return s[:1] + strings.Map(func(r rune) rune {
		if isDigit(r) {
			return '*'
		}
		return r
	}, s[1:])
}

// maskRun masks one run of digits if it is a mobile number.
func maskRun(run string) string {
	n := utf8.RuneCountInString(run)
	if n < 11 || n > 15 {
		return run
	}
	narrow := strings.Map(func(r rune) rune {
		if r >= '０' {
			return r - '０' + '0'
		}
		return r
	}, run)
	before, number := narrow[:n-11], narrow[n-11:]
	mobile := number[0] == '1' && number[1] >= '3'
	switch {
	case before == "" && number[0] == '1', mobile && (before == "0" || before == "86" || before == "0086"):
		return before + "1**********"
	}
	return run
}

// replaceAlone replaces matches that no further digits adjoin.
func replaceAlone(re *regexp.Regexp, text string, replace func(string) string) string {
	var b strings.Builder
	done := 0
	for _, at := range re.FindAllStringIndex(text, -1) {
		if at[0] > 0 && isDigit(rune(text[at[0]-1])) || at[1] < len(text) && isDigit(rune(text[at[1]])) {
			continue
		}
		b.WriteString(text[done:at[0]])
		b.WriteString(replace(text[at[0]:at[1]]))
		done = at[1]
	}
	b.WriteString(text[done:])
	return b.String()
}
