package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/dunglas/httpsfv"
)

// Directives are those of Cache-Control, or of a field that replaces it for some caches. Unknown ones are left out, and of
// several with one name the first one counts (RFC 9111, sections 4.2.1 and 5.2.3).
type Directives struct {
	NoStore, Public, MustRevalidate, ProxyRevalidate, MustUnderstand, OnlyIfCached, Immutable bool
	// NoCache and Private are for the whole response. Where they name fields, those are in NoCacheFields and
	// PrivateFields instead, in lower case.
	NoCache, Private             bool
	NoCacheFields, PrivateFields []string

	MaxAge, SMaxAge, StaleWhileRevalidate, StaleIfError, MinFresh, MaxStale Argument
}

// Argument is a number of seconds that a directive may have.
type Argument struct {
	Given bool          // the directive is there
	Valid bool          // and it is a number
	For   time.Duration // 0 unless it is valid
}

// anyTime is the argument of a max-stale that has none.
const anyTime = maxSeconds * time.Second

// ParseDirectives reads the lines of a Cache-Control field.
func ParseDirectives(lines []string) Directives {
	var d Directives
	seen := make([]string, 0, 8) // known ones
	for m := range members(lines) {
		name, value, hasValue := strings.Cut(m, "=")
		if name = strings.ToLower(name); !slices.Contains(seen, name) && d.set(name, unquote(value), hasValue) {
			seen = append(seen, name)
		}
	}
	return d
}

// set notes a directive; false: it is unknown. Of those that take a number, one that is none is noted as invalid.
func (d *Directives) set(name, value string, hasValue bool) (known bool) {
	if flag := d.flag(name); flag != nil {
		*flag = true
		return true
	}
	if argument := d.argument(name); argument != nil {
		argument.Given = true
		argument.For, argument.Valid = seconds(value)
		if name == "max-stale" && !hasValue {
			argument.For, argument.Valid = anyTime, true
		}
		return true
	}
	var whole *bool
	var fields *[]string
	switch name {
	case "no-cache":
		whole, fields = &d.NoCache, &d.NoCacheFields
	case "private":
		whole, fields = &d.Private, &d.PrivateFields
	default:
		return false
	}
	for f := range members([]string{value}) {
		*fields = append(*fields, strings.ToLower(f))
	}
	*whole = len(*fields) == 0
	return true
}

func (d *Directives) flag(name string) *bool {
	switch name {
	case "no-store":
		return &d.NoStore
	case "public":
		return &d.Public
	case "must-revalidate":
		return &d.MustRevalidate
	case "proxy-revalidate":
		return &d.ProxyRevalidate
	case "must-understand":
		return &d.MustUnderstand
	case "only-if-cached":
		return &d.OnlyIfCached
	case "immutable":
		return &d.Immutable
	}
	return nil
}

func (d *Directives) argument(name string) *Argument {
	switch name {
	case "max-age":
		return &d.MaxAge
	case "s-maxage":
		return &d.SMaxAge
	case "stale-while-revalidate":
		return &d.StaleWhileRevalidate
	case "stale-if-error":
		return &d.StaleIfError
	case "min-fresh":
		return &d.MinFresh
	case "max-stale":
		return &d.MaxStale
	}
	return nil
}

// RequestDirectives are those of a request. Pragma: no-cache counts where there is no Cache-Control (RFC 9111, section 5.4).
func RequestDirectives(h http.Header) Directives {
	lines, ok := h["Cache-Control"]
	if ok {
		return ParseDirectives(lines)
	}
	var d Directives
	for m := range members(h["Pragma"]) {
		d.NoCache = d.NoCache || strings.EqualFold(m, "no-cache")
	}
	return d
}

// responseDirectives are those of a response for a cache that looks for these fields first: the first of them that is
// there and valid stands in the place of Cache-Control and Expires, whole (RFC 9213, section 2.2). targeted reports
// whether one was.
func responseDirectives(h http.Header, targets []string) (d Directives, targeted bool) {
	for _, name := range targets {
		if lines, ok := h[name]; ok {
			if d, ok := structured(lines); ok {
				return d, true
			}
		}
	}
	return ParseDirectives(h["Cache-Control"]), false
}

// maxTargeted limits the length of a targeted field, in bytes. What a longer one says is not known, and nothing is stored.
const maxTargeted = 8 << 10

// structured reads a targeted field, which is a dictionary of RFC 8941. false: it is not one, or a value is of another type
// than its directive has, or it is empty, so that it counts as if it were not there (RFC 9213, section 2.1).
func structured(lines []string) (d Directives, ok bool) {
	length := 0
	for _, line := range lines {
		length += len(line)
	}
	if length > maxTargeted {
		return Directives{NoStore: true}, true
	}
	dict, err := httpsfv.UnmarshalDictionary(lines)
	if err != nil || len(dict.Names()) == 0 {
		return d, false
	}
	for _, name := range dict.Names() {
		member, _ := dict.Get(name)
		item, isItem := member.(httpsfv.Item)
		if !isItem || !d.setStructured(name, item.Value) {
			return Directives{}, false
		}
	}
	return d, true
}

// setStructured notes a directive of a targeted field; false: its value is of another type.
func (d *Directives) setStructured(name string, value any) (ok bool) {
	if flag := d.flag(name); flag != nil {
		*flag, ok = value.(bool)
		return ok
	}
	if argument := d.argument(name); argument != nil {
		n, ok := value.(int64)
		if !ok || n < 0 {
			return false
		}
		*argument = Argument{Given: true, Valid: true, For: time.Duration(min(n, maxSeconds)) * time.Second}
		return true
	}
	switch v := value.(type) {
	case bool:
		if v {
			d.set(name, "", false)
		}
	case string:
		d.set(name, v, true)
	}
	return true
}
