package catalog

import (
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/cache/policy"
	"sundry/upstreams/declare"
	"sundry/upstreams/replay"
)

func TestLiveSettings(t *testing.T) {
	env := testEnvironment(t, replay.New(nil))
	c, err := Load(Options{Live: map[string]map[string]string{
		"ip":   {"ttl": "90s", "grace": "0s"},
		"60s":  {"ttl": "30d", "poll": "1m"},
		"sfz":  {"ttl": "1h"},
		"gone": {"ttl": "1h"},
		"kd":   {"ttl": "forever"},
	}}, env)
	if err != nil {
		t.Fatal(err)
	}
	ip, _ := c.Get("ip")
	if ip.Policy.TTL != 90*time.Second || ip.Policy.Grace != 0 || ip.Base.TTL != 24*time.Hour || ip.Policy.StaleIfError != ip.Base.StaleIfError {
		t.Errorf("ip: %+v over %+v", ip.Policy, ip.Base)
	}
	if e, _ := c.Get("60s"); Setting(&e.Policy, "ttl") != 30*24*time.Hour || Setting(&e.Policy, "poll") != time.Minute {
		t.Errorf("60s: %+v", e.Policy)
	}
	if e, _ := c.Get("sfz"); e.Policy.Stores() {
		t.Error("what must not be cached is cached by a setting")
	}
	if e, _ := c.Get("kd"); e.Policy.TTL != e.Base.TTL {
		t.Errorf("kd: a setting that is wrong was taken: %v", e.Policy.TTL)
	}
}

// TestCompileLive makes the catalog that compiling everything makes, and compiles only
// what has changed.
func TestCompileLive(t *testing.T) {
	env := testEnvironment(t, replay.New(nil))
	files, err := ReadFiles("")
	if err != nil {
		t.Fatal(err)
	}
	c, err := files.Compile(Options{}, env)
	if err != nil {
		t.Fatal(err)
	}
	for i, live := range []map[string]map[string]string{
		{"ip": {"ttl": "90s"}, "60s": {"poll": "1m"}, "gone": {"ttl": "1h"}},
		{"ip": {"ttl": "80s"}, "60s": {"poll": "1m"}},
		{"ip": {"ttl": "80s"}},
		nil,
	} {
		next, err := files.CompileLive(c, Options{Live: live}, env)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := files.Compile(Options{Live: live}, env)
		if err != nil {
			t.Fatal(err)
		}
		if d := Diff(whole, next); len(d) > 0 || len(next.Endpoints) != len(whole.Endpoints) || len(next.Groups) != len(whole.Groups) {
			t.Errorf("step %d: %q", i, d)
		}
		changed := 0
		for _, e := range next.Endpoints {
			before, _ := c.Get(e.Name)
			if now, _ := next.Get(e.Name); now != e {
				t.Errorf("step %d: two of %s", i, e.Name)
			}
			if e != before {
				changed++
			}
		}
		if want := []int{2, 1, 1, 1}[i]; changed != want {
			t.Errorf("step %d: %d endpoints were compiled, want %d", i, changed, want)
		}
		c = next
	}
}

// TestOffDisablesCaching also where a daily publication would end freshness.
func TestOffDisablesCaching(t *testing.T) {
	c := mustLoad(t, replay.New(nil))
	overrides := map[string]Overrides{}
	for _, e := range c.Endpoints {
		var settings yaml.Node
		if err := yaml.Load([]byte("off: true"), &settings); err != nil {
			t.Fatal(err)
		}
		overrides[e.Name] = Overrides{Cache: settings}
	}
	c, err := Load(Options{Overrides: overrides}, testEnvironment(t, replay.New(nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Endpoints {
		if e.Policy.Stores() || e.Warm {
			t.Errorf("%s: caching is on, warm-up %v", e.Name, e.Warm)
		}
	}
}

func TestCacheSettings(t *testing.T) {
	for _, good := range []map[string]string{{}, {"ttl": "1s"}, {"ttl": "365d", "grace": "0s", "negative": "0s", "soft_timeout": "10ms"}, {"target": "old=1%", "autopilot": "1h..2d"}, {"target": "calls=9/h", "autopilot": "off"}} {
		if err := CheckSettings(good); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range []map[string]string{{"ttl": "0s"}, {"ttl": "900ms"}, {"ttl": "-1h"}, {"ttl": ""}, {"ttl": "soon"}, {"grace": "400d"}, {"class": "1h"}, {"until": "06:00 UTC"}, {"target": "2%"}, {"autopilot": "on"}, {"autopilot": "2h..1h"}, {"autopilot": "0s..1h"}} {
		if CheckSettings(bad) == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

// TestTargets: the operator's before the file's, what was set while the service runs before
// both, and that of the kind else; the autopilot likewise, but not where there is no ttl.
func TestTargets(t *testing.T) {
	for _, c := range []struct {
		name, file, override, live, want string
	}{
		{name: "of a lookup", want: "old=2%"},
		{name: "declared", file: "target: {old: 0.5%}", want: "old=0.5%"},
		{name: "of the operator", file: "target: {old: 0.5%}", override: "target: {calls: 30/h}", want: "calls=30/h"},
		{name: "live", file: "target: {old: 0.5%}", override: "target: {calls: 30/h}", live: "old=7%", want: "old=7%"},
	} {
		var settings yaml.Node
		if err := yaml.Load([]byte("{"+c.override+"}"), &settings); err != nil {
			t.Fatal(err)
		}
		spec := cacheSpec{}
		if err := yaml.Load([]byte("{"+c.file+"}"), &spec); err != nil {
			t.Fatal(err)
		}
		var problems declare.Problems
		spec.override(&settings, &problems)
		got := (&Endpoint{}).target(spec.Target, c.live, &problems)
		if got.String() != c.want || len(problems) > 0 {
			t.Errorf("%s: %s, %v", c.name, got, problems)
		}
	}
	pool := &Endpoint{Forms: []*Form{{Pool: true}}}
	if got := pool.target(nil, "", nil); got.Calls != poolCalls {
		t.Errorf("of a pool: %s", got)
	}
	for _, bad := range []targetSpec{{Old: declare.Text{Value: "2", Line: 1}}, {Old: declare.Text{Value: "2%", Line: 1}, Calls: declare.Text{Value: "3/h", Line: 1}}, {}} {
		var problems declare.Problems
		if bad.target(&problems); len(problems) != 1 {
			t.Errorf("%+v: %v", bad, problems)
		}
	}
}

// TestAutopilotOfAnEndpoint is set while the service runs, where there is a ttl to set.
func TestAutopilotOfAnEndpoint(t *testing.T) {
	cached := policy.Policy{TTL: time.Hour}
	daily := policy.Policy{Until: &policy.Calendar{}}
	for _, c := range []struct {
		base       policy.Policy
		live, want string
		ok         bool
	}{
		{cached, "", "off", true},
		{cached, "10m..2h", "from 10m0s to 2h0m0s", true},
		{cached, "off", "off", true},
		{daily, "10m..2h", "off", false},
		{daily, "off", "off", true},
		{policy.Policy{}, "10m..2h", "off", false},
	} {
		e := &Endpoint{Base: c.base}
		if got := e.pilot(&yaml.Node{}, c.live, nil).String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.live, got, c.want)
		}
		if err := e.CheckLive(map[string]string{"autopilot": c.live}); c.live != "" && (err == nil) != c.ok {
			t.Errorf("%s: %v", c.live, err)
		}
	}
}
