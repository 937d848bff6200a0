package minecraft

import (
	"fmt"
	"regexp"
	"strings"
)

// style is that of a text. The zero value is the game's own.
type style struct {
	color   string // its code, such as §6, or §x§1§2§3§4§5§6; "" for none
	formats [5]bool
}

// formatCodes are those of style.formats: obfuscated, bold, strikethrough, underlined,
// italic.
const formatCodes = "klmno"

// colorNames are those of the codes §0 to §f.
const colorNames = "black dark_blue dark_green dark_aqua dark_red dark_purple gold gray dark_gray blue green aqua red light_purple yellow white"

var hexColor = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// with returns the style of a component inside one of this style.
func (s style) with(c *component) style {
	if code, ok := colorCode(strings.ToLower(c.Color)); ok {
		s.color = code
	}
	for i, value := range [...]any{c.Obfuscated, c.Bold, c.Strikethrough, c.Underlined, c.Italic} {
		if on, ok := value.(bool); ok {
			s.formats[i] = on
		}
	}
	return s
}

// colorCode returns the code of a color; ok is false for what is none.
func colorCode(name string) (code string, ok bool) {
	if name == "reset" {
		return "", true
	}
	if hexColor.MatchString(name) {
		return "§x§" + strings.Join(strings.Split(name[1:], ""), "§"), true
	}
	for i, known := range strings.Fields(colorNames) {
		if name == known {
			return fmt.Sprintf("§%x", i), true
		}
	}
	return "", false
}

// continues reports whether the style is another one with more formats.
func (s style) continues(other style) bool {
	for i, on := range other.formats {
		if on && !s.formats[i] {
			return false
		}
	}
	return s.color == other.color
}

// codes are the codes of what the style has and another one does not.
func (s style) codes(other style) string {
	var b strings.Builder
	if s.color != other.color {
		b.WriteString(s.color)
	}
	for i, on := range s.formats {
		if on && !other.formats[i] {
			b.WriteString("§" + formatCodes[i:i+1])
		}
	}
	return b.String()
}
