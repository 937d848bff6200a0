package webpage

import (
	"regexp"
	"strconv"
	"strings"
)

// maxDelay of a refresh, in seconds: a page with a longer one is to be read.
const maxDelay = 5

// refreshForm is lenient as browsers are: "0;URL=x", "0, url = 'x'", "0 x"
// (https://html.spec.whatwg.org/#shared-declarative-refresh-steps).
var refreshForm = regexp.MustCompile(`(?is)^\s*([0-9]*)(?:\.[0-9.]*)?(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?(.*)$`)

// Refresh returns the target of a Refresh header or meta element, if it has one and its
// delay is short.
func Refresh(content string) (string, bool) {
	m := refreshForm.FindStringSubmatch(content)
	if m == nil {
		return "", false
	}
	if seconds, err := strconv.Atoi(m[1]); m[1] != "" && (err != nil || seconds > maxDelay) {
		return "", false
	}
	ref := strings.TrimSpace(m[2])
	if ref != "" && (ref[0] == '"' || ref[0] == '\'') {
		ref, _, _ = strings.Cut(ref[1:], ref[:1])
	}
	return ref, ref != ""
}
