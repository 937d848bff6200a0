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
	// covered means that a copy was at hand that neither a no nor a last resort
	// may replace. Without one, it does not count.
	covered bool
}

func newFailures() *failures {
	l, err := lru.NewLRU[string, failure](maxFailures, nil)
	if err != nil {
		panic(err) // only a size below one is refused
	}
	return &failures{lru: l}
}

// paused returns the failure that still forbids a try at now, with a copy that
// covers or without, and how long it does; or nil.
func (f *failures) paused(key string, covered bool, now time.Time) (wait time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, ok := f.lru.Peek(key); ok && now.Before(r.until) && (covered || !r.covered) {
		return r.until.Sub(now), r.err
	}
	return 0, nil
}

// add records a failure, and returns how long it forbids the next try: twice as
// long with each in a row, spread by a fifth, never past the policy's bound.
func (f *failures) add(key string, err error, covered bool, p *Policy, now time.Time) failure {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, _ := f.lru.Peek(key)
	spread := 0.8 + 0.2*rand.Float64()
	pause := time.Duration(float64(p.pauseAfter(r.times)) * spread)
	r = failure{err: err, until: now.Add(pause), times: r.times + 1, covered: covered}
	f.lru.Add(key, r)
	return r
}

// adopt takes over a failure of another instance's, unless the own one lasts
// longer.
func (f *failures) adopt(key string, r failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if own, ok := f.lru.Peek(key); !ok || r.until.After(own.until) {
		r.times = max(r.times, own.times)
		f.lru.Add(key, r)
	}
}

// pauseAfter is the pause when so many tries in a row failed before.
func (p *Policy) pauseAfter(times int) time.Duration {
	pause := max(0, min(p.Pause, p.PauseMax))
	for range times {
		switch {
		case pause == 0:
			return 0
		case pause > p.PauseMax/2:
			return p.PauseMax
		}
		pause *= 2
	}
	return pause
}

// clear forgets a key that was filled.
func (f *failures) clear(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lru.Remove(key)
}
