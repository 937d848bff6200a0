package main

import (
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"strings"

	"sundry/upstreams/lib/redact"
)

// screen is what a command prints to. It shows no secret, and of control characters only those that the program itself has sealed.
type screen struct {
	out    io.Writer
	hidden *redact.Set
}

// Write implements io.Writer. A secret must not be divided among several calls.
func (s *screen) Write(p []byte) (int, error) {
	if _, err := escapes.WriteString(s.out, s.hidden.Text(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// seal stands for the character ESC in what this program prints. Nobody else knows it.
var seal = rand.Text()

// clearLine goes back to the beginning of the line of a terminal, and clears it.
var clearLine = seal + "[K"

// escapes puts the characters in the place of their seals.
var escapes = strings.NewReplacer(clearLine, "\r\x1b[K", seal, "\x1b")

// onScreens returns a process that prints to screens.
func (w *process) onScreens() *process {
	if _, is := w.stdout.(*screen); is {
		return w
	}
	own := *w
	own.hidden = &redact.Set{}
	own.stdout, own.stderr = &screen{w.stdout, own.hidden}, &screen{w.stderr, own.hidden}
	return &own
}

// unscreened returns the file behind a screen.
func unscreened(out io.Writer) io.Writer {
	if s, is := out.(*screen); is {
		return s.out
	}
	return out
}

// libraryLog takes the lines that net/http writes to a log of its own. What they quote of a peer is left out.
type libraryLog struct{ log *slog.Logger }

// Write implements io.Writer.
func (l libraryLog) Write(line []byte) (int, error) {
	message := redact.WithoutQuotes(errors.New(strings.TrimSpace(string(line))))
	l.log.Debug("net/http", "message", message)
	return len(line), nil
}
