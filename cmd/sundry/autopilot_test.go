package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sundry/metrics"
	"sundry/proxy/admin"
	"sundry/proxy/live"
	"sundry/upstreams/lib/longtest"
)

// bubble is the service without its listeners: everything else is as serve wires it, in
// the time of a bubble.
type bubble struct {
	*server
	t     *testing.T
	admin http.Handler
	ctx   context.Context
}

// newBubble wires the service with a configuration, and a catalog with one endpoint, "own",
// whose data is a program. It ends before the bubble does.
func newBubble(t *testing.T, configuration, rule, program string) *bubble {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "own.yaml", fmt.Sprintf(`version: 1
name: own
group: text
summary: {en: Own., zh: 自己的}
cache: {class: shared, %s}
forms: [{name: json, json: .}]
sources: [{name: clock, computed: {}, map: '%s'}]
`, rule, program))
	ctx, stop := context.WithCancel(t.Context())
	w := &process{ctx: ctx, urgent: t.Context(), getenv: noEnv, stdout: io.Discard, stderr: io.Discard}
	cmd := &serveCmd{faultFlags: faultFlags{flags: flags{Catalog: dir, Config: write(t, t.TempDir(), "sundry.yaml", configuration)}}}
	c, err := cmd.config(w)
	if err != nil {
		t.Fatal(err)
	}
	log, level, lines := newLogger(c, w)
	s := &bubble{server: &server{cmd: cmd, config: c, process: w, log: log, level: level}, t: t, ctx: ctx}
	reg := metrics.New("test")
	if err := s.build(reg); err != nil {
		t.Fatal(err)
	}
	s.admin = admin.New(admin.Config{Metrics: metrics.Handler(reg, s.env.Hidden.Text), Ready: s.front.Ready, System: s.newSystem(reg), Registerer: reg, Log: log})
	s.catchUp(ctx)
	var running sync.WaitGroup
	running.Go(func() { s.replicator.Run(ctx) })
	running.Go(func() { s.autopilot.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait(); s.close(); lines.End() })
	return s
}

// pass lets time pass, with a request every few seconds.
func (s *bubble) pass(d, every time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(every) {
		rec := httptest.NewRecorder()
		s.front.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/api/own", nil))
		if rec.Code != http.StatusOK {
			s.t.Fatalf("%d %s", rec.Code, rec.Body)
		}
	}
}

// ask calls the admin API.
func (s *bubble) ask(method, path, body string) map[string]any {
	s.t.Helper()
	r := httptest.NewRequest(method, "http://localhost/admin/api/"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	s.admin.ServeHTTP(rec, r)
	var doc map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil || rec.Code != http.StatusOK {
		s.t.Fatalf("%s %s: %d %s %v", method, path, rec.Code, rec.Body, err)
	}
	return doc
}

// steps are the records of the autopilot in the audit log, the oldest first.
func (s *bubble) steps() (all []live.Record) {
	for _, r := range s.replicator.Settings().Audit {
		if r.By == live.ByAutopilot {
			all = append(all, r)
		}
	}
	return all
}

// ttl of the endpoint, as callers see it.
func (s *bubble) ttl() string {
	s.t.Helper()
	rec := httptest.NewRecorder()
	s.front.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/api/own", nil))
	n, _, _ := strings.Cut(strings.TrimPrefix(rec.Header().Get("Cache-Control"), "public, max-age="), ",")
	d, err := time.ParseDuration(n + "s")
	if err != nil {
		s.t.Fatalf("Cache-Control %q", rec.Header().Get("Cache-Control"))
	}
	return d.String()
}

// pilot is what the API says about the autopilot on the endpoint.
func (s *bubble) pilot() map[string]any {
	s.t.Helper()
	doc, _ := s.ask(http.MethodGet, "endpoints/own/advice", "")["autopilot"].(map[string]any)
	return doc
}

const piloted = "limits: {rate: 0}\nendpoints: {own: {autopilot: {min: 20s, max: 30m}}}\n"

// TestAutopilotKeepsToTheTarget: of a content that changes every half hour, a TTL of ten
// minutes is halved until no more than 2 % of answers are old; callers see it, and the audit
// log has each step with its reason. Nothing is raised while more are old.
func TestAutopilotKeepsToTheTarget(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newBubble(t, piloted, "ttl: 10m, jitter: 0", "{edition: ($now / 1800 | floor)}")
		s.pass(2*24*time.Hour, 20*time.Second)
		steps := s.steps()
		want := []string{`"5m0s"`, `"2m30s"`, `"1m15s"`}
		if len(steps) < len(want) {
			t.Fatalf("%d steps: %+v", len(steps), steps)
		}
		for i, r := range steps {
			t.Logf("%s %s %s", r.At.Format(time.DateTime), r.After, r.Note)
			if r.Do != live.DoCache || r.Target != "own" || r.Note == "" || i < len(want) && !strings.Contains(string(r.After), want[i]) {
				t.Errorf("%+v", r)
			}
		}
		ttl, err := time.ParseDuration(s.ttl())
		if err != nil || ttl > 75*time.Second || ttl < 20*time.Second {
			t.Errorf("callers see %v", ttl)
		}
		doc := s.pilot()
		if last, _ := doc["last"].(map[string]any); doc["on"] != true || doc["max_s"] != 1800.0 || last["to"] != "1m15s" || last["note"] == "" {
			t.Errorf("%v", doc)
		}
	})
}

// TestAutopilotRaisesByTheDay what it is turned on for while the service runs, and not
// beyond the bound; it stops once it is turned off.
func TestAutopilotRaisesByTheDay(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newBubble(t, "limits: {rate: 0, queue_delay: 0s}\n", "ttl: 1m, jitter: 0", "{edition: ($now / 86400 | floor)}")
		s.pass(2*24*time.Hour, 20*time.Second)
		if doc := s.pilot(); doc["on"] != false || len(s.steps()) != 0 {
			t.Fatalf("%v, %+v", doc, s.steps())
		}
		s.ask(http.MethodPut, "endpoints/own/cache", `{"set":{"autopilot":"20s..80s"}}`)
		s.pass(3*24*time.Hour, 20*time.Second)
		steps := s.steps()
		if len(steps) != 2 || !strings.Contains(string(steps[0].After), `"1m15s"`) || !strings.Contains(string(steps[1].After), `"1m20s"`) || steps[1].At.Sub(steps[0].At) < 24*time.Hour {
			t.Errorf("%+v", steps)
		}
		s.ask(http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"30s","autopilot":"off"}}`)
		s.pass(3*24*time.Hour, 20*time.Second)
		if len(s.steps()) != len(steps) || s.ttl() != "30s" {
			t.Errorf("%+v", s.steps())
		}
	})
}

// TestAutopilotIsRefused where there is no TTL to set, and with bounds that cannot be meant,
// in the line of the mistake.
func TestAutopilotIsRefused(t *testing.T) {
	t.Parallel()
	for settings, want := range map[string]string{
		"lishi: {autopilot: {min: 1h, max: 2h}}":                   "autopilot: the timetable (until)",
		"sfz: {autopilot: {min: 1h, max: 2h}}":                     "autopilot: answers are not cached",
		"ip: {autopilot: {min: 1h, max: 48h}, cache: {off: true}}": "autopilot: answers are not cached",
		"qrcode: {autopilot: {min: 1h, max: 30d}}":                 "autopilot: answers are computed locally",
		"ip: {autopilot: {min: 48h, max: 1h}}":                     "autopilot: expected a min of at least 1s and a max",
		"ip: {autopilot: {min: 0s, max: 48h}}":                     "autopilot: expected a min of at least 1s",
		"ip: {autopilot: {min: 1h, max: 400d}}":                    "at most 8784h0m0s",
		"ip: {autopilot: {min: 1h, max: 2h}}":                      "autopilot: the ttl is 24h0m0s: expected it to be from min (1h0m0s) to max (2h0m0s)",
		"ip: {autopilot: {max: 48h}}":                              "min",
		"ip: {autopilot: {min: 1h, max: 48h, most: 1h}}":           "unknown key most",
		"ip: {autopilot: {min: soon, max: 48h}}":                   `duration "soon"`,
		"ip: {autopilot: true}":                                    "autopilot",
	} {
		file := write(t, t.TempDir(), "sundry.yaml", "endpoints:\n  "+settings+"\n"+strings.TrimPrefix(only("lishi", "sfz", "ip", "qrcode"), "endpoints:\n"))
		if _, errs, err := call(t, nil, "check", "--config", file); err == nil || !strings.Contains(errs, file+":2: ") || !strings.Contains(errs, want) {
			t.Errorf("%s: %v %s", settings, err, errs)
		}
	}
	file := write(t, t.TempDir(), "sundry.yaml", onlyWith("ip", "{autopilot: {min: 1h, max: 48h}}"))
	if _, errs, err := call(t, nil, "check", "--config", file); err != nil {
		t.Errorf("%v %s", err, errs)
	}
}

// TestAutopilotIsTurnedOnByAReload, of a running instance.
func TestAutopilotIsTurnedOnByAReload(t *testing.T) {
	t.Parallel()
	file := write(t, t.TempDir(), "sundry.yaml", only("ip"))
	p := serve(t, "--replay", "--config", file)
	pilot := func(endpoint string) map[string]any {
		doc, _ := p.mustAsk(http.MethodGet, "endpoints/"+endpoint+"/advice", "")["autopilot"].(map[string]any)
		return doc
	}
	if doc := pilot("ip"); doc["on"] != false {
		t.Errorf("%v", doc)
	}
	if err := os.WriteFile(file, []byte(onlyWith("ip", "{autopilot: {min: 1h, max: 48h}}")), 0o600); err != nil {
		t.Fatal(err)
	}
	if done := fmt.Sprint(p.mustAsk(http.MethodPost, "reload", "")["changed"]); !strings.Contains(done, "ip: autopilot from 1h0m0s to 48h0m0s, was off") {
		t.Errorf("changed: %s", done)
	}
	if doc := pilot("ip"); doc["on"] != true || doc["min_s"] != 3600.0 {
		t.Errorf("%v", doc)
	}
	_, text := mustGet(t, p.admin+"/metrics")
	if !strings.Contains(text, `sundry_autopilot_steps_total{result="raised"} 0`) {
		t.Error("no metric of its steps")
	}
}
