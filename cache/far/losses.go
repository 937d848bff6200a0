package far

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Redis may lack what this instance has: the write of an entry was given up, or Redis was emptied while the connections
// to it lasted. Both are reported when Redis takes writes again, after its clock was read for a shared value.

const (
	// storeName is the name of a key beside a shared value. It holds a random text that is written only if there is none: another text
	// means that Redis was emptied.
	storeName = "store"
	// storeLength is the most that is read of the text, in bytes: anybody may have written it.
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
	if l.keys == nil {
		l.keys = map[string]time.Time{}
	}
	if l.keys[j.cacheKey] = j.created; len(l.keys) > mostLost {
		l.addAll()
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
	report, keys, all := l.report, l.keys, l.all
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

// findLosses asks the node of the value whether Redis takes writes and was emptied, and reports what is lost. An error is ignored: it is
// asked again.
func (v *SharedValue) findLosses(ctx context.Context) {
	p, key := v.tier.sharedValues.Pipeline(), v.sibling(storeName)
	written := p.SetArgs(ctx, key, rand.Text(), redis.SetArgs{Mode: "NX"})
	store := p.GetRange(ctx, key, 0, storeLength-1)
	_, _ = p.Exec(ctx) // each reply has its error
	if err := written.Err(); (err == nil || errors.Is(err, redis.Nil)) && store.Val() != "" {
		v.tier.losses.takesWrites(store.Val())
	}
}
