package main

import (
	"cmp"
	"path/filepath"
	"strings"
)

// called is the program as it is to be typed in a command line.
func (w *process) called() string { return calledAs(w.program) }

// calledAs is the program in a command line that is printed, where path is how it was
// called; "" for sundry. What go run has built is gone afterwards.
func calledAs(path string) string {
	switch {
	case strings.Contains(filepath.ToSlash(path), "/go-build"):
		return "go run ./cmd/sundry"
	case strings.ContainsAny(path, " \t\"'$"):
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return cmp.Or(path, "sundry")
}

// typed is a command line of the documentation, such as sundry help, with the program
// as it was called.
func typed(program, line string) string {
	if rest, ok := strings.CutPrefix(line, "sundry "); ok {
		return program + " " + rest
	}
	return strings.ReplaceAll(line, "(sundry ", "("+program+" ")
}
