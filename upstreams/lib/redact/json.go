package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// JSON returns a JSON document as it may be shown, which is a JSON document as well. Only what stands between quotation marks is
// changed, and no names of fields such as those of this program.
func (s *Set) JSON(document []byte) []byte {
	out := make([]byte, 0, len(document))
	for {
		start := bytes.IndexByte(document, '"')
		if start < 0 {
			return append(out, document...)
		}
		end := start + 1 + endOfString(document[start+1:])
		if end == len(document) { // a string without its end
			return append(append(out, document[:start+1]...), s.Text(string(document[start+1:]))...)
		}
		out = append(out, document[:start]...)
		text, rest := document[start:end+1], document[end+1:]
		if isName(rest) && isPlainName(text) {
			out = append(out, text...)
		} else {
			out = append(out, s.jsonText(text)...)
		}
		document = rest
	}
}

// jsonText returns a JSON string as it may be shown. It is searched as its readers decode it.
func (s *Set) jsonText(quoted []byte) string {
	text := string(quoted[1 : len(quoted)-1])
	if bytes.IndexByte(quoted, '\\') >= 0 && json.Unmarshal(quoted, &text) != nil {
		return s.Text(string(quoted)) // no JSON
	}
	clean := s.Redactor().Text(text)
	if clean == text {
		return Printable(string(quoted))
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(clean) != nil {
		return `"***"`
	}
	return Printable(strings.TrimSuffix(b.String(), "\n"))
}

// endOfString returns the length of a JSON string up to its closing quotation mark.
func endOfString(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(b)
}

// isName reports whether the string before this rest of a document is the name of a field.
func isName(rest []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":")) }

// longestPlainName is how many letters a name has at most that is not searched for secrets.
const longestPlainName = 20

// isPlainName reports whether a JSON string is a word in lower case, as the names of this program's own fields are. A
// secret may be the same word, and readers must find their fields.
func isPlainName(quoted []byte) bool {
	name := quoted[1 : len(quoted)-1]
	for _, c := range name {
		if (c < 'a' || c > 'z') && c != '_' {
			return false
		}
	}
	return len(name) <= longestPlainName
}
