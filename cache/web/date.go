package web

import (
	"slices"
	"strings"
	"time"
)

// The names in dates, in lower case.
var (
	months   = [...]string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}
	days     = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
	longDays = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
)

// indexFold returns the index of a name in any case, or -1. Letters that are not ASCII are not folded.
func indexFold(names []string, name string) int {
	return slices.IndexFunc(names, func(one string) bool { return len(one) == len(name) && strings.EqualFold(one, name) })
}

// Date reads a date in one of the three forms of RFC 9110, section 5.6.7, names in any case. The second of the day, the
// zone and the number of digits are as that says, or it is no date: what is invalid must count as long ago, rather than
// as what it may have meant. A year of two digits is at most 50 years ahead of now.
func Date(s string, now time.Time) (t time.Time, ok bool) {
	day, rest, comma := strings.Cut(s, ", ")
	switch {
	case comma && indexFold(days[:], day) >= 0:
		return imfDate(rest)
	case comma && indexFold(longDays[:], day) >= 0:
		return rfc850Date(rest, now)
	case !comma && len(s) == len("Sun Nov  6 08:49:37 1994") && indexFold(days[:], s[:3]) >= 0 && s[3] == ' ':
		return asctimeDate(s[4:])
	}
	return time.Time{}, false
}

// imfDate reads "06 Nov 1994 08:49:37 GMT".
func imfDate(s string) (time.Time, bool) {
	if len(s) != len("06 Nov 1994 08:49:37 GMT") || s[2] != ' ' || s[6] != ' ' || s[11] != ' ' || !strings.EqualFold(s[20:], " GMT") {
		return time.Time{}, false
	}
	return date(s[7:11], s[3:6], s[:2], s[12:20])
}

// rfc850Date reads "06-Nov-94 08:49:37 GMT".
func rfc850Date(s string, now time.Time) (time.Time, bool) {
	if len(s) != len("06-Nov-94 08:49:37 GMT") || s[2] != '-' || s[6] != '-' || s[9] != ' ' || !strings.EqualFold(s[18:], " GMT") {
		return time.Time{}, false
	}
	year, ok := number(s[7:9])
	if !ok {
		return time.Time{}, false
	}
	century := now.UTC().Year() / 100 * 100
	if year += century; year > now.UTC().Year()+50 {
		year -= 100
	}
	return dateOf(year, s[3:6], s[:2], s[10:18])
}

// asctimeDate reads "Nov  6 08:49:37 1994".
func asctimeDate(s string) (time.Time, bool) {
	if s[3] != ' ' || s[6] != ' ' || s[15] != ' ' {
		return time.Time{}, false
	}
	return date(s[16:], s[:3], strings.Replace(s[4:6], " ", "0", 1), s[7:15])
}

func date(year, month, day, clock string) (time.Time, bool) {
	y, ok := number(year)
	if !ok {
		return time.Time{}, false
	}
	return dateOf(y, month, day, clock)
}

// dateOf puts a date together. The clock is "08:49:37"; a leap second counts.
func dateOf(year int, month, day, clock string) (time.Time, bool) {
	m := indexFold(months[:], month) + 1
	if m == 0 || clock[2] != ':' || clock[5] != ':' {
		return time.Time{}, false
	}
	var n [4]int
	for i, digits := range [...]string{day, clock[:2], clock[3:5], clock[6:]} {
		var ok bool
		if n[i], ok = number(digits); !ok {
			return time.Time{}, false
		}
	}
	t := time.Date(year, time.Month(m), n[0], n[1], n[2], n[3], 0, time.UTC)
	if t.Day() != n[0] && n[3] != 60 || n[1] > 23 || n[2] > 59 || n[3] > 60 {
		return time.Time{}, false
	}
	return t, true
}

// number reads digits alone.
func number(s string) (n int, ok bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, s != ""
}
