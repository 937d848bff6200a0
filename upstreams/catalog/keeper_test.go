package catalog

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cache"
	"sundry/upstreams"
)

func newCache(t *testing.T) *cache.Cache {
	t.Helper()
	c, err := cache.New(cache.Config{Memory: cache.MinMemory})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// story is a shelf whose step counts how often it was asked.
type story struct {
	cache *cache.Cache
	shelf upstreams.Shelf
	asked int
	err   error
}

func newStory(t *testing.T) *story {
	c := newCache(t)
	return &story{cache: c, shelf: Keeper{Cache: c}.Shelf("music", upstreams.ShelfRule{
		Step: "playlist", Version: "v1", Lasts: time.Hour, Timeout: 5 * time.Second,
	})}
}

func (s *story) fetch(t *testing.T, id string) (any, time.Time, error) {
	t.Helper()
	return s.shelf.Fetch(t.Context(), id, func(context.Context) (any, error) {
		s.asked++
		return map[string]any{"songs": []any{s.asked}}, s.err
	})
}

func (s *story) want(t *testing.T, what string, asked int) {
	t.Helper()
	if _, _, err := s.fetch(t, "list 1"); err != nil || s.asked != asked {
		t.Errorf("%s: asked %d times, want %d: %v", what, s.asked, asked, err)
	}
}

// What a step keeps lives under the cache's roof: it ends, and a purge of its
// endpoint, and a refusal, end it earlier.
func TestWhatStepsKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStory(t)
		begin := time.Now()
		s.want(t, "first", 1)
		time.Sleep(time.Hour - time.Second)
		s.want(t, "within its time", 1)
		if _, born, _ := s.fetch(t, "list 1"); born.Sub(begin).Abs() > time.Millisecond {
			t.Errorf("born %v after it was asked for", born.Sub(begin))
		}
		time.Sleep(2 * time.Second)
		s.want(t, "after its time", 2)
		time.Sleep(time.Second)
		s.cache.SetPurges(map[string]cache.Purge{"music": {Hard: time.Now()}})
		time.Sleep(time.Second)
		s.want(t, "after a purge of its endpoint", 3)
		s.cache.SetPurges(map[string]cache.Purge{"yiyan": {Hard: time.Now()}})
		s.want(t, "after a purge of another", 3)
		time.Sleep(time.Second)
		s.shelf.Drop("list 1")
		time.Sleep(time.Second)
		s.want(t, "after it was dropped", 4)
	})
}

// A step that failed keeps nothing, and may be asked again at once: the answers
// that want it pause by themselves.
func TestWhatFailedIsNotKept(t *testing.T) {
	s := newStory(t)
	s.err = &upstreams.Error{Kind: upstreams.Limited}
	for range 2 {
		if _, _, err := s.fetch(t, "list 1"); upstreams.KindOf(err) != upstreams.Limited {
			t.Errorf("%v", err)
		}
	}
	s.err = nil
	s.want(t, "when it works again", 3)
}

// An operator sees and counts what steps keep.
func TestWhatStepsKeepIsInspected(t *testing.T) {
	s := newStory(t)
	s.want(t, "first", 1)
	spaces := s.cache.Spaces("music")
	if len(spaces) != 1 || spaces[0].Name() != "music/playlist" {
		t.Fatalf("%d spaces", len(spaces))
	}
	entries := 0
	spaces[0].Walk(func(i cache.EntryInfo) bool {
		if entries++; i.State != cache.Fresh || i.Bytes == 0 {
			t.Errorf("%+v", i)
		}
		return true
	})
	if entries != 1 {
		t.Errorf("%d entries", entries)
	}
}

// One flood of callers' ids does not drive out what everybody needs.
func TestAFloodOfListsLeavesTheKeys(t *testing.T) {
	c := newCache(t)
	key := Keeper{Cache: c}.Shelf("sjsp", upstreams.ShelfRule{Step: "key", Version: "v1", Lasts: time.Hour, Timeout: time.Second, Shared: true})
	flood := Keeper{Cache: c}.Shelf("music", upstreams.ShelfRule{Step: "playlist", Version: "v1", Lasts: time.Hour, Timeout: time.Second})
	asked := 0
	want := func() {
		t.Helper()
		_, _, err := key.Fetch(t.Context(), "k", func(context.Context) (any, error) { asked++; return "signing key", nil })
		if err != nil || asked != 1 {
			t.Fatalf("asked %d times: %v", asked, err)
		}
	}
	want()
	large := make([]byte, 100<<10)
	for i := range 400 {
		_, _, err := flood.Fetch(t.Context(), string(rune('a'+i)), func(context.Context) (any, error) { return string(large), nil })
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	want()
}
