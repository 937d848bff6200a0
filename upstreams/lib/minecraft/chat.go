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

// component has the fields of a chat component that a plain text needs.
type component struct {
	Text      string            `json:"text"`
	Translate string            `json:"translate"`
	Fallback  string            `json:"fallback"`
	Color     string            `json:"color"`
	Bold      bool              `json:"bold"`
	Italic    bool              `json:"italic"`
	Extra     []json.RawMessage `json:"extra"`
}

// flatten turns a chat value (a text, a component, or a list of these) into
// one text with § codes. An absent value is empty, and a field of the wrong type
// counts as absent. The only error is malformed JSON.
func flatten(raw json.RawMessage) (string, error) {
	var b strings.Builder
	if len(raw) == 0 {
		return "", nil
	}
	err := flattenInto(&b, raw, 0)
	return b.String(), err
}

func flattenInto(b *strings.Builder, raw json.RawMessage, depth int) error {
	if depth > maxDepth || b.Len() > maxChat {
		return nil // deeper or longer text is dropped
	}
	switch raw[0] {
	case '"':
		var s string
		if err := decode(raw, &s); err != nil {
			return fmt.Errorf("chat text: %w", err)
		}
		b.WriteString(s)
		return nil
	case '[':
		var list []json.RawMessage
		if err := decode(raw, &list); err != nil {
			return fmt.Errorf("chat list: %w", err)
		}
		return flattenAll(b, list, depth)
	case '{':
		var c component
		if err := decode(raw, &c); err != nil {
			return fmt.Errorf("chat component: %w", err)
		}
		codes := c.codes()
		b.WriteString(codes)
		b.WriteString(c.ownText())
		err := flattenAll(b, c.Extra, depth)
		if codes != "" {
			b.WriteString("§r") // ends the style before the text that follows
		}
		return err
	}
	return nil // null and numbers have no text
}

func flattenAll(b *strings.Builder, list []json.RawMessage, depth int) error {
	for _, raw := range list {
		if err := flattenInto(b, raw, depth+1); err != nil {
			return err
		}
	}
	return nil
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

// codes are the component's formatting in § notation.
func (c *component) codes() string {
	const names = "black dark_blue dark_green dark_aqua dark_red dark_purple gold gray dark_gray blue green aqua red light_purple yellow white"
	var b strings.Builder
	for i, name := range strings.Fields(names) {
		if name == c.Color {
			fmt.Fprintf(&b, "§%x", i)
		}
	}
	if c.Bold {
		b.WriteString("§l")
	}
	if c.Italic {
		b.WriteString("§o")
	}
	return b.String()
}
