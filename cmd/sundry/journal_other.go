//go:build !linux

package main

import "io"

// isStream reports whether a writer is the stream of a journal. Only Linux has one.
func isStream(io.Writer, string) bool { return false }
