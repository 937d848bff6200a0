package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// publicStatus is what this test reads of /status.json.
type publicStatus struct {
	Endpoints map[string]struct {
		State  string
		Uptime *float64
	}
	Incidents []struct {
		ID        string
		Endpoints []string
	}
}

func (p *instance) publicStatus() (s publicStatus) {
	p.t.Helper()
	_, body := mustGet(p.t, p.public+"/status.json")
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		p.t.Fatal(err)
	}
	return s
}

// TestStatusOutlivesARestart: in a file, and in Redis, where another instance adds to it; a damaged one is no reason
// not to start.
func TestStatusOutlivesARestart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for name, args := range map[string][]string{"file": {"--data", data}, "redis": {"--redis", redistest.Start(t).URL()}} {
		t.Run(name, func(t *testing.T) {
			start := func() *instance {
				return serveWith(t, onlyIn(t, "ip"), append([]string{"--replay", "--catalog", greeter(t)}, args...)...)
			}
			one := start()
			for i := range 10 {
				if status, _, body, err := get(one.public + fmt.Sprint("/api/greeter?who=", i)); err != nil || status != http.StatusBadGateway { // no exchange is recorded
					t.Fatalf("%d %s %v", status, body, err)
				}
			}
			one.end()
			two := start()
			mustGet(t, two.public+ipCall)
			two.end()
			three := start()
			var s publicStatus
			waittest.Until(t, "what was before", func() bool { s = three.publicStatus(); return len(s.Incidents) > 0 })
			greeter, ip := s.Endpoints["greeter"], s.Endpoints["ip"]
			if greeter.State != "failing" || greeter.Uptime == nil || *greeter.Uptime != 0 || ip.State != "works" || *ip.Uptime != 100 {
				t.Errorf("%+v", s)
			}
			if len(s.Incidents) != 1 || s.Incidents[0].Endpoints[0] != "greeter" {
				t.Errorf("incidents %+v", s.Incidents)
			}
			_, page := mustGet(t, three.public+"/status.atom?lang=en")
			if !strings.Contains(page, "<title>A test: Failing</title>") {
				t.Error(page)
			}
		})
	}
	write(t, data, "status", "damaged")
	p := serveWith(t, onlyIn(t, "ip"), "--replay", "--data", data)
	if s := p.publicStatus(); s.Endpoints["ip"].State != "unknown" {
		t.Errorf("%+v", s)
	}
	p.end()
	if log := p.stderr.String(); !strings.Contains(log, "the record of the status is damaged") {
		t.Error(log)
	}
	if b, err := os.ReadFile(filepath.Join(data, "status")); err != nil || string(b) == "damaged" {
		t.Errorf("%q %v", b, err)
	}
}
