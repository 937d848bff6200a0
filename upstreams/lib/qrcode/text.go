package qrcode

import "strings"

// Text draws the symbol for a terminal, two rows of modules to a line, dark on
// light, with a margin of two modules.
func (c *Code) Text() string {
	const margin = 2
	dark := func(x, y int) bool {
		return x >= 0 && y >= 0 && x < c.Modules() && y < c.Modules() && c.code.Black(x, y)
	}
	var b strings.Builder
	for y := -margin; y < c.Modules()+margin; y += 2 {
		for x := -margin; x < c.Modules()+margin; x++ {
			switch upper, lower := dark(x, y), dark(x, y+1); {
			case upper && lower:
				b.WriteString(" ")
			case upper:
				b.WriteString("▄")
			case lower:
				b.WriteString("▀")
			default:
				b.WriteString("█")
			}
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
