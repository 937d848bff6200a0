package cache

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache/near"
	"sundry/cache/policy"
	"sundry/upstreams/lib/longtest"
)

// values are those of one step, with how often it was asked.
type values struct {
	cache *Cache
	*Values
	asked int
	err   error
}

func newValues(t *testing.T) *values {
	c := newCache(t, Config{Memory: near.MinMemory})
	return &values{cache: c, Values: openValues(c, "music/playlist", policy.Keyed)}
}

// openValues opens them under the policy that steps have.
func openValues(c *Cache, name string, class policy.Class) *Values {
	return c.Space(name, policy.Policy{TTL: time.Hour, FillTimeout: 5 * time.Second, Class: class, Local: true}).Values("step", "v1")
}

func (v *values) fetch(t *testing.T, id string) (any, time.Time, error) {
	t.Helper()
	return v.Get(t.Context(), id, func(context.Context) (any, error) {
		v.asked++
		return map[string]any{"songs": []any{v.asked}}, v.err
	})
}

func (v *values) want(t *testing.T, what string, asked int) {
	t.Helper()
	if _, _, err := v.fetch(t, "list 1"); err != nil || v.asked != asked {
		t.Errorf("%s: asked %d times, want %d: %v", what, v.asked, asked, err)
	}
}

// A value ends with its TTL, and earlier by a purge of its endpoint or its own.
func TestValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newValues(t)
		begin := time.Now()
		v.want(t, "first", 1)
		time.Sleep(time.Hour - time.Second)
		v.want(t, "within its time", 1)
		value, created, _ := v.fetch(t, "list 1")
		if created.Sub(begin).Abs() > time.Millisecond {
			t.Errorf("created %v after it was asked for", created.Sub(begin))
		}
		if songs, _ := value.(map[string]any)["songs"].([]any); len(songs) != 1 || songs[0] != json.Number("1") {
			t.Errorf("%v", value)
		}
		time.Sleep(2 * time.Second)
		v.want(t, "after its time", 2)
		time.Sleep(time.Second)
		v.cache.SetPurges(map[string]policy.Purge{"music": {Hard: time.Now()}})
		time.Sleep(time.Second)
		v.want(t, "after a purge of its endpoint", 3)
		v.cache.SetPurges(map[string]policy.Purge{"yiyan": {Hard: time.Now()}})
		v.want(t, "after a purge of another", 3)
		time.Sleep(time.Second)
		v.Drop("list 1", time.Now())
		time.Sleep(time.Second)
		v.want(t, "after it was dropped", 4)
	})
}

// A drop is of the value that was fetched, and of none that was loaded since, nor of one
// that is being loaded.
func TestADropLeavesLaterValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newValues(t)
		_, first, _ := v.fetch(t, "list 1")
		time.Sleep(time.Second)
		v.Drop("list 1", first)
		_, _, err := v.Get(t.Context(), "list 1", func(context.Context) (any, error) {
			v.asked++
			time.Sleep(time.Second)
			v.Drop("list 1", first)
			return "second", nil
		})
		if err != nil || v.asked != 2 {
			t.Errorf("loaded %d times, want 2: %v", v.asked, err)
		}
		v.Drop("list 1", first)
		v.want(t, "after another drop of the first", 2)
		time.Sleep(time.Second)
		v.Drop("list 1", time.Now().Add(time.Hour)) // the clock was set back
		time.Sleep(time.Second)
		v.want(t, "after the drop of one from the future", 3)
		v.want(t, "later", 3)
	})
}

// A failure is not cached and makes no pause: the answers that need the value
// pause by themselves.
func TestFailureOfAValueIsNotCached(t *testing.T) {
	v := newValues(t)
	v.err = errors.New("limited")
	for range 2 {
		if _, _, err := v.fetch(t, "list 1"); !errors.Is(err, v.err) {
			t.Errorf("%v", err)
		}
	}
	v.err = nil
	v.want(t, "when it works again", 3)
}

// An operator sees and counts values as answers.
func TestValuesAreInspected(t *testing.T) {
	v := newValues(t)
	v.want(t, "first", 1)
	spaces := v.cache.Spaces("music")
	if len(spaces) != 1 || spaces[0].Name() != "music/playlist" {
		t.Fatalf("%d spaces", len(spaces))
	}
	entries := 0
	spaces[0].Walk(func(i EntryInfo) bool {
		if entries++; i.State != policy.Fresh || i.Bytes == 0 || i.Meta.Source != "step" {
			t.Errorf("%+v", i)
		}
		return true
	})
	if entries != 1 {
		t.Errorf("%d entries", entries)
	}
}

// A flood of values of callers' input does not evict those that all answers need.
func TestFloodOfValuesSparesSharedOnes(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	c := newCache(t, Config{Memory: near.MinMemory})
	key, flood := openValues(c, "sjsp/key", policy.Shared), openValues(c, "music/playlist", policy.Keyed)
	asked := 0
	want := func() {
		t.Helper()
		_, _, err := key.Get(t.Context(), "k", func(context.Context) (any, error) { asked++; return "signing key", nil })
		if err != nil || asked != 1 {
			t.Fatalf("asked %d times: %v", asked, err)
		}
	}
	want()
	large := make([]byte, 100<<10)
	for i := range 400 {
		_, _, err := flood.Get(t.Context(), string(rune('a'+i)), func(context.Context) (any, error) { return string(large), nil })
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	want()
}
