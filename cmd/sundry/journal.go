package main

import (
	"bytes"
	"io"
	"log/slog"

	"sundry/proxy/logwriter"
)

// inJournal reports whether the journal of systemd reads what this process writes to stderr.
func (w *process) inJournal() bool {
	stream, _ := w.getenv("JOURNAL_STREAM")
	return stream != "" && isStream(unscreened(w.stderr), stream)
}

// errorsOut returns where the error is printed with which a command ends.
func (w *process) errorsOut() io.Writer {
	if !w.inJournal() {
		return w.stderr
	}
	return prioritized{w.stderr}
}

// prioritized writes lines as errors for the journal.
type prioritized struct{ out io.Writer }

// Write implements io.Writer. It gets complete lines.
func (p prioritized) Write(lines []byte) (int, error) {
	for line := range bytes.Lines(lines) {
		if _, err := p.out.Write(append([]byte(logwriter.Priority(slog.LevelError)), line...)); err != nil {
			return 0, err
		}
	}
	return len(lines), nil
}
