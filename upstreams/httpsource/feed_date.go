package httpsource

import (
	"regexp"
	"strings"
	"time"

	"sundry/upstreams/declare"
	"sundry/upstreams/lib/chinatime"
)

var (
	halfOfDay = regexp.MustCompile(`(?i)(\d)\s*[ap]\.?m\b\.?`)
	// zonedDate matches a time of day with a letter or a sign after it, or a numeric
	// zone at the end.
	zonedDate = regexp.MustCompile(`(?i)\d:\d\d?[^a-z+-]*[a-z+-]|\s[+-]\d{4}$`)
	// chinaStandard matches a name that is also that of a zone in America.
	chinaStandard = regexp.MustCompile(`\bCST\b`)
)

// longestDate is how many bytes a date has that is read again.
const longestDate = 64

// dateIn returns a date of a feed. parsed is what the parser made of it, which takes a
// date without a time zone for UTC; nil means that it could not read the date.
func dateIn(zone *time.Location, text string, parsed *time.Time) time.Time {
	text = strings.TrimSpace(text)
	if len(text) > longestDate {
		return time.Time{}
	}
	if zone == chinatime.Zone() {
		text = chinaStandard.ReplaceAllString(text, "+0800")
	}
	at, ok := chinatime.ParseIn(zone, text)
	switch {
	case parsed == nil || parsed.IsZero(), ok && !at.Equal(*parsed):
		return at // zero if neither can read it
	case zonedDate.MatchString(halfOfDay.ReplaceAllString(text, "$1")):
		return *parsed
	}
	t := parsed.UTC()
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
}

// compileZone returns the time zone of the dates of a feed: that of China unless the
// declaration says another.
func compileZone(spec *Spec, problems *declare.Problems) *time.Location {
	if spec.Zone.Value == "" {
		return chinatime.Zone()
	}
	t, err := time.Parse("-07:00", spec.Zone.Value)
	if err != nil || spec.Decode != "feed" {
		problems.Add(spec.Zone.Line, `zone: expected hours and minutes from UTC, with decode: feed, for example zone: "+09:00", got %q`, spec.Zone.Value)
		return chinatime.Zone()
	}
	_, offset := t.Zone()
	return time.FixedZone("", offset)
}
