package main

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sundry/cache/far/redistest"
	"sundry/upstreams/waittest"
)

// advice on the endpoint own.
func (p *instance) advice() map[string]any {
	p.t.Helper()
	return p.mustAsk(http.MethodGet, "endpoints/own/advice", "")
}

// refreshes that the advice on the endpoint own is from.
func (p *instance) refreshes() float64 {
	p.t.Helper()
	change, _ := p.advice()["change"].(map[string]any)
	n, _ := change["refreshes"].(float64)
	return n
}

// measured requests under the rule of the endpoint own.
func (p *instance) measured() float64 {
	p.t.Helper()
	m, _ := p.advice()["measured"].(map[string]any)
	n, _ := m["requests"].(float64)
	return n
}

// refreshed asks for an entry, lets it be refreshed, and waits until the advisor knows.
func (p *instance) refreshed(id int) {
	p.t.Helper()
	call := fmt.Sprintf("%s/api/own?id=%d", p.public, id)
	before := p.refreshes()
	mustGet(p.t, call)
	p.mustAsk(http.MethodPost, "purge", `{"endpoint":"own","mode":"soft"}`)
	mustGet(p.t, call)
	waittest.Until(p.t, "the refresh is seen", func() bool { return p.refreshes() > before })
}

// TestAdviceOutlivesARestart: without Redis, beside the snapshot; what is measured goes on. A
// torn file is a start anew, and a line in the log.
func TestAdviceOutlivesARestart(t *testing.T) {
	dir, file := catalogDir(t, newUpstream(t), "ttl: 1h"), filepath.Join(t.TempDir(), "snapshot")
	first := serveWith(t, keptIn(file), "--catalog", dir)
	first.refreshed(1)
	before := first.advice()["measured"].(map[string]any)
	first.end()
	second := serveWith(t, keptIn(file), "--catalog", dir)
	if m := second.advice()["measured"].(map[string]any); second.refreshes() != 1 || m["requests"] != before["requests"] || m["since"] != before["since"] || m["requests"] == 0.0 {
		t.Errorf("%v refreshes, measured %v, before %v", second.refreshes(), m, before)
	}
	second.end()
	whole, err := os.ReadFile(file + ".advisor")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Dir(file), "snapshot.advisor", string(whole[:len(whole)-1]))
	third := serveWith(t, keptIn(file), "--catalog", dir)
	if n := third.refreshes(); n != 0 || !strings.Contains(third.stderr.String(), "the advisor starts anew") {
		t.Errorf("%v refreshes\n%s", n, third.stderr)
	}
	writeOwn(t, dir, newUpstream(t), "ttl: 1h") // another address
	third.end()
	write(t, filepath.Dir(file), "snapshot.advisor", string(whole))
	fourth := serveWith(t, keptIn(file), "--catalog", dir)
	if n := fourth.refreshes(); n != 0 {
		t.Errorf("%v refreshes of another file of that name", n)
	}
}

// undelayed is an environment in which nobody is in front of the server that had to hear
// of its end first.
func undelayed(name string) (string, bool) {
	if name == "SUNDRY_DRAIN_DELAY" {
		return "0s", true
	}
	return "", false
}

// TestAFleetAdvisesAsOne: three instances on a real Redis, of which each has refreshed
// another entry, know all of it, as does one that comes later, whoever has left.
func TestAFleetAdvisesAsOne(t *testing.T) {
	redis, dir := redistest.Start(t), catalogDir(t, newUpstream(t), "ttl: 1h")
	start := func() *instance {
		return launch(t, &process{getenv: undelayed, adviceEvery: 50 * time.Millisecond}, "--catalog", dir, "--redis", redis.URL())
	}
	fleet := []*instance{start(), start(), start()}
	for i, p := range fleet {
		p.refreshed(i + 1)
	}
	agree := func(all ...*instance) {
		t.Helper()
		for _, p := range all {
			// Of the others, each knows what they had counted moments ago, as if it went on.
			waittest.Until(t, "all know three refreshes, and their requests", func() bool { return p.refreshes() == 3 && math.Abs(p.measured()-6) < 0.5 })
		}
	}
	agree(fleet...)
	for _, p := range fleet {
		if keys := p.advice()["keys"].(float64); keys < 2.9 || keys > 3.1 {
			t.Errorf("%g keys", keys)
		}
	}
	fleet[0].end()
	agree(fleet[1:]...)
	agree(start())
	fleet[1].end()
	fleet[2].end()
	agree(start())
}
