package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTheJournalGetsPriorities where it reads stderr, and no file that this is led to.
func TestTheJournalGetsPriorities(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	stream := map[string]string{"JOURNAL_STREAM": "9:1"}
	w := processOf(t, stream)
	w.stderr = &out
	_, _ = io.WriteString(w.errorsOut(), "sundry: one\n  two\n")
	if got := out.String(); got != "<3>sundry: one\n<3>  two\n" {
		t.Errorf("%q", got)
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w.stderr = file
	if w.inJournal() {
		t.Error("a file is taken for the journal")
	}
	var of syscall.Stat_t
	if err := syscall.Fstat(int(file.Fd()), &of); err != nil {
		t.Fatal(err)
	}
	if stream["JOURNAL_STREAM"] = fmt.Sprintf("%d:%d", of.Dev, of.Ino); !w.inJournal() {
		t.Error("the stream is not recognised")
	}
	if delete(stream, "JOURNAL_STREAM"); w.inJournal() {
		t.Error("without a journal")
	}
}
