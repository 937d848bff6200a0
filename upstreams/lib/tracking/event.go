package tracking

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sundry/upstreams/lib/chinatime"
)

// Event is one tracking event of a parcel.
type Event struct {
	Time  time.Time // zero when it is unknown
	Text  string
	Place string // empty if it is only in the text
	State string // empty if the carrier's code of the event is unknown
}

// Sort returns the events newest first, those without a time last, and of events
// with the same time and text only the first. It does not change its argument.
//
// Events of the same time keep their order in the list. If most neighbours in the
// list go from old to new, all of it is assumed to be in that order, and reversed;
// otherwise, also if all times are equal, it is assumed to be newest first.
func Sort(events []Event) []Event {
	sorted := slices.Clone(events)
	if ascending(sorted) {
		slices.Reverse(sorted)
	}
	slices.SortStableFunc(sorted, func(a, b Event) int { return b.Time.Compare(a.Time) })
	type line struct {
		at   time.Time
		text string
	}
	seen := make(map[line]bool, len(sorted))
	return slices.DeleteFunc(sorted, func(e Event) bool {
		l := line{e.Time.Round(0).UTC(), e.Text} // == compares zones and clocks too
		known := seen[l]
		seen[l] = true
		return known
	})
}

func ascending(events []Event) bool {
	balance := 0
	for i := 1; i < len(events); i++ {
		if !events[i].Time.IsZero() && !events[i-1].Time.IsZero() {
			balance += events[i].Time.Compare(events[i-1].Time)
		}
	}
	return balance > 0
}

// The accepted years of an event: others are a wrong unit, or placeholders.
const (
	firstYear = 2000
	lastYear  = 2099
)

// ParseTime parses the time of an event, as chinatime.Parse does. Years are 2000 to 2099. The
// error contains at most 32 characters of the input.
func ParseTime(s string) (time.Time, error) {
	t, ok := chinatime.Parse(s)
	if !ok || t.Year() < firstYear || t.Year() > lastYear {
		return time.Time{}, fmt.Errorf("parse event time %.32q: expected 2006-01-02 15:04:05, with or without a zone, or Unix seconds or milliseconds, in the years %d to %d", s, firstYear, lastYear)
	}
	return t, nil
}

var (
	grouped = regexp.MustCompile(`1[0-9]{2}[- ][0-9]{4}[- ][0-9]{4}`)
	figures = regexp.MustCompile(`[0-9０-９]+`)
)

// MaskPhones hides the mobile numbers of couriers and addressees in an event's
// text: 13800138000 becomes 1**********, also when it is grouped by hyphens or
// spaces, or follows 0, 86 or 0086. Landline and service numbers, which begin
// with 0, 4 or 9 or are shorter, are not hidden, nor are longer digits such as
// tracking numbers. Everything else is unchanged.
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

// replaceAlone replaces matches that are not next to further digits.
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
