package far

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis may lack what this instance has: the write of an entry was given up, or Redis was emptied while the connections
// to it lasted. Both are reported when Redis takes writes again, by whoever reads its clock every few seconds.

const (
	// storeKey holds a random text that is written where there is none: another text means that Redis was emptied.
	storeKey = keyPrefix + "store"
	// storeLength is the most that is read of it, in bytes: anybody may have written it.
	storeLength = 64
	// mostLost is how many writes that were given up are remembered one by one.
	mostLost = 4096
)

// losses are the writes that were given up since they were last reported. The zero value is ready.
type losses struct {
	mu     sync.Mutex
	store  string               // the text in Redis; "" means that it is not known
	keys   map[string]time.Time // of the entries, with the time at which each was created
	all    bool                 // there were more than mostLost
	report func(key string, created time.Time)
}

// OnLoss has a function called for each entry whose write was given up, with the time at which it was created, once
// Redis takes writes again; with "" and zero if that may be every entry, as when Redis was emptied. It must not block.
func (t *Tier) OnLoss(report func(key string, created time.Time)) {
	t.losses.mu.Lock()
	defer t.losses.mu.Unlock()
	t.losses.report = report
}

// add remembers a write that was given up.
func (l *losses) add(j *job) {
	if j.kind != writing {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case len(l.keys) >= mostLost:
		l.addAll()
	case l.keys == nil:
		l.keys = map[string]time.Time{}
		fallthrough
	default:
		l.keys[j.cacheKey] = j.created
	}
}

// overflow remembers that writes were given up that nobody can name.
func (l *losses) overflow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addAll()
}

// addAll makes every entry one that may be lost. The caller holds mu.
func (l *losses) addAll() { l.all, l.keys = true, nil }

// takesWrites reports what was lost, after Redis has taken a write, and has this text.
func (l *losses) takesWrites(store string) {
	l.mu.Lock()
	if l.store != "" && l.store != store {
		l.addAll()
	}
	report, keys, all := l.report, maps.Clone(l.keys), l.all
	l.store, l.keys, l.all = store, nil, false
	l.mu.Unlock()
	if report == nil {
		return
	}
	if all {
		report("", time.Time{})
	}
	for key, created := range keys {
		report(key, created)
	}
}

// readClock reads the clock of Redis, and finds out whether Redis has lost anything.
func (v *SharedValue) readClock(ctx context.Context) (time.Time, error) {
	p := v.tier.sharedValues.Pipeline()
	now := p.Time(ctx)
	written := p.SetArgs(ctx, storeKey, rand.Text(), redis.SetArgs{Mode: "NX"})
	store := p.GetRange(ctx, storeKey, 0, storeLength-1)
	_, _ = p.Exec(ctx) // each reply has its error
	if err := written.Err(); (err == nil || errors.Is(err, redis.Nil)) && store.Val() != "" {
		v.tier.losses.takesWrites(store.Val())
	}
	return now.Result()
}
