package minecraft

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Bounds of a chat component.
const (
	maxDepth = 16
	maxChat  = 8 << 10
)

// component has the fields of a chat component that a plain text needs. The values of its
// formats are true, false, or absent if of any other type.
type component struct {
	Text          string            `json:"text"`
	Translate     string            `json:"translate"`
	Fallback      string            `json:"fallback"`
	Color         string            `json:"color"`
	Bold          any               `json:"bold"`
	Italic        any               `json:"italic"`
	Underlined    any               `json:"underlined"`
	Strikethrough any               `json:"strikethrough"`
	Obfuscated    any               `json:"obfuscated"`
	Extra         []json.RawMessage `json:"extra"`
}

// flatten turns a chat value (a text, a component, or a list of these) into
// one text with § codes. An absent value is empty, and a field of the wrong type
// counts as absent. The only error is malformed JSON.
func flatten(raw json.RawMessage) (string, error) {
	var w chatWriter
	if len(raw) == 0 {
		return "", nil
	}
	_, err := w.write(raw, style{}, 0)
	if w.current != (style{}) {
		w.b.WriteString("§r")
	}
	return w.b.String(), err
}

// chatWriter writes texts with the codes of their styles.
type chatWriter struct {
	b       strings.Builder
	current style
	coded   bool // the text before has codes of its own, which end with it
}

// write writes a chat value inside a component of a style. It returns the style of the
// value, which is that of the list that it is the first of.
func (w *chatWriter) write(raw json.RawMessage, in style, depth int) (style, error) {
	if depth > maxDepth || w.b.Len() > maxChat {
		return in, nil // deeper or longer text is dropped
	}
	switch raw[0] {
	case '"':
		var s string
		if err := decode(raw, &s); err != nil {
			return in, fmt.Errorf("chat text: %w", err)
		}
		w.text(s, in)
	case '[':
		var list []json.RawMessage
		if err := decode(raw, &list); err != nil {
			return in, fmt.Errorf("chat list: %w", err)
		}
		if len(list) == 0 {
			return in, nil
		}
		first, err := w.write(list[0], in, depth+1)
		if err != nil {
			return in, err
		}
		return first, w.writeAll(list[1:], first, depth)
	case '{':
		var c component
		if err := decode(raw, &c); err != nil {
			return in, fmt.Errorf("chat component: %w", err)
		}
		in = in.with(&c)
		w.text(c.ownText(), in)
		return in, w.writeAll(c.Extra, in, depth)
	}
	return in, nil // null and numbers have no text
}

func (w *chatWriter) writeAll(list []json.RawMessage, in style, depth int) error {
	for _, raw := range list {
		if _, err := w.write(raw, in, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// text writes a text in a style. A reset inside the text leads back to that style.
func (w *chatWriter) text(text string, in style) {
	if text == "" {
		return
	}
	w.b.WriteString(w.change(in))
	w.current, w.coded = in, strings.Contains(text, "§")
	if in != (style{}) {
		text = strings.ReplaceAll(text, "§r", "§r"+in.codes(style{}))
	}
	w.b.WriteString(text)
}

// change returns the codes that lead from the current style to another one. The code of a
// color ends all formats.
func (w *chatWriter) change(to style) string {
	switch {
	case !w.coded && to == w.current:
		return ""
	case !w.coded && to.continues(w.current):
		return to.codes(w.current)
	case to.color != "":
		return to.codes(style{})
	case w.coded || w.current != (style{}):
		return "§r" + to.codes(style{})
	}
	return to.codes(style{})
}

// ownText is the component's text, or the fallback or key of a translation.
func (c *component) ownText() string {
	switch {
	case c.Translate == "":
		return c.Text
	case c.Fallback != "":
		return c.Fallback
	}
	return c.Translate
}
