package proxy

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/cache/policy"
	"sundry/upstreams"
	"sundry/upstreams/lib/waittest"
)

func TestSampler(t *testing.T) {
	var s sampler
	at, picked := time.Unix(1000, 0), ""
	for i := range 20 {
		if s.pick(at.Add(time.Duration(i)*150*time.Millisecond), 8) {
			picked += fmt.Sprint(" ", i)
		}
	}
	if picked != " 0 7 14 15" { // of the seconds: 0, 7, 14; of each eight: 7, 15
		t.Errorf("picked%s", picked)
	}
}

// TestKeysAreMarkedInTheLog: only where the operator wants it, equal requests alike, not
// with parameters, not of endpoints with personal ones; and otherwise with another secret.
func TestKeysAreMarkedInTheLog(t *testing.T) {
	source := newFake(t, `{"v":"x"}`)
	marks := func(on bool, secret byte, targets ...string) (found []string) {
		f, logged := newLogged(t, source, on)
		f.server.MarkWith([MarkSecretBytes]byte{secret})
		for _, target := range targets {
			f.get(target).want(t, http.StatusOK)
		}
		for _, line := range logged.of(t, "msg=request", len(targets)) {
			found = append(found, fieldOf(line, "key"))
		}
		return found
	}
	targets := []string{"/api/simple?id=1", "/api/simple?x=&id=01", "/api/simple?id=2", "/api/private?id=1"}
	got := marks(true, 1, targets...)
	if len(got) != 4 || len(got[0]) != 2*keyMarkBytes || got[1] != got[0] || got[2] == got[0] || got[3] != "" {
		t.Errorf("marks %q", got)
	}
	if again, other := marks(true, 1, targets...), marks(true, 2, targets...); again[0] != got[0] || other[0] == got[0] {
		t.Errorf("%s, with the same secret %s, with another %s", got[0], again[0], other[0])
	}
	if off := marks(false, 1, targets...); len(off) != 4 || strings.Join(off, "") != "" {
		t.Errorf("marks that nobody wanted: %q", off)
	}
}

// newLogged is a server with two endpoints, the second of which has personal parameters,
// and its log with each hit.
func newLogged(t *testing.T, source *fake, keys bool) (*front, *lines) {
	t.Helper()
	logged := &lines{}
	private := strings.NewReplacer("name: simple", "name: private", "name: id,", "name: id, personal: true,").Replace(simple("ttl: 1h, grace: 1h", source))
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h, grace: 1h", source), "private": private}, func(c *Config, _ *upstreams.Environment) {
		c.Log, c.HitSample = slog.New(slog.NewTextHandler(logged, nil)), 1
	})
	settings := f.server.current.Load().settings.Settings
	settings.LogKeys = keys
	if err := f.server.Reload(f.server.Catalog(), settings); err != nil {
		t.Fatal(err)
	}
	return f, logged
}

// of waits for so many lines of a kind.
func (l *lines) of(t *testing.T, kind string, n int) (found []string) {
	t.Helper()
	waittest.Until(t, "all lines", func() bool { return strings.Count(l.String(), kind) == n })
	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, kind) {
			found = append(found, line)
		}
	}
	return found
}

// fieldOf is the value of a field in a line, which has no spaces; "" if it is not there.
func fieldOf(line, name string) string {
	_, value, _ := strings.Cut(line, " "+name+"=")
	value, _, _ = strings.Cut(strings.TrimSpace(value), " ")
	return value
}

// TestFillsAreLogged: each with what it found, by the marks that requests have; nothing that
// tells of personal parameters.
func TestFillsAreLogged(t *testing.T) {
	source := newFake(t, `{"v":"x"}`)
	f, logged := newLogged(t, source, true)
	for i, target := range []string{"/api/simple?id=1", "/api/simple?id=2", "/api/private?id=1", "/api/simple?id=1"} {
		f.get(target).want(t, http.StatusOK)
		logged.of(t, "msg=fill", min(i+1, 3)) // the last is a hit
	}
	refresh := func(n int) []string {
		began := time.Now()
		waittest.Until(t, "what was filled is stored, and not of this millisecond", func() bool {
			return time.Since(began) > 2*time.Millisecond && strings.Contains(f.get("/api/simple?id=1").Header.Get("Cache-Status"), "hit")
		})
		f.server.cfg.Cache.SetPurges(map[string]policy.Purge{policy.AllEndpoints: {Soft: time.Now()}})
		f.get("/api/simple?id=1").want(t, http.StatusOK)
		return logged.of(t, "msg=fill", n)
	}
	refresh(4)
	source.body.Store(`{"v":"y"}`)
	refresh(5)
	source.status.Store(http.StatusInternalServerError)
	fills := refresh(6)
	for i, want := range []string{"simple first", "simple first", "private first", "simple unchanged", "simple changed", "simple failed"} {
		if got := fieldOf(fills[i], "endpoint") + " " + fieldOf(fills[i], "outcome"); got != want {
			t.Errorf("%s: expected %s", fills[i], want)
		}
		if strings.Contains(fills[i], "cause=") != strings.HasSuffix(want, "failed") || strings.Contains(fills[i], "127.0.0.1:") {
			t.Errorf("%s: the cause", fills[i])
		}
		if age := fieldOf(fills[i], "age"); (age == "") != strings.HasSuffix(want, "first") {
			t.Errorf("%s: age %q", fills[i], age)
		}
	}
	key, digest := func(i int) string { return fieldOf(fills[i], "key") }, func(i int) string { return fieldOf(fills[i], "digest") }
	_, asked, _ := strings.Cut(logged.String(), "msg=request")
	asked, _, _ = strings.Cut(asked, "\n")
	if mark := fieldOf(asked, "key"); mark == "" || key(0) != mark || key(4) != mark || key(5) != mark || key(1) == mark || key(2) != "" {
		t.Errorf("%s: %q", mark, fills)
	}
	if len(digest(0)) != 2*contentMarkBytes || digest(3) != digest(0) || digest(4) == digest(0) || digest(1) == digest(0) || digest(2)+digest(5) != "" {
		t.Errorf("%q", fills)
	}
}

// TestSampledHitsHaveTheirWeight, which is how many requests the line stands for.
func TestSampledHitsHaveTheirWeight(t *testing.T) {
	f, logged := newLogged(t, newFake(t, `{"v":"x"}`), false)
	settings := f.server.current.Load().settings.Settings
	settings.HitSample = 4
	if err := f.server.Reload(f.server.Catalog(), settings); err != nil {
		t.Fatal(err)
	}
	for range 9 {
		f.get("/api/simple").want(t, http.StatusOK)
	}
	got := logged.of(t, "msg=request", 3)
	if fieldOf(got[0], "outcome") != "miss" || fieldOf(got[0], "weight") != "" || fieldOf(got[1], "weight") != "4" || fieldOf(got[2], "weight") != "4" {
		t.Errorf("%q", got)
	}
}

// TestRefusalsAreSampledInTheLog: the first of each second is logged, and only some
// of the others. What is answered while the sources are not asked again is one of them.
func TestRefusalsAreSampledInTheLog(t *testing.T) {
	logged := &lines{}
	down := newFake(t, "")
	down.status.Store(http.StatusBadGateway)
	files := map[string]string{
		"simple": simple("ttl: 1h", newFake(t, `{"v":"x"}`)),
		"down":   strings.Replace(simple("ttl: 1h, pause: 1h, pause_max: 1h", down), "name: simple", "name: down", 1),
	}
	f := newFront(t, files, func(c *Config, _ *upstreams.Environment) {
		c.Log, c.RefusalSample = slog.New(slog.NewTextHandler(logged, nil)), 1000
	})
	began := time.Now()
	for range 200 {
		f.get("/api/simple?id=x").want(t, http.StatusBadRequest)
		f.get("/api/nothing").want(t, http.StatusNotFound)
		f.get("/api/down").want(t, http.StatusBadGateway)
	}
	most := int(time.Since(began)/time.Second) + 3 // the first failure is no refusal
	for _, outcome := range []string{"outcome=invalid", "outcome=negative", "outcome=error"} {
		if n := strings.Count(logged.String(), outcome); n == 0 || n > most {
			t.Errorf("%d lines of %s, want 1 to %d", n, outcome, most)
		}
	}
	f.get("/api/simple?id=1").want(t, http.StatusOK)
	if !strings.Contains(logged.String(), "outcome=miss") {
		t.Error("a miss is not logged")
	}
}
