package cache

import (
	"math/rand/v2"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxFailures bounds the records of keys that could not be filled.
const maxFailures = 20_000

// failures remembers which keys failed of late, so that a sick upstream is not
// asked again by every request. The zero value is not usable; see newFailures.
type failures struct {
	mu  sync.Mutex
	lru *lru.LRU[string, failure]
}

type failure struct {
	err   error
	until time.Time
	times int
}

func newFailures() *failures {
	l, err := lru.NewLRU[string, failure](maxFailures, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &failures{lru: l}
}

// paused returns the failure that still forbids a try at now and how long it
// does, or nil.
func (f *failures) paused(key string, now time.Time) (wait time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, ok := f.lru.Peek(key); ok && now.Before(r.until) {
		return r.until.Sub(now), r.err
	}
	return 0, nil
}

// add records a failure: the pause doubles with each in a row, spread by a
// fifth, never past the policy's bound.
func (f *failures) add(key string, err error, p *Policy, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, _ := f.lru.Peek(key)
	pause := min(p.Pause<<min(r.times, 20), p.PauseMax)
	spread := 0.8 + 0.4*rand.Float64()
	f.lru.Add(key, failure{err, now.Add(time.Duration(float64(pause) * spread)), r.times + 1})
}

// clear forgets a key that was filled.
func (f *failures) clear(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lru.Remove(key)
}
