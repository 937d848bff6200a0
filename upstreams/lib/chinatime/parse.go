package chinatime

import (
	"strconv"
	"strings"
	"time"
)

// times are tried in turn. Months, days and hours may lack their leading zero, and a
// fraction of a second is accepted after each second.
var times = []string{
	"2006-1-2 15:04:05", "2006-1-2 15:04",
	"2006-1-2T15:04:05", "2006-1-2T15:04",
	"2006-1-2T15:04:05Z07:00", "2006-1-2T15:04Z07:00",
	"2006-1-2T15:04:05Z0700", "2006-1-2T15:04Z0700",
	"2006-1-2 15:04:05Z07:00", "2006-1-2 15:04Z07:00",
	"2006-1-2 15:04:05 Z07:00", "2006-1-2 15:04 Z07:00",
	"2006-1-2 15:04:05 Z0700", "2006-1-2 15:04 Z0700",
	"Mon, 2 Jan 2006 15:04:05 Z0700", "Mon, 2 Jan 2006 15:04 Z0700", "2 Jan 2006 15:04:05 Z0700", // RFC 1123, RFC 5322
	"Mon Jan 2 15:04:05 Z0700 2006",
}

// spellings are replaced before a text is compared with the layouts.
var spellings = strings.NewReplacer("/", "-", "年", "-", "月", "-", "日", " ", "GMT", "+0000", "UTC", "+0000")

// Parse reads a time as services write it: 2006-01-02 15:04:05, with T for the space, without
// seconds, with / or 年月日 for -, or as in RFC 1123; with a zone (Z, +08:00, +0800, GMT) or
// without one, which means China's; or 10 digits of Unix seconds or 13 of milliseconds, which
// are returned in China's time.
func Parse(text string) (at time.Time, ok bool) { return ParseIn(zone, text) }

// ParseIn is Parse for the services of another country: a time without a zone is in this one.
func ParseIn(zone *time.Location, text string) (at time.Time, ok bool) {
	text = strings.TrimSpace(text)
	if at, ok = unix(text); ok {
		return at.In(zone), true
	}
	return parse(zone, text, times)
}

// ParseDay reads a day as services write it: 2006-01-02, with / or 年月日 for -, or 20060102; or
// a time, as Parse does, whose day in China it is.
func ParseDay(text string) (day time.Time, ok bool) {
	if day, ok = parse(zone, text, []string{"2006-1-2", "20060102"}); ok {
		return day, true
	}
	at, ok := Parse(text)
	return at.In(zone), ok
}

// longest is how many bytes the longest text has that is read.
const longest = 64

func parse(zone *time.Location, text string, layouts []string) (time.Time, bool) {
	if len(text) > longest {
		return time.Time{}, false
	}
	text = strings.Join(strings.Fields(spellings.Replace(text)), " ")
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil && t.Year() > 1 { // 0001 stands for none
			return t, true
		}
	}
	return time.Time{}, false
}

func unix(text string) (time.Time, bool) {
	n, err := strconv.ParseUint(text, 10, 63)
	switch {
	case err != nil || n == 0:
		return time.Time{}, false
	case len(text) == len("1795219200"):
		return time.Unix(int64(n), 0).In(zone), true
	case len(text) == len("1795219200000"):
		return time.UnixMilli(int64(n)).In(zone), true
	}
	return time.Time{}, false
}
