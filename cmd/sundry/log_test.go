package main

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/proxy"
)

// writes records the calls of its Write, each with what it wrote.
type writes struct {
	mu    sync.Mutex
	calls []string
}

func (w *writes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, string(p))
	return len(p), nil
}

func (w *writes) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// want compares what was written, one call after another.
func (w *writes) want(t *testing.T, want ...string) {
	t.Helper()
	if got := w.all(); !slices.Equal(got, want) {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

// A line by itself is written at once; those of a burst are written together.
func TestLinesOfABurstAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got writes
		b := &burstWriter{out: &got}
		for _, line := range []string{"a", "b", "c"} {
			_, _ = b.Write([]byte(line))
		}
		got.want(t, "a")
		time.Sleep(burstSpan)
		synctest.Wait()
		got.want(t, "a", "bc")
		_, _ = b.Write([]byte("d"))
		time.Sleep(burstSpan)
		synctest.Wait()
		got.want(t, "a", "bc", "d")
		time.Sleep(time.Hour)
		_, _ = b.Write([]byte("e"))
		got.want(t, "a", "bc", "d", "e")
		_, _ = b.Write([]byte("f"))
		b.end()
		_, _ = b.Write([]byte("g"))
		got.want(t, "a", "bc", "d", "e", "f", "g")
	})
}

func TestLongBurstIsWrittenInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got writes
		b := &burstWriter{out: &got}
		line := []byte(strings.Repeat("x", burstBytes/2))
		for range 5 {
			_, _ = b.Write(line)
		}
		if calls := got.all(); len(calls) != 3 || len(calls[1]) != burstBytes || len(calls[2]) != burstBytes {
			t.Errorf("%d writes", len(calls))
		}
	})
}

// Lines that are not of requests do not wait, and take with them what came before.
func TestOnlyLinesOfRequestsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got writes
		log, _, end := newLogger(&config{}, &process{stderr: &got})
		log.Info("reloaded")
		log.With("k", "v").WithGroup("g").Info(proxy.RequestMessage)
		if calls := got.all(); len(calls) != 1 {
			t.Errorf("wrote %q", calls)
		}
		log.With("k", "v").Info("reloaded")
		if calls := got.all(); len(calls) != 2 || !strings.Contains(calls[1], "msg=request") || !strings.Contains(calls[1], "msg=reloaded") {
			t.Errorf("wrote %q", calls)
		}
		log.Warn(proxy.RequestMessage)
		end()
		if calls := got.all(); len(calls) != 3 {
			t.Errorf("wrote %q", calls)
		}
	})
}
