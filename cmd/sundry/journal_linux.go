package main

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// isStream reports whether a writer is the stream that JOURNAL_STREAM names by device and inode: a file that stderr was led to
// needs no priorities. What is no file, as in tests, is taken for it.
func isStream(out io.Writer, stream string) bool {
	f, ok := out.(*os.File)
	if !ok {
		return true
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	return ok && fmt.Sprintf("%d:%d", of.Dev, of.Ino) == stream
}
