package sharelink

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Bounds of the object that a page's script assigns.
const (
	maxState = 4 << 20 // bytes
	maxDepth = 200     // of arrays and objects within each other
)

var (
	// ErrNoState means that a page assigns no object to the name: its content is
	// loaded later, or it is not the requested page.
	ErrNoState = errors.New("page does not hold its state")
	// ErrBadState means that the assigned object cannot be parsed: it is cut off,
	// not JSON, above 4 MiB, or nested deeper than 200.
	ErrBadState = errors.New("state of the page cannot be parsed")
)

// InitState is the JSON object that a script within the page assigns to the
// marker, such as window.__INITIAL_STATE__, or that a script element contains, for a
// marker of "#" and its id, such as #__NEXT_DATA__. The first assignment or element
// with an object counts. It begins after the assignment or the tag and ends with its
// last brace, whatever its strings contain. The values undefined, which are not JSON, become null. The
// result is valid JSON; the error is, or wraps, ErrNoState or ErrBadState.
func InitState(html []byte, marker string) ([]byte, error) {
	text := assigned(html, marker)
	if id, ok := strings.CutPrefix(marker, "#"); ok {
		text = contained(html, id)
	}
	if text == nil {
		return nil, fmt.Errorf("find %s: %w", marker, ErrNoState)
	}
	state, err := object(text[:min(len(text), maxState)])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", marker, err)
	}
	if !json.Valid(state) {
		return nil, fmt.Errorf("read %s: %w: not JSON", marker, ErrBadState)
	}
	return state, nil
}

// assigned is the page from the opening brace of the first object assigned to the
// marker, or nil.
func assigned(html []byte, marker string) []byte {
	const space = " \t\r\n"
	for marker != "" {
		_, after, found := bytes.Cut(html, []byte(marker))
		if !found {
			break
		}
		value, ok := bytes.CutPrefix(bytes.TrimLeft(after, space), []byte("="))
		if value = bytes.TrimLeft(value, space); ok && len(value) > 0 && value[0] == '{' {
			return value
		}
		html = after
	}
	return nil
}

// scriptTag matches the opening tags of a page's scripts.
var scriptTag = regexp.MustCompile(`(?i)<script\s[^>]*>`)

// contained is the page from the opening brace of the script element with an id, or
// nil.
func contained(html []byte, id string) []byte {
	quoted := regexp.MustCompile(`(?i)\sid\s*=\s*["']?` + regexp.QuoteMeta(id) + `["'\s>]`)
	for id != "" {
		at := scriptTag.FindIndex(html)
		if at == nil {
			break
		}
		tag := html[at[0]:at[1]]
		html = html[at[1]:]
		if value := bytes.TrimLeft(html, " \t\r\n"); quoted.Match(tag) && len(value) > 0 && value[0] == '{' {
			return value
		}
	}
	return nil
}

// object copies the object at the beginning of a text, up to its last brace, with
// null in place of undefined outside of strings.
func object(text []byte) ([]byte, error) {
	out := make([]byte, 0, min(len(text), 64<<10))
	depth := 0
	for at := 0; at < len(text); {
		n := token(text[at:])
		t := text[at : at+n]
		at += n
		switch t[0] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if string(t) == "undefined" {
			t = []byte("null")
		}
		out = append(out, t...)
		switch {
		case depth > maxDepth:
			return nil, fmt.Errorf("%w: nested too deeply", ErrBadState)
		case depth == 0:
			return out, nil
		}
	}
	return nil, fmt.Errorf("%w: its end is missing", ErrBadState)
}

// token is the length of the first token of a text, which must not be empty: a
// string, a word or number, or one byte.
func token(text []byte) int {
	if text[0] == '"' {
		return quoted(text)
	}
	n := 0
	for n < len(text) && inWord(text[n]) {
		n++
	}
	return max(n, 1)
}

// quoted is the length of a string with its quotes, or of the whole text if it is
// not terminated.
func quoted(text []byte) int {
	for at := 1; at < len(text); at++ {
		switch text[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return len(text)
}

func inWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_' || b == '$' || b == '.' || b == '+' || b == '-'
}
