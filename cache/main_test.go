package cache

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sundry/cache/entry"
	"sundry/cache/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a loader whose answers a test sets.
type script struct {
	mu    sync.Mutex
	calls atomic.Int64
	takes time.Duration
	err   error
	text  string
	make  func(n int64) (entry.Content, error)
}

func (s *script) set(change func(*script)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

func (s *script) Load(ctx context.Context, _ bool) (entry.Content, error) {
	n := s.calls.Add(1)
	s.mu.Lock()
	takes, err, text, build := s.takes, s.err, s.text, s.make
	s.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return entry.Content{}, ctx.Err()
	}
	switch {
	case build != nil:
		return build(n)
	case err != nil:
		return entry.Content{}, err
	case text == "":
		text = fmt.Sprintf("answer %d", n)
	}
	return textContent(text), nil
}

// textContent is an answer of one form with these bodies.
func textContent(texts ...string) entry.Content {
	var f entry.Form
	for _, t := range texts {
		b := entry.Body{Status: 200, Type: "text/plain", ETag: `"tag"`}
		b.Data = []byte(t)
		f = append(f, b)
	}
	return entry.Content{Source: "first", Forms: []entry.Form{f}}
}

// made is the entry that a load would make of a content then.
func made(t testing.TB, s *Space, key string, c entry.Content, created time.Time) *entry.Entry {
	t.Helper()
	e, err := s.entryOf(key, &c, created, &entry.Entry{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// usual is a policy without jitter, so that deadlines are exact.
func usual() policy.Policy {
	return policy.Policy{
		TTL: time.Minute, Grace: 10 * time.Minute, StaleIfError: time.Hour, Negative: 30 * time.Second,
		SoftTimeout: policy.DefaultSoftTimeout, FillTimeout: policy.DefaultFillTimeout, Pause: policy.DefaultPause, PauseMax: policy.DefaultPauseMax,
	}
}

func classed(c policy.Class) policy.Policy {
	p := usual()
	p.Class = c
	return p
}

func newCache(t testing.TB, cfg Config) *Cache {
	t.Helper()
	if cfg.Memory == 0 {
		cfg.Memory = 16 << 20
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func mustFetch(t *testing.T, s *Space, key string, l Loader) Answer {
	t.Helper()
	h, err := s.Get(t.Context(), key, Want{}, l)
	if err != nil {
		t.Fatalf("fetch %s: %v", key, err)
	}
	return h
}

func wantText(t *testing.T, h Answer, text string) {
	t.Helper()
	if got := string(h.Rep.Data); got != text {
		t.Errorf("got %q, want %q", got, text)
	}
}

func wantCalls(t *testing.T, s *script, n int64) {
	t.Helper()
	if got := s.calls.Load(); got != n {
		t.Errorf("%d calls upstream, want %d", got, n)
	}
}

var errDown = errors.New("upstream is down")

// leavesHot takes the entry of a key out of the hot table, as eviction does: it is in bigcache alone.
func leavesHot(t *testing.T, s *Space, key string) {
	t.Helper()
	queue := s.cache.near.Queue(s.policy.Class)
	raw, err := queue.Get(key)
	if err != nil {
		t.Fatal(err)
	}
	s.cache.near.Remove(s.policy.Class, key)
	if err := queue.Set(key, raw); err != nil {
		t.Fatal(err)
	}
}

// losesParts evicts the parts of the entry of a key.
func losesParts(t *testing.T, s *Space, key string) {
	t.Helper()
	lost := 0
	for _, class := range []policy.Class{s.policy.Class, policy.Large} {
		queue := s.cache.near.Queue(class)
		for it := queue.Iterator(); it.SetNext(); {
			if v, err := it.Value(); err == nil && strings.HasPrefix(v.Key(), key+"\x00") && queue.Delete(v.Key()) == nil {
				lost++
			}
		}
	}
	if lost == 0 {
		t.Fatalf("%s has no parts", key)
	}
}
