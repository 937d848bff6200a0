package logwriter

import (
	"log/slog"
	"strings"
	"testing"
)

// TestLinesOfTheJournalHavePriorities, in each format, with what the logger adds to them.
func TestLinesOfTheJournalHavePriorities(t *testing.T) {
	for format, message := range map[string]string{"text": "msg=", "json": `"msg":"`} {
		var out strings.Builder
		log, lines := NewForJournal(&out, format, slog.LevelDebug)
		log = log.With("a", 1).WithGroup("g")
		log.Debug("debug")
		log.Info("info")
		log.Warn("warn")
		log.Error("error\nof two lines", "b", 2)
		lines.End()
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(got) != 4 {
			t.Fatalf("%s: %q", format, got)
		}
		for i, want := range []string{"<7>", "<6>", "<4>", "<3>"} {
			if !strings.HasPrefix(got[i], want) || !strings.Contains(got[i], message) || strings.Count(got[i], "<") != 1 {
				t.Errorf("%s: %q, want %s", format, got[i], want)
			}
		}
	}
}

// TestTheJournalShowsTheLevelsThatAreLogged alone.
func TestTheJournalShowsTheLevelsThatAreLogged(t *testing.T) {
	var out strings.Builder
	log, lines := NewForJournal(&out, "text", slog.LevelWarn)
	log.Info("info")
	log.Warn("warn")
	lines.End()
	if got := out.String(); !strings.HasPrefix(got, "<4>") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
}
