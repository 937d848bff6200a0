package upstreams

import (
	"bytes"
	"errors"
	"fmt"
)

// scriptDecoder reads the object that a page's script assigns to the marker, as
// in window.__INITIAL_STATE__={...}. It is JSON but for the bare undefined that
// serialisers of JavaScript leave in it.
func scriptDecoder(marker string) func([]byte) (any, error) {
	return func(page []byte) (any, error) {
		at := bytes.Index(page, []byte(marker))
		if at < 0 {
			return nil, fmt.Errorf("page holds no %s", marker)
		}
		object, err := cutObject(page[at+len(marker):])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", marker, err)
		}
		return decodeJSON(object)
	}
}

var undefined = []byte("undefined")

// cutObject takes the first object of a script, with null for each undefined
// outside of its texts.
func cutObject(script []byte) ([]byte, error) {
	start := bytes.IndexByte(script, '{')
	if start < 0 {
		return nil, errors.New("no object is assigned")
	}
	script = script[start:]
	out := make([]byte, 0, min(len(script), 64<<10))
	depth := 0
	for i := 0; i < len(script); i++ {
		switch c := script[i]; {
		case c == '"':
			end := textEnd(script, i)
			if end < 0 {
				return nil, errors.New("a text does not end")
			}
			out = append(out, script[i:end]...)
			i = end - 1
			continue
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == 'u' && bytes.HasPrefix(script[i:], undefined):
			out = append(out, "null"...)
			i += len(undefined) - 1
			continue
		}
		out = append(out, script[i])
		if depth == 0 {
			return out, nil
		}
	}
	return nil, errors.New("the object does not end")
}

// textEnd is the place after the quote that ends the text which begins at
// start; -1 when none does.
func textEnd(script []byte, start int) int {
	for i := start + 1; i < len(script); i++ {
		switch script[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}
