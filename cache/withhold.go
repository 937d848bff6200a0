package cache

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"sundry/cache/jitter"
	"sundry/cache/policy"
)

// Thrifty is a Loader whose loads draw from a quota, on which callers without a copy
// depend.
type Thrifty interface {
	Loader
	// Withholds reports whether a refresh is to be withheld. worth says whether it is
	// worth a call where this share, 0 to 1, is left of what refreshes may take.
	Withholds(ctx context.Context, worth func(left float64) bool) bool
}

// errWithheld says why a stale copy is served without a try.
var errWithheld = errors.New("the refresh was withheld: little is left of the quota")

// withheld remembers the keys whose refresh was withheld, each for a pause, after which
// it is decided anew. It is bounded: the oldest are forgotten. Use newWithheld.
type withheld struct {
	last  atomic.Int64 // the end of the last pause, in Unix nanoseconds
	mu    sync.Mutex
	until *lru.LRU[string, time.Time]
}

func newWithheld() *withheld {
	l, err := lru.NewLRU[string, time.Time](maxFailures, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &withheld{until: l}
}

// paused reports whether the key's refresh was withheld a while ago.
func (w *withheld) paused(key string, now time.Time) bool {
	if now.UnixNano() >= w.last.Load() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	until, ok := w.until.Peek(key)
	return ok && now.Before(until)
}

func (w *withheld) add(key string, until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until.Add(key, until)
	w.last.Store(max(w.last.Load(), until.UnixNano()))
}

// withholds reports whether the refresh of a key is withheld, whose copy is in this state
// and fresh for left. It is not decided again before the longest pause after failures
// has passed, less up to a fifth: by then, the quota may be restored.
func (s *Space) withholds(ctx context.Context, key string, load Loader, state policy.State, left time.Duration, now time.Time) bool {
	t, ok := load.(Thrifty)
	switch {
	case !ok:
		return false
	case s.cache.withheld.paused(key, now):
		return true
	case !t.Withholds(ctx, func(quota float64) bool { return s.policy.WorthCall(state, left, quota) }):
		return false
	}
	s.cache.withheld.add(key, now.Add(jitter.Below(s.policy.PauseMax, 0.2)))
	return true
}

// withheldCopy is the copy to be served in the place of a load that is withheld; nil: it
// is not.
func (f *fill) withheldCopy(ctx context.Context) *flightResult {
	now := time.Now()
	got := f.usableCopy(now)
	if got == nil {
		return nil
	}
	state, left := f.state(f.key, &got.entry.Meta, now)
	if !f.withholds(ctx, f.key, f.loader, state, left, now) {
		return nil
	}
	return got
}
