package proxy

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/waittest"
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

// TestKeysAreMarkedInTheLog: only where the operator wants it, equal requests alike,
// not with parameters, not of endpoints with personal ones, and otherwise at each start.
func TestKeysAreMarkedInTheLog(t *testing.T) {
	personal := strings.Replace(simple("ttl: 1h", newFake(t, `{"v":"x"}`)), "name: id,", "name: id, personal: true,", 1)
	marks := func(on bool, targets ...string) (found []string) {
		logged := &lines{}
		f := newFront(t, map[string]string{"simple": simple("ttl: 1h", newFake(t, `{"v":"x"}`)), "private": strings.Replace(personal, "name: simple", "name: private", 1)}, func(c *Config, _ *upstreams.Environment) {
			c.Log, c.HitSample = slog.New(slog.NewTextHandler(logged, nil)), 1
		})
		settings := f.server.current.Load().settings.Settings
		settings.LogKeys = on
		if err := f.server.Reload(f.server.Catalog(), settings); err != nil {
			t.Fatal(err)
		}
		for _, target := range targets {
			f.get(target).want(t, http.StatusOK)
		}
		waittest.Until(t, "all lines", func() bool { return strings.Count(logged.String(), "msg=request") == len(targets) })
		for line := range strings.Lines(logged.String()) {
			_, mark, _ := strings.Cut(line, " key=")
			mark, _, _ = strings.Cut(strings.TrimSpace(mark), " ")
			found = append(found, mark)
		}
		return found
	}
	targets := []string{"/api/simple?id=1", "/api/simple?x=&id=01", "/api/simple?id=2", "/api/private?id=1"}
	got := marks(true, targets...)
	if len(got) != 4 || len(got[0]) != 2*markBytes || got[1] != got[0] || got[2] == got[0] || got[3] != "" {
		t.Errorf("marks %q", got)
	}
	if again := marks(true, targets...); again[0] == got[0] {
		t.Errorf("the same mark after a new start: %s", got[0])
	}
	if off := marks(false, targets...); len(off) != 4 || strings.Join(off, "") != "" {
		t.Errorf("marks that nobody wanted: %q", off)
	}
}

// TestRefusalsAreSampledInTheLog: the first of each second is logged, and only some
// of the others.
func TestRefusalsAreSampledInTheLog(t *testing.T) {
	logged := &lines{}
	f := newFront(t, map[string]string{"simple": simple("ttl: 1h", newFake(t, `{"v":"x"}`))}, func(c *Config, _ *upstreams.Environment) {
		c.Log, c.RefusalSample = slog.New(slog.NewTextHandler(logged, nil)), 1000
	})
	began := time.Now()
	for range 200 {
		f.get("/api/simple?id=x").want(t, http.StatusBadRequest)
		f.get("/api/nothing").want(t, http.StatusNotFound)
	}
	most := int(time.Since(began)/time.Second) + 2
	for _, outcome := range []string{"outcome=invalid", "outcome=negative"} {
		if n := strings.Count(logged.String(), outcome); n == 0 || n > most {
			t.Errorf("%d lines of %s, want 1 to %d", n, outcome, most)
		}
	}
	f.get("/api/simple?id=1").want(t, http.StatusOK)
	if !strings.Contains(logged.String(), "outcome=miss") {
		t.Error("a miss is not logged")
	}
}
