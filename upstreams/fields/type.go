package fields

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"sundry/upstreams/lib/chinatime"
)

// Type is what a value is; "" is anything.
type Type string

// The types.
const (
	// Time in RFC 3339 with its zone. A number is Unix seconds, and becomes a time in China.
	Time Type = "time"
	// Date as 2006-01-02.
	Date Type = "date"
	// Link is an absolute http or https URL, with no part that stands for nothing.
	Link    Type = "link"
	Text    Type = "text"
	Number  Type = "number"
	Integer Type = "integer"
	Boolean Type = "boolean"
)

// read returns the value as it is answered.
func (t Type) read(v any) (any, *Missing) {
	text, isText := v.(string)
	n, isNumber := number(v)
	ok := true
	switch t {
	case Time:
		if isNumber && n >= earliest && n <= latest {
			return time.Unix(int64(n), 0).In(chinatime.Zone()).Format(time.RFC3339), nil
		}
		_, err := time.Parse(time.RFC3339, text)
		ok = err == nil && zoned.MatchString(text)
	case Date:
		_, err := time.Parse(time.DateOnly, text)
		ok = err == nil
	case Link:
		ok = IsLink(text)
	case Text:
		ok = isText
	case Number:
		ok = isNumber
	case Integer:
		ok = isNumber && n == math.Trunc(n)
	case Boolean:
		_, ok = v.(bool)
	}
	if !ok {
		return nil, &Missing{Why: fmt.Sprintf("expected %s, got %s", t.example(), nameOf(v))}
	}
	return v, nil
}

// example says what is expected.
func (t Type) example() string {
	switch t {
	case Time:
		return "a time, such as 2026-11-21T08:00:00+08:00, or Unix seconds"
	case Date:
		return "a date, such as 2026-11-21"
	case Link:
		return "a link, such as https://www.example.org/"
	case Integer:
		return "a whole number"
	}
	return "a " + string(t)
}

var zoned = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// The years in which Unix seconds are believed: from the first day after 1970 to 2286.
const (
	earliest = 86400
	latest   = 9_999_999_999
)

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case json.Number: // of a reply, kept exact
		f, err := v.Float64()
		return f, err == nil
	case *big.Int:
		f, _ := v.Float64()
		return f, true
	}
	return 0, false
}

// IsLink reports whether a text is a link to something. Where a value was missing that it
// was made of, a part of it says null or undefined.
func IsLink(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" {
		return false
	}
	labels := strings.Split(u.Hostname(), ".")
	return !slices.ContainsFunc(labels, func(l string) bool { return l == "" }) && !unmade.MatchString(text)
}

// unmade matches a null or an undefined that is a part of its own.
var unmade = regexp.MustCompile(`[/=](null|undefined)([/&?#.]|$)`)

// isNone reports whether a value is none: null, blank, a null that became a text, or an
// object of nothing.
func isNone(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == "null" || strings.TrimSpace(v) == ""
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// nameOf says what a value is, shortly.
func nameOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if r := []rune(v); len(r) > 40 {
			return fmt.Sprintf("%q", string(r[:40])+"…")
		}
		return fmt.Sprintf("%q", v)
	case []any:
		return fmt.Sprintf("a list of %d", len(v))
	case map[string]any:
		return fmt.Sprintf("an object of %d", len(v))
	}
	return fmt.Sprint(v)
}
