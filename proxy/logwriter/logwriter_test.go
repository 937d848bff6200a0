package logwriter

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// request is the message of the lines that may wait.
const request = "request"

// writes records the calls of its Write, each with what it wrote.
type writes struct {
	mu    sync.Mutex
	calls []string
	// takes is how much of each it writes before it fails; negative: everything.
	takes int
	hold  chan struct{} // it blocks until this is closed; nil: not
}

var errDisk = errors.New("no space left")

func newWrites() *writes { return &writes{takes: -1} }

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	hold := w.hold
	w.mu.Unlock()
	if hold != nil {
		<-hold
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.takes >= 0 {
		n := min(w.takes, len(p))
		w.calls = append(w.calls, string(p[:n]))
		return n, errDisk
	}
	w.calls = append(w.calls, string(p))
	return len(p), nil
}

func (w *writes) set(takes int, hold chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.takes, w.hold = takes, hold
}

func (w *writes) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// want compares what was written, one call after another.
func (w *writes) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := w.all(); !slices.Equal(got, want) {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func lost(n uint64) []byte { return fmt.Appendf(nil, "lost %d\n", n) }

func add(w *Writer, lines ...string) {
	for _, line := range lines {
		_, _ = w.Write([]byte(line + "\n"))
	}
}

// A line by itself is written at once; those of a burst are written together.
func TestLinesOfABurstAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newWrites()
		w := newWriter(got, lost)
		defer w.End()
		add(w, "a")
		got.want(t, "a\n")
		add(w, "b", "c")
		got.want(t, "a\n")
		time.Sleep(burstSpan)
		got.want(t, "a\n", "b\nc\n")
		add(w, "d")
		time.Sleep(burstSpan)
		got.want(t, "a\n", "b\nc\n", "d\n")
		time.Sleep(time.Hour)
		add(w, "e")
		got.want(t, "a\n", "b\nc\n", "d\n", "e\n")
		add(w, "f")
		w.End()
		if calls := got.all(); len(calls) != 5 {
			t.Errorf("wrote %q by the end", calls)
		}
		add(w, "g")
		if calls := got.all(); len(calls) != 6 {
			t.Errorf("wrote %q by the end", calls)
		}
		got.want(t, "a\n", "b\nc\n", "d\n", "e\n", "f\n", "g\n")
	})
}

func TestLongBurstIsWrittenInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newWrites()
		w := newWriter(got, lost)
		defer w.End()
		line := strings.Repeat("x", burstBytes/2-1)
		add(w, line)
		synctest.Wait()
		for range 4 {
			add(w, line)
		}
		synctest.Wait()
		if calls := got.all(); len(calls) != 3 || len(calls[1]) != burstBytes || len(calls[2]) != burstBytes {
			t.Errorf("%d writes", len(calls))
		}
	})
}

// What was in a hurry is written; what came behind it waits for others again.
func TestALineBehindAFullBlockWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newWrites()
		w := newWriter(got, lost)
		defer w.End()
		hold := make(chan struct{})
		got.set(-1, hold)
		line := strings.Repeat("x", burstBytes/2-1)
		add(w, "a")
		synctest.Wait()
		add(w, line, line, "b")
		close(hold)
		synctest.Wait()
		if calls := got.all(); len(calls) != 2 || len(calls[1]) != burstBytes {
			t.Errorf("%d writes", len(calls))
		}
		time.Sleep(burstSpan)
		synctest.Wait()
		if calls := got.all(); len(calls) != 3 || calls[2] != "b\n" {
			t.Errorf("%d writes", len(calls))
		}
	})
}

// Lines that are not of requests do not wait, and take with them what came before.
func TestOnlyLinesOfRequestsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newWrites()
		log, lines := New(got, "text", slog.LevelInfo, request)
		log.Info("reloaded")
		log.With("k", "v").WithGroup("g").Info(request)
		if calls := got.all(); len(calls) != 1 {
			t.Errorf("wrote %q", calls)
		}
		log.With("k", "v").Info("reloaded")
		if calls := got.all(); len(calls) != 2 || !strings.Contains(calls[1], "msg=request") || !strings.Contains(calls[1], "msg=reloaded") {
			t.Errorf("wrote %q", calls)
		}
		log.Warn(request)
		lines.End()
		if calls := got.all(); len(calls) != 3 {
			t.Errorf("wrote %q", calls)
		}
	})
}

// TestLinesThatCannotBeWrittenAreLost: those that there is no room for, whatever their
// level; nobody waits for long, and one line tells of them in their place.
func TestLinesThatCannotBeWrittenAreLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newWrites()
		log, lines := New(got, "text", slog.LevelInfo, request)
		defer lines.End()
		hold := make(chan struct{})
		got.set(-1, hold)
		const count = 3 * maxWaiting / 1000
		begin := time.Now()
		for i := range count {
			log.Info(request, "n", i, "text", strings.Repeat("x", 1000))
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("requests waited for %v", took)
		}
		for range 100 {
			log.Warn("another")
		}
		if took := time.Since(begin); took > promptTime {
			t.Errorf("other lines waited for %v", took)
		}
		missing := int(testutil.ToFloat64(lines.counter))
		if lines.bytes > maxWaiting || missing < count/2 {
			t.Errorf("%d bytes wait, %d of %d lines are lost", lines.bytes, missing, count+100)
		}
		got.set(-1, nil)
		close(hold)
		time.Sleep(time.Minute)
		log.Info(request, "n", "last")
		synctest.Wait()
		all := strings.Split(strings.TrimSuffix(strings.Join(got.all(), ""), "\n"), "\n")
		kept := all[:len(all)-2]
		for i, line := range kept {
			if !strings.Contains(line, fmt.Sprintf(" n=%d ", i)) {
				t.Fatalf("%q in the place of line %d", line, i)
			}
		}
		if told := all[len(kept)]; len(kept) != count+100-missing || !strings.Contains(told, fmt.Sprintf("level=WARN msg=\"lines of the log were lost, because it could not be written\" lines=%d", missing)) {
			t.Errorf("%d lines of %d, %d are missing, and then %q", len(kept), count+100, missing, told)
		}
		if lines.bytes != 0 || lines.working != nil && len(lines.waiting) > 0 {
			t.Errorf("%d bytes still wait", lines.bytes)
		}
	})
}

// TestAFullDiskLosesLines: what is torn is ended, and the line about what is missing comes
// first once there is room.
func TestAFullDiskLosesLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := newWrites()
		w := newWriter(got, lost)
		defer w.End()
		got.set(3, nil)
		add(w, "first")
		got.want(t, "fir")
		add(w, "second", "third")
		got.set(0, nil)
		time.Sleep(10 * failedPause)
		if calls := len(got.all()); calls < 8 || calls > 12 {
			t.Errorf("tried %d times within %v", calls, 10*failedPause)
		}
		before := len(got.all())
		got.set(-1, nil)
		time.Sleep(2 * failedPause)
		add(w, "fourth")
		time.Sleep(burstSpan)
		synctest.Wait()
		if after := got.all()[before:]; !slices.Equal(after, []string{"\nlost 3\n", "fourth\n"}) || testutil.ToFloat64(w.counter) != 3 {
			t.Errorf("wrote %q, counted %v", after, testutil.ToFloat64(w.counter))
		}
	})
}

// TestTheEndOfTheLogIsBounded: where it cannot be written, and where it fails.
func TestTheEndOfTheLogIsBounded(t *testing.T) {
	for name, row := range map[string]struct {
		takes  int
		stuck  bool
		within time.Duration
	}{
		"stuck":   {-1, true, flushTime},
		"failing": {0, false, 0},
		"slow":    {-1, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := newWrites()
				w := newWriter(got, lost)
				var hold chan struct{}
				if row.stuck {
					hold = make(chan struct{})
					defer close(hold)
				}
				got.set(row.takes, hold)
				for range 1000 {
					add(w, strings.Repeat("x", 1000))
				}
				begin := time.Now()
				w.End()
				if took := time.Since(begin); took != row.within {
					t.Errorf("the end took %v", took)
				}
				if row.takes < 0 && !row.stuck && len(strings.Join(got.all(), "")) != 1000*1001 {
					t.Error("lines are missing")
				}
			})
		})
	}
}
