package far

import (
	"testing"
	"time"

	"sundry/cache/far/redistest"
	"sundry/upstreams/lib/waittest"
)

// TestVersions: each write and mark of one of the keys makes another version, and nothing else does.
func TestVersions(t *testing.T) {
	servers(t, func(t *testing.T, url string) {
		tier := open(t, url, patient)
		seen := map[string]string{}
		read := func() string {
			version, ok := tier.Version(t.Context(), "one", "two")
			if !ok {
				t.Fatal("Redis does not answer")
			}
			return version
		}
		at := time.Now().Add(-time.Minute)
		for _, step := range []struct {
			name string
			do   func()
		}{
			{"nothing", func() {}},
			{"a value", func() { tier.Set("one", at, false, 1, ready([]byte("value"), time.Minute)) }},
			{"another key's value", func() { tier.Set("two", at, false, 1, ready([]byte("value"), time.Minute)) }},
			{"a newer value", func() { tier.Set("one", at.Add(time.Second), false, 1, ready([]byte("value"), time.Minute)) }},
			{"a late mark", func() { tier.mark("one", at) }},
			{"a mark", func() { tier.mark("one", at.Add(2*time.Second)) }},
			{"none of them", func() { tier.set("three", []byte("x"), time.Minute) }},
		} {
			step.do()
			waittest.Until(t, step.name, empty(tier))
			before, again := seen[read()], seen[read()]
			if want := map[string]string{"none of them": "a mark"}[step.name]; before != want || again != want {
				t.Errorf("%s: as after %q", step.name, before)
			}
			seen[read()] = step.name
		}
	})
}

// TestNoVersionWithoutRedis, and of another type of value it is that of none.
func TestNoVersionWithoutRedis(t *testing.T) {
	server := redistest.Start(t)
	tier := open(t, server.URL(), unhurried)
	none, _ := tier.Version(t.Context(), "k")
	server.Must("LPUSH sundry:k 1")
	if version, ok := tier.Version(t.Context(), "k"); !ok || version != none {
		t.Errorf("%q %v", version, ok)
	}
	server.Stop()
	if _, ok := tier.Version(t.Context(), "k"); ok {
		t.Error("a version is known without Redis")
	}
}
