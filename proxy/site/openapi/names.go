package openapi

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"sundry/upstreams/lib/plainjson"
)

// operationID names the operation of an endpoint, as generated clients do their
// functions: getIp, get60s. No two endpoints have the same.
func operationID(endpoint string) string { return "get" + pascal(endpoint) }

// schemaName names a schema of an endpoint, as generated clients do their types: IpData.
// No type may begin with a digit, so 60s has Data60s.
func schemaName(endpoint, what string) string {
	name := pascal(endpoint)
	if unicode.IsLetter(rune(name[0])) {
		return name + what
	}
	return what + name
}

// pascal joins the words of an endpoint's name: daily-news is DailyNews. A hyphen that
// no letter follows becomes an underscore, so that different names stay different.
func pascal(endpoint string) string {
	var b strings.Builder
	up := true
	for i, c := range endpoint {
		switch {
		case c == '-':
			next := endpoint[i+1:]
			up = next != "" && next[0] >= 'a' && next[0] <= 'z'
			if !up {
				b.WriteByte('_')
			}
		case up:
			b.WriteRune(unicode.ToUpper(c))
			up = false
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// notInNames are the letters that names of examples do not have.
var notInNames = regexp.MustCompile("[^a-z0-9]+")

// exampleName names an example by its title in English, and by its number where another one has that name: "As text" is
// as_text, or as_text_2.
func exampleName(title string, others plainjson.Object) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(title), "_"), "_")
	if name != "" && !slices.ContainsFunc(others, func(m plainjson.Member) bool { return m.Name == name }) {
		return name
	}
	return cmp.Or(name, "call") + "_" + strconv.Itoa(len(others)+1)
}
