package signing

import (
	"net/url"
	"regexp"
	"strconv"
	"time"
)

// decimal are the parameters that hold Unix seconds.
var decimal = [...]string{"x-expires", "Expires", "expires", "deadline"}

// either is the parameter that holds Unix seconds as a decimal or as a hexadecimal
// number, which are told apart by their length.
const either = "t"

// inPath matches a signature and a hexadecimal time at the beginning of a path.
var inPath = regexp.MustCompile(`^/[0-9a-f]{32}/([0-9a-f]{8})/`)

// Times outside are no times: other numbers are written in the same places.
var (
	earliest = time.Date(2001, 9, 9, 1, 46, 40, 0, time.UTC) // the first of ten digits
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// LinkExpiry returns when a link to a file ends, as the networks that deliver pictures and
// videos sign it; false if the link does not say.
func LinkExpiry(link string) (time.Time, bool) {
	u, err := url.Parse(link)
	if err != nil {
		return time.Time{}, false
	}
	query := u.Query()
	for _, name := range decimal {
		if at, ok := parse(query.Get(name), 10); ok {
			return at, true
		}
	}
	if v := query.Get(either); v != "" {
		if at, ok := parse(v, baseOf(v)); ok {
			return at, true
		}
	}
	if m := inPath.FindStringSubmatch(u.Path); m != nil {
		return parse(m[1], 16)
	}
	return time.Time{}, false
}

// baseOf is the base of a number in the parameter that has either.
func baseOf(v string) int {
	if len(v) == 8 {
		return 16
	}
	return 10
}

func parse(v string, base int) (time.Time, bool) {
	seconds, err := strconv.ParseInt(v, base, 64)
	at := time.Unix(seconds, 0)
	if err != nil || at.Before(earliest) || at.After(latest) {
		return time.Time{}, false
	}
	return at, true
}
