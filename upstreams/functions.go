package upstreams

import (
	"crypto/md5" //nolint:gosec // what those services ask for
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/itchyny/gojq"
)

// functions are what programs may call beside jq's own. Each is a small
// function of Go's, because jq cannot say it: signing, decoding, recognising.
// One that gets something of the wrong type says so.
func functions() []gojq.CompilerOption {
	table := map[string]func(v any) any{
		"https":     upgrade,
		"html_text": plainText,
		"md5":       ofText("md5", md5Hex),
	}
	options := make([]gojq.CompilerOption, 0, len(table))
	for name, f := range table {
		options = append(options, gojq.WithFunction(name, 0, 0, func(v any, _ []any) any { return f(v) }))
	}
	return options
}

// ofText makes a function of texts one of any value.
func ofText(name string, f func(string) any) func(any) any {
	return func(v any) any {
		s, ok := v.(string)
		if !ok {
			return fmt.Errorf("%s: want a text, got %s", name, gojq.TypeOf(v))
		}
		return f(s)
	}
}

// md5Hex is what some services sign requests with.
func md5Hex(s string) any {
	sum := md5.Sum([]byte(s)) //nolint:gosec // it protects nothing of ours
	return hex.EncodeToString(sum[:])
}

// upgrade makes http and protocol-relative links https.
func upgrade(v any) any {
	s, ok := v.(string)
	if !ok {
		return v
	}
	if rest, cut := strings.CutPrefix(s, "http://"); cut {
		return "https://" + rest
	}
	if strings.HasPrefix(s, "//") {
		return "https:" + s
	}
	return s
}
