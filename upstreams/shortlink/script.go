package shortlink

import (
	"regexp"
	"strconv"
	"strings"
)

const literal = `("(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*')`

var (
	// assignment does not take any object's location for the page's.
	assignment = regexp.MustCompile(`(?:^|[^\w$.])(?:(?:window|self|top|parent|document)\s*\.\s*){0,2}location\s*(?:(?:\.\s*href\s*)?=\s*|\.\s*(?:replace|assign)\s*\(\s*)` + literal)
	variable   = regexp.MustCompile(`\bvar\s+url\s*=\s*` + literal)
	escape     = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)`)
)

// assignments are the plain strings that scripts set the location to.
func assignments(scripts []string) []string { return literals(assignment, scripts) }

// variables are the plain strings that scripts call url.
func variables(scripts []string) []string { return literals(variable, scripts) }

// literals leaves out those that are only a part of what is computed, and
// places in the same page.
func literals(form *regexp.Regexp, scripts []string) []string {
	var out []string
	for _, s := range scripts {
		for _, at := range form.FindAllStringSubmatchIndex(s, -1) {
			text, rest := s[at[2]+1:at[3]-1], strings.TrimSpace(s[at[3]:])
			if rest != "" && strings.ContainsRune("+.[?", rune(rest[0])) || text == "" || text[0] == '#' {
				continue
			}
			out = append(out, unescape(text))
		}
	}
	return out
}

// unescape undoes what may stand in a URL in a script: \/ \u0026 \x3d and
// escaped quotes. A half of a surrogate pair becomes U+FFFD.
func unescape(text string) string {
	return escape.ReplaceAllStringFunc(text, func(e string) string {
		if len(e) > 2 {
			n, _ := strconv.ParseUint(e[2:], 16, 32) // the pattern holds digits only
			return string(rune(n))
		}
		return e[1:]
	})
}
