//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/peertest"
	"sundry/upstreams/lib/waittest"
)

// cause is a row of the table of causes: what makes one alert fire, and what ends that.
type cause struct {
	alert string
	// pace of the rules; 0 means minutes.
	pace scale
	// fires and resolves bound, as times of the rules, how long the alert takes to fire after the
	// cause began, and to be resolved after it ended.
	fires, resolves time.Duration
	// takes is the time, which is not scaled, that the cause needs before or after it is one.
	takes time.Duration
	// also are the other alerts that must or may fire for this cause, with the reason.
	also map[string]string
	// stage starts instances.
	stage func(s *scene) act
}

// act is what happens on a scene.
type act struct {
	// ready reports whether the cause may begin; nil means at once.
	ready      func() bool
	begin, end func()
	// during is called again and again between the two; nil means nothing.
	during func()
}

func provoked(ready func() bool, begin, end func()) act {
	return act{ready: ready, begin: begin, end: end}
}

// alertSlack is how much longer than its bound an alert may take, on a busy machine.
const alertSlack = 6 * time.Second

// readyWithin bounds how long a scene needs until its cause may begin.
const readyWithin = 2 * time.Minute

func (c *cause) scale() scale { return cmp.Or(c.pace, minutes) }

// scene is one cause in a run: a job of its own, with its instances.
type scene struct {
	t     *testing.T
	cause *cause
	job   string
	watch *alertWatch
	act   act
	ctx   context.Context
	busy  sync.WaitGroup

	targets                     []string
	staged, began, fired, ended time.Time
	resolved                    time.Time
}

// causes are all rows.
func causes() []*cause {
	return slices.Concat(causesOfClients(), causesOfInstances(), causesOfSettings(), causesOfUpstreams(), causesOfCache(), causesOfRedis())
}

// TestEveryAlertHasACause in the table, once, and none has one that is no alert.
func TestEveryAlertHasACause(t *testing.T) {
	t.Parallel()
	rows := map[string]int{}
	for _, c := range causes() {
		rows[c.alert]++
	}
	known := map[string]bool{}
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		known[r.Alert] = true
		if rows[r.Alert] != 1 {
			t.Errorf("%s has %d rows in the table of causes", r.Alert, rows[r.Alert])
		}
	}
	for _, c := range causes() {
		for _, name := range slices.Concat([]string{c.alert}, slices.Collect(maps.Keys(c.also))) {
			if !known[name] {
				t.Errorf("%s, in the row of %s, is no alert", name, c.alert)
			}
		}
	}
}

// causesAtOnce is how many causes run at the same time.
const causesAtOnce = 13

// TestEachAlertHasItsCause provokes every alert under a real Prometheus: it fires in time, nothing else
// fires for that job, and it is resolved after the cause has ended.
func TestEachAlertHasItsCause(t *testing.T) {
	if os.Getenv("SUNDRY_TEST_ALERTS") == "" {
		t.Skip("it takes many minutes: it runs where SUNDRY_TEST_ALERTS is set, to 1 or to names of alerts")
	}
	peertest.Program(t, "prometheus", "prometheus", "prometheus")
	for _, pace := range []scale{hours, minutes} {
		rows := slices.DeleteFunc(causes(), func(c *cause) bool { return c.scale() != pace || !chosen(c.alert) })
		if len(rows) == 0 {
			continue
		}
		t.Run(fmt.Sprintf("%d times as fast", pace), func(t *testing.T) {
			text, mistakes := scaledRules(readSample(t, "rules/sundry.yml"), pace)
			if len(mistakes) > 0 {
				t.Fatal(mistakes)
			}
			step := map[scale]time.Duration{minutes: 400 * time.Millisecond, hours: 200 * time.Millisecond}[pace]
			watch := newAlertWatch(t, text, step)
			for group := range slices.Chunk(rows, causesAtOnce) {
				t.Run(group[0].alert+" and so on", func(t *testing.T) { perform(t, watch, group) })
			}
		})
	}
}

// chosen reports whether an alert is among those that SUNDRY_TEST_ALERTS names.
func chosen(alert string) bool {
	names := os.Getenv("SUNDRY_TEST_ALERTS")
	return !strings.Contains(names, "Sundry") || slices.Contains(strings.Split(names, ","), alert)
}

// perform runs causes at the same time.
func perform(t *testing.T, watch *alertWatch, rows []*cause) {
	ctx, stop := context.WithCancel(t.Context())
	var scenes []*scene
	defer func() {
		stop()
		for _, s := range scenes {
			s.busy.Wait()
		}
	}()
	jobs, targets := map[string][]string{}, 0
	for _, c := range rows {
		s := &scene{t: t, cause: c, job: "sundry-" + strings.ToLower(strings.TrimPrefix(c.alert, "Sundry")), watch: watch, ctx: ctx, staged: time.Now()}
		scenes = append(scenes, s)
		s.act = c.stage(s)
		jobs[s.job] = s.targets
		targets += len(s.targets)
	}
	watch.scrape(t, jobs)
	watch.untilScraped(t, targets)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for slices.ContainsFunc(scenes, func(s *scene) bool { return s.resolved.IsZero() }) {
		<-tick.C
		firing, err := watch.firing()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scenes {
			s.step(slices.Contains(firing[s.job], s.cause.alert))
		}
	}
	for _, s := range scenes {
		s.judge()
	}
}

// step does what is due: the cause begins, ends once its alert fires, and is over once that is resolved.
func (s *scene) step(firing bool) {
	now, c := time.Now(), s.cause
	switch {
	case s.began.IsZero():
		if firing {
			s.t.Errorf("%s fires before its cause has begun", c.alert)
		}
		if s.act.ready == nil || s.act.ready() {
			s.began = now
			s.act.begin()
		} else if now.Sub(s.staged) > readyWithin {
			s.t.Errorf("%s: the scene is not ready", c.alert)
			s.began, s.ended, s.resolved = now, now, now
		}
	case s.ended.IsZero():
		if firing {
			s.fired = now
		} else if s.act.during != nil {
			s.act.during()
		}
		if firing || now.Sub(s.began) > s.firesWithin() {
			s.ended = now
			s.act.end()
		}
	case s.resolved.IsZero():
		if over := now.Sub(s.ended) > s.resolvesWithin(); !firing || over {
			s.resolved = now
			if over {
				s.t.Errorf("%s is not resolved %v after its cause ended", c.alert, now.Sub(s.ended).Round(time.Second))
			}
		}
	}
}

func (s *scene) firesWithin() time.Duration {
	return s.cause.scale().of(s.cause.fires) + s.cause.takes + alertSlack
}

func (s *scene) resolvesWithin() time.Duration {
	return s.cause.scale().of(s.cause.resolves) + s.cause.takes + alertSlack
}

// judge requires that the alert fired in time, and of the others only those that the row names.
func (s *scene) judge() {
	s.t.Helper()
	c := s.cause
	if s.fired.IsZero() {
		s.t.Errorf("%s did not fire within %v", c.alert, s.firesWithin())
	}
	var others []string
	for _, name := range s.watch.fired(s.t, s.job, s.staged, s.resolved) {
		switch {
		case name == c.alert:
		case c.also[name] == "":
			s.t.Errorf("%s: %s fired as well", c.alert, name)
		default:
			others = append(others, name)
		}
	}
	if s.fired.IsZero() {
		return
	}
	s.t.Logf("%s fired after %v (at most %v) and was resolved after %v (at most %v); also: %v", c.alert, s.fired.Sub(s.began).Round(100*time.Millisecond),
		s.firesWithin(), s.resolved.Sub(s.ended).Round(100*time.Millisecond), s.resolvesWithin(), others)
}

// TestIdleInstancesAlertNobody: four instances that nobody calls, each set up in another way, under a real Prometheus.
// With SUNDRY_TEST_IDLE=10m the rules are as they are; without, they are scaled, for a minute.
func TestIdleInstancesAlertNobody(t *testing.T) {
	text, length, pace := readSample(t, "rules/sundry.yml"), time.Minute, 800*time.Millisecond
	if given := os.Getenv("SUNDRY_TEST_IDLE"); given != "" {
		var err error
		if length, err = time.ParseDuration(given); err != nil {
			t.Fatalf("SUNDRY_TEST_IDLE: %v", err)
		}
		pace = 15 * time.Second
	} else {
		longtest.Story(t)
		text, _ = scaledRules(text, halfMinutes)
	}
	peertest.Program(t, "prometheus", "prometheus", "prometheus")
	jobs := map[string][]string{}
	for job, admin := range idleInstances(t) {
		jobs[job] = []string{strings.TrimPrefix(admin, "http://")}
	}
	watch := newAlertWatch(t, text, pace)
	watch.scrape(t, jobs)
	// Prometheus looks for targets after five seconds, which is longer than scaled rules allow to have none.
	waittest.Until(t, "all are scraped", func() bool {
		n, ok := watch.number(`count(up{job!="prometheus"} == 1)`)
		firing, err := watch.firing()
		return ok && int(n) == len(jobs) && err == nil && len(firing) == 0
	})
	from := time.Now().Add(time.Second)
	tick, over := time.NewTicker(min(pace, time.Second)), time.After(length)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-tick.C:
			if firing, err := watch.firing(); err != nil || len(firing) > 0 {
				t.Fatalf("after %v: %v %v", time.Since(from).Round(time.Second), firing, err)
			}
		case <-over:
			running = false
		}
	}
	if fired := watch.fired(t, ".*", from, time.Now()); len(fired) > 0 {
		t.Errorf("they fired: %v", fired)
	}
	if n, ok := watch.number(`count(up{job!="prometheus"} == 1)`); !ok || int(n) != len(jobs) {
		t.Errorf("%v of %d instances are scraped", n, len(jobs))
	}
}
