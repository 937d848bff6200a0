package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether somebody sees what is written.
func (w *process) isTerminal(out io.Writer) bool {
	out = unscreened(out)
	if w.terminal != nil {
		return w.terminal(out)
	}
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// columns is the width of the terminal.
func columns(out io.Writer) int {
	if file, ok := unscreened(out).(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// The colours, by their SGR parameters. All have two digits: cells of a column that
// are all painted stay aligned.
const (
	uncolored = "39"
	red       = "31"
	green     = "32"
	yellow    = "33"
	cyan      = "36"
)

// palette paints what is written to a terminal, and nothing elsewhere.
type palette bool

// paletteOf has colours if out is a terminal and neither NO_COLOR nor TERM=dumb is set.
func (w *process) paletteOf(out io.Writer) palette {
	if none, _ := w.getenv("NO_COLOR"); none != "" {
		return false
	}
	kind, _ := w.getenv("TERM")
	return palette(kind != "dumb" && w.isTerminal(out))
}

func (p palette) paint(color, text string) string {
	if !p {
		return text
	}
	return seal + "[" + color + "m" + text + seal + "[0m"
}
