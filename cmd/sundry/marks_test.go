package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// markOf is the mark of a key in the log of an instance, which is asked for it.
func (p *instance) markOf(target string) string {
	p.t.Helper()
	mustGet(p.t, p.public+target)
	var found []string
	line := regexp.MustCompile(`msg=request .* key=(\w+)`)
	waittest.Until(p.t, "the line of the request", func() bool {
		found = line.FindStringSubmatch(p.stderr.String())
		return found != nil
	})
	return found[1]
}

func marking() map[string]string {
	return map[string]string{"SUNDRY_LOG_KEYS": "true", "SUNDRY_LOG_HITS": "1"}
}

// TestMarksOutliveARestart where the state or a snapshot is kept. Of a damaged file the log
// says so.
func TestMarksOutliveARestart(t *testing.T) {
	t.Parallel()
	dir := catalogDir(t, newUpstream(t), "ttl: 1h")
	mark := func(args ...string) (string, string) {
		p := serveWith(t, marking(), append([]string{"--catalog", dir}, args...)...)
		defer p.end()
		return p.markOf("/api/own?id=1"), p.stderr.String()
	}
	state := filepath.Join(t.TempDir(), "state.json")
	first, _ := mark("--state", state)
	second, _ := mark("--state", state)
	if first != second {
		t.Errorf("%s, after a restart %s", first, second)
	}
	one, _ := mark()
	if other, _ := mark(); other == one {
		t.Errorf("%s twice, although nothing is kept", one)
	}
	write(t, filepath.Dir(state), "state.json.marks", "torn")
	if third, log := mark("--state", state); third == first || !strings.Contains(log, "expected a secret of 64 hexadecimal digits; remove the file") {
		t.Errorf("%s\n%s", third, log)
	}
	if kept, err := os.ReadFile(state + ".marks"); err != nil || string(kept) != "torn" {
		t.Errorf("%q %v", kept, err)
	}
}

// TestAFleetHasTheSameMarks: those of the first instance, also after all were restarted.
func TestAFleetHasTheSameMarks(t *testing.T) {
	t.Parallel()
	redis, dir := redistest.Start(t), catalogDir(t, newUpstream(t), "ttl: 1h")
	start := func() *instance { return serveWith(t, marking(), "--catalog", dir, "--redis", patient(redis.URL())) }
	one, two := start(), start()
	first := one.markOf("/api/own?id=1")
	if second := two.markOf("/api/own?id=1"); second != first {
		t.Errorf("%s and %s", first, second)
	}
	one.end()
	two.end()
	if later := start().markOf("/api/own?id=1"); later != first {
		t.Errorf("%s, later %s", first, later)
	}
}
