package waybill

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The years that an event may bear: others are a mistaken unit, or filler.
const (
	firstYear = 2000
	lastYear  = 2099
)

// china is where a time without a zone was written down. The country has kept
// one zone without daylight saving since 1991.
var china = time.FixedZone("CST", 8*60*60)

// layouts are tried in turn. Digits of months, days and hours may lack their
// leading zero, and a fraction of a second is read after each second.
var layouts = []string{
	"2006-1-2 15:04:05", "2006-1-2 15:04",
	"2006-1-2T15:04:05", "2006-1-2T15:04",
	"2006-1-2T15:04:05Z07:00", "2006-1-2T15:04Z07:00",
	"2006-1-2T15:04:05Z0700", "2006-1-2T15:04Z0700",
	"2006-1-2 15:04:05Z07:00", "2006-1-2 15:04Z07:00",
	"2006-1-2 15:04:05 Z07:00", "2006-1-2 15:04 Z07:00",
	"2006-1-2 15:04:05 Z0700", "2006-1-2 15:04 Z0700",
}

// ParseTime reads the time of an event: 2006-01-02 15:04:05, with T for the
// space, without seconds, with / for -, with a zone (Z, +08:00, +0800) or
// without one, which means Chinese time; or 10 digits of Unix seconds or 13 of
// milliseconds, given in Chinese time too. Years are 2000 to 2099. The error
// repeats at most 32 characters.
func ParseTime(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	t, ok := unix(s)
	if !ok {
		t, ok = written(s)
	}
	if !ok || t.Year() < firstYear || t.Year() > lastYear {
		return time.Time{}, fmt.Errorf("parse event time %.32q: expected 2006-01-02 15:04:05, perhaps with a zone, or Unix seconds or milliseconds, of the years %d to %d", s, firstYear, lastYear)
	}
	return t, nil
}

func unix(s string) (time.Time, bool) {
	if !digits(s, 10, 10) && !digits(s, 13, 13) {
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	if len(s) == 10 {
		return time.Unix(n, 0).In(china), true
	}
	return time.UnixMilli(n).In(china), true
}

func written(s string) (time.Time, bool) {
	s = strings.ReplaceAll(s, "/", "-")
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, s, china); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
