package upstreams

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"sundry/upstreams/jq"
	"sundry/upstreams/lib/redact"
)

// Derive notes what v, which a program computed from secrets, holds as secret too: its
// texts of at least least bytes, and its numbers of at least redact.DerivedMin digits. A
// number that the program was given is not secret: a parameter's, a variable's, or the
// time.
func (a *Attempt) Derive(v any, least int) {
	numbers := map[string]any{} // by what requests have
	eachScalar(v, func(v any) {
		switch text, ok := v.(string); {
		case ok && len(text) >= least:
			a.derived = append(a.derived, text)
		case !ok && digits(jq.AsText(v)) >= redact.DerivedMin && !isTime(v, a.Env.Now):
			numbers[jq.AsText(v)] = v
		}
	})
	if len(numbers) == 0 {
		return
	}
	given := func(v any) { delete(numbers, jq.AsText(v)) }
	eachScalar(a.Env.Params, given)
	eachScalar(a.Env.Vars, given)
	for asText, n := range numbers {
		asJSON, _ := json.Marshal(n)
		a.deriveNumber(asText)
		a.deriveNumber(string(asJSON))
	}
}

// deriveNumber notes a number without its sign.
func (a *Attempt) deriveNumber(text string) {
	if text = strings.TrimPrefix(text, "-"); digits(text) >= redact.DerivedMin {
		a.derived = append(a.derived, text)
	}
}

func digits(s string) (n int) {
	for _, c := range s {
		if '0' <= c && c <= '9' {
			n++
		}
	}
	return n
}

// eachScalar calls visit with the texts and the numbers of a JSON value.
func eachScalar(v any, visit func(any)) {
	switch v := v.(type) {
	case nil, bool:
	case []any:
		for _, e := range v {
			eachScalar(e, visit)
		}
	case map[string]any:
		for _, e := range v {
			eachScalar(e, visit)
		}
	default:
		visit(v)
	}
}

// isTime reports whether a number is a time within a day of now, in seconds, or in
// thousandths, millionths or billionths of one.
func isTime(n any, now time.Time) bool {
	at, err := strconv.ParseFloat(jq.AsText(n), 64)
	for range 4 {
		if err == nil && math.Abs(at-float64(now.Unix())) <= (24*time.Hour).Seconds() {
			return true
		}
		at /= 1000
	}
	return false
}
