package catalog

import (
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

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
		if d := Diff(whole, next); len(d) > 0 || len(next.Endpoints) != len(whole.Endpoints) || len(next.Groups()) != len(whole.Groups()) {
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

func TestKnobs(t *testing.T) {
	for _, good := range []map[string]string{{}, {"ttl": "1s"}, {"ttl": "365d", "grace": "0s", "negative": "0s", "soft_timeout": "10ms"}} {
		if err := CheckSettings(good); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range []map[string]string{{"ttl": "0s"}, {"ttl": "900ms"}, {"ttl": "-1h"}, {"ttl": ""}, {"ttl": "soon"}, {"grace": "400d"}, {"class": "1h"}, {"until": "06:00 UTC"}} {
		if CheckSettings(bad) == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}
