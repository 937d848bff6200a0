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
	cmd := &serveCmd{flags: flags{Catalog: dir, Config: write(t, t.TempDir(), "sundry.yaml", configuration)}}
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
	system, err := s.newSystem(reg, reg)
	if err != nil {
		t.Fatal(err)
	}
	if s.admin, err = admin.New(admin.Config{Metrics: metrics.Handler(reg), Ready: s.front.Ready, System: system, Registerer: reg, Log: log}); err != nil {
		t.Fatal(err)
	}
	s.catchUp(ctx)
	var running sync.WaitGroup
	running.Go(func() { s.replicator.Run(ctx) })
	running.Go(func() { s.autopilot.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait(); s.close(); lines.end() })
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
func (s *bubble) pilot() (state, reason string, doc map[string]any) {
	s.t.Helper()
	doc = s.ask(http.MethodGet, "endpoints/own/autopilot", "")
	state, _ = doc["state"].(string)
	reasons, _ := doc["reason"].(map[string]any)
	reason, _ = reasons["en"].(string)
	return state, reason, doc
}

const piloted = "limits: {rate: 0}\nendpoints: {own: {autopilot: {min: 20s, max: 4m}}}\n"

// TestAutopilotStepsWithinItsBounds: of a content that changes every half hour, the TTL of half a
// minute is doubled, and doubled again, once the outcome is known, up to the bound; callers
// see it, and the audit log has each step with its reason.
func TestAutopilotStepsWithinItsBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBubble(t, piloted, "ttl: 30s, jitter: 0", "{edition: ($now / 1800 | floor)}")
		s.pass(50*time.Minute, 20*time.Second)
		if state, _, doc := s.pilot(); state != "observing" || doc["on"] != true || doc["max_s"] != 240.0 || doc["last"] != nil {
			t.Errorf("%v", doc)
		}
		s.pass(5*time.Hour, 20*time.Second)
		steps := s.steps()
		want := []string{`"1m0s"`, `"2m0s"`, `"4m0s"`}
		if len(steps) != len(want) {
			t.Fatalf("%d steps: %+v", len(steps), steps)
		}
		for i, r := range steps {
			t.Logf("%s %s %s", r.At.Format(time.DateTime), r.After, r.Note)
			if r.Do != live.DoCache || r.Target != "own" || !strings.Contains(string(r.After), want[i]) || !strings.Contains(r.Note, "The content changes every 30m") {
				t.Errorf("%+v", r)
			}
			if i > 0 && r.At.Sub(steps[i-1].At) < time.Hour {
				t.Errorf("%s after the step before", r.At.Sub(steps[i-1].At))
			}
		}
		if got := s.ttl(); got != "4m0s" {
			t.Errorf("callers see %s", got)
		}
		state, reason, doc := s.pilot()
		if last, _ := doc["last"].(map[string]any); state != "content" || !strings.Contains(reason, "within 20s and 4m") || last["from_s"] != 120.0 || last["to_s"] != 240.0 || last["calls_per_hour"] == 0.0 {
			t.Errorf("%v", doc)
		}
	})
}

// TestAutopilotRevertsAStepThatWasWrong: after the first step the content begins to change
// every 40 seconds. The step is reverted, with the reason, and there is a pause, in which an
// operator decides otherwise.
func TestAutopilotRevertsAStepThatWasWrong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turn := time.Now().Add(100 * time.Minute).Unix()
		s := newBubble(t, piloted, "ttl: 1m, jitter: 0", fmt.Sprintf("{edition: (if $now < %d then $now / 1800 else $now / 40 end | floor)}", turn))
		s.pass(3*time.Hour, 20*time.Second)
		steps := s.steps()
		if len(steps) != 2 || !strings.Contains(string(steps[0].After), `"2m0s"`) || steps[1].After != nil || !strings.Contains(steps[1].Note, "The step from 1m to 2m is reverted: ") {
			t.Fatalf("%+v", steps)
		}
		t.Log(steps[1].Note)
		if got := s.ttl(); got != "1m0s" {
			t.Errorf("callers see %s", got)
		}
		state, _, doc := s.pilot()
		if last, _ := doc["last"].(map[string]any); state != "paused" || last["reverts"] != 1.0 || last["reverted"] == nil {
			t.Errorf("%v", doc)
		}
		if next := moment(t, doc["next"].(string)); next.Sub(steps[1].At).Round(time.Second) != 24*time.Hour {
			t.Errorf("the next step at %v, this one was reverted at %v", next, steps[1].At)
		}
		s.pass(time.Hour, time.Minute)
		s.ask(http.MethodPut, "endpoints/own/cache", `{"set":{"ttl":"3m"}}`)
		if state, _, doc := s.pilot(); state != "by_hand" || doc["last"] != nil {
			t.Errorf("%v", doc)
		}
		s.pass(3*time.Hour, time.Minute)
		if len(s.steps()) != 2 || s.ttl() != "3m0s" {
			t.Errorf("%+v", s.steps())
		}
	})
}

// TestAutopilotIsRefused where there is no TTL to set, and with bounds that cannot be meant,
// in the line of the mistake.
func TestAutopilotIsRefused(t *testing.T) {
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
	file := write(t, t.TempDir(), "sundry.yaml", "endpoints: {ip: {autopilot: {min: 1h, max: 48h}}}\n")
	if _, errs, err := call(t, nil, "check", "--config", file); err != nil {
		t.Errorf("%v %s", err, errs)
	}
}

// TestAutopilotIsTurnedOnByAReload, of a running instance.
func TestAutopilotIsTurnedOnByAReload(t *testing.T) {
	file := write(t, t.TempDir(), "sundry.yaml", "endpoints: {}\n")
	p := serve(t, "--replay", "--config", file)
	pilot := func(endpoint string) map[string]any {
		return p.mustAsk(http.MethodGet, "endpoints/"+endpoint+"/autopilot", "")
	}
	if doc := pilot("ip"); doc["on"] != false || doc["state"] != nil {
		t.Errorf("%v", doc)
	}
	if status, _ := p.ask(http.MethodGet, "endpoints/none/autopilot", ""); status != http.StatusNotFound {
		t.Errorf("%d", status)
	}
	if err := os.WriteFile(file, []byte("endpoints: {ip: {autopilot: {min: 1h, max: 48h}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if done := fmt.Sprint(p.mustAsk(http.MethodPost, "reload", "")["changed"]); !strings.Contains(done, "ip: autopilot from 1h0m0s to 48h0m0s, was off") {
		t.Errorf("changed: %s", done)
	}
	if doc := pilot("ip"); doc["on"] != true || doc["state"] != "observing" || doc["min_s"] != 3600.0 {
		t.Errorf("%v", doc)
	}
	_, text := mustGet(t, p.admin+"/metrics")
	if !strings.Contains(text, `sundry_autopilot_steps_total{result="raised"} 0`) {
		t.Error("no metric of its steps")
	}
}
