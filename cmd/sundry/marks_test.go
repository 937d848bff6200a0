package main

import (
	"fmt"
	"net/http"
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

// TestMarksOutliveARestart with a data directory. Of a damaged file the log
// says so.
func TestMarksOutliveARestart(t *testing.T) {
	t.Parallel()
	dir := catalogDir(t, newUpstream(t), "ttl: 1h")
	mark := func(args ...string) (string, string) {
		p := serveWith(t, marking(), append([]string{"--catalog", dir}, args...)...)
		defer p.end()
		return p.markOf("/api/own?id=1"), p.stderr.String()
	}
	data := t.TempDir()
	first, _ := mark("--data", data)
	second, _ := mark("--data", data)
	if first != second {
		t.Errorf("%s, after a restart %s", first, second)
	}
	one, _ := mark()
	if other, _ := mark(); other == one {
		t.Errorf("%s twice, although nothing is kept", one)
	}
	write(t, data, "marks", "torn")
	if third, log := mark("--data", data); third == first || !strings.Contains(log, "expected a secret of 64 hexadecimal digits; remove the file") {
		t.Errorf("%s\n%s", third, log)
	}
	if kept, err := os.ReadFile(filepath.Join(data, "marks")); err != nil || string(kept) != "torn" {
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

// TestWhatOperatorsChangeOutlivesRedis: settings, the record of the status and the secret of marks come back from their files after Redis
// has lost them while no instance ran. A Redis with older settings gets the newer ones.
func TestWhatOperatorsChangeOutlivesRedis(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	up := newEditions(t)
	dir, data := t.TempDir(), t.TempDir()
	writeEndpoint(t, dir, "own", up.URL, "ttl: 1h")
	start := func() *instance {
		return serveWith(t, marking(), "--catalog", dir, "--redis", patient(redis.URL()), "--data", data)
	}
	change := func(p *instance, ttl string) {
		p.mustAsk(http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"`+ttl+`"}}`)
	}
	one := start()
	change(one, "90s")
	one.mustAsk(http.MethodPost, "upstreams/"+strings.TrimPrefix(up.URL, "http://"), `{"do":"closed"}`)
	mark := one.markOf("/api/own?id=1")
	one.end()
	redis.Restart()
	two := start()
	if got := two.markOf("/api/own?id=1"); got != mark {
		t.Errorf("the mark is %s, before the restart %s", got, mark)
	}
	if n := two.maxAge("/api/own?id=2"); n > 90 {
		t.Errorf("max-age=%d", n)
	}
	if audit := fmt.Sprint(two.mustAsk(http.MethodGet, "audit", "")); !strings.Contains(audit, "closed") {
		t.Errorf("the hold is lost: %s", audit)
	}
	if length := redis.Must("STRLEN sundry:status"); length == ":0\r\n" {
		t.Error("the record of the status is lost")
	}
	redis.Must("COPY sundry:settings backup")
	change(two, "30s")
	two.end()
	redis.Must("COPY backup sundry:settings REPLACE")
	if n := start().maxAge("/api/own?id=3"); n > 30 {
		t.Errorf("after an older backup: max-age=%d", n)
	}
}

// TestPersistence: the console says that changes last only where they are in a file, or Redis writes to its disk.
func TestPersistence(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	lasting := func(args ...string) any {
		p := serveWith(t, onlyIn(t, "sfz"), args...)
		defer p.end()
		return p.mustAsk(http.MethodGet, "overview", "")["lasting"]
	}
	data := t.TempDir()
	for want, args := range map[bool][][]string{false: {{}, {"--redis", redis.URL()}}, true: {{"--data", data}, {"--redis", redis.URL(), "--data", data}}} {
		for _, a := range args {
			if got := lasting(a...); got != want {
				t.Errorf("%v: %v", a, got)
			}
		}
	}
	redis.Must("CONFIG SET appendonly yes")
	if got := lasting("--redis", redis.URL()); got != true {
		t.Errorf("with AOF: %v", got)
	}
}
