package proxy

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"sundry/upstreams"
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
