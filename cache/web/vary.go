package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Selecting are the names of the request fields that select a response: those of its Vary, but for those that an operator
// ignores, in order and each once. What is compressed is selected by Accept-Encoding also where its origin does not say so.
func Selecting(response http.Header, ignored []string) []string {
	var names []string
	vary := response["Vary"]
	if response["Content-Encoding"] != nil {
		vary = append(slices.Clip(vary), "Accept-Encoding")
	}
	for m := range members(vary) {
		name := http.CanonicalHeaderKey(m)
		if !slices.Contains(ignored, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// SelectingKey says what a request has in the selecting fields, normalized as far as that changes no meaning (RFC 9111,
// section 4.1): two requests with one key select the same response. A field that is absent is another one than one that is empty.
func SelectingKey(request http.Header, names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(name)
		if lines, ok := request[name]; ok {
			b.WriteByte('=')
			b.WriteString(strconv.Quote(normalized(name, lines)))
		}
		b.WriteByte(';')
	}
	return b.String()
}

// normalized is a field on one line, without white space beside commas. Preferences are in their order, and in lower case as far
// as case means nothing. One with an empty member is kept as it is: what an origin makes of that cannot be told.
func normalized(name string, lines []string) string {
	whole := strings.Join(lines, ",")
	all := slices.Collect(members(lines))
	if whole != "" && len(all) < len(slices.Collect(splitOutsideQuotes(whole, ','))) {
		return whole
	}
	if strings.HasPrefix(name, "Accept") {
		return strings.Join(preferences(all), ",")
	}
	return strings.Join(all, ",")
}

// preference is a member of an Accept field: what, and how much it is liked, in thousandths.
type preference struct {
	what    string
	quality int
}

// preferences sorts the members of an Accept field, the most preferred first.
func preferences(all []string) []string {
	sorted := parsePreferences(all)
	out := make([]string, len(sorted))
	for i, p := range sorted {
		if out[i] = p.what; p.quality != 1000 {
			out[i] += ";q=" + strconv.Itoa(p.quality)
		}
	}
	return out
}

func parsePreferences(all []string) []preference {
	sorted := make([]preference, 0, len(all))
	for _, m := range all {
		p := preference{quality: unweighted}
		named := false
		for part := range splitOutsideQuotes(m, ';') {
			part = lowerName(strings.TrimSpace(part))
			q, isQuality := strings.CutPrefix(part, "q=")
			n, valid := quality(q)
			switch {
			case named && isQuality && valid && p.quality == unweighted:
				p.quality = n
			case named:
				p.what += ";" + part
			default:
				p.what, named = part, true
			}
		}
		if p.quality == unweighted {
			p.quality = 1000
		}
		sorted = append(sorted, p)
	}
	slices.SortStableFunc(sorted, func(a, b preference) int {
		return cmp.Or(b.quality-a.quality, strings.Compare(a.what, b.what))
	})
	return sorted
}

// lowerName is a preference, or a parameter of one, in lower case but for the value.
func lowerName(part string) string {
	name, value, isParameter := strings.Cut(part, "=")
	if name = strings.ToLower(name); isParameter {
		return name + "=" + value
	}
	return name
}

// unweighted is the quality of what has no weight yet.
const unweighted = -1

// quality is a weight in thousandths (RFC 9110, section 12.4.2); false: it is none, and an origin may take it for anything.
func quality(s string) (n int, ok bool) {
	whole, part, _ := strings.Cut(s, ".")
	if whole != "0" && whole != "1" || len(part) > 3 || strings.Trim(part, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(whole + part + "000"[len(part):])
	return n, err == nil && n <= 1000
}

// PreferredLanguage is the one language that a request prefers to all others; "" where there is none, or several.
func PreferredLanguage(request http.Header) string {
	all := parsePreferences(slices.Collect(members(request["Accept-Language"])))
	if len(all) == 0 || all[0].what == "*" || len(all) > 1 && all[1].quality == all[0].quality {
		return ""
	}
	return all[0].what
}

// InLanguage reports whether a response that is selected by Accept-Language is in the language that the request prefers
// to all others, so that an origin that negotiates would send this one, whatever else the request accepts; all other selecting
// fields are as they were.
func InLanguage(response, request, selected http.Header, names []string) bool {
	if !slices.Contains(names, "Accept-Language") || routedBeyond(request, names) {
		return false
	}
	others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "Accept-Language" })
	language := PreferredLanguage(request)
	return language != "" && strings.EqualFold(strings.TrimSpace(response.Get("Content-Language")), language) &&
		SelectingKey(request, others) == SelectingKey(selected, others)
}
