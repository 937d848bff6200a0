package status

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"sync"
	"time"
)

// version is the format's. A record of a later one is left alone, so that a rollout which is taken back loses nothing.
const version = 1

// largest is the size in bytes of the largest JSON that is read. A full record has 10 MB, with the largest numbers.
const largest = 12 << 20

// WriteEvery is how often Write should be called: a process that is killed loses that much.
const WriteEvery = 30 * time.Second

// swaps is how often a write is tried anew because another instance has written.
const swaps = 10

// ErrNotAValue means that a store has something there that is no value, such as a list of Redis.
var ErrNotAValue = errors.New("not a value")

// Store keeps the record, as bytes, for all instances that share it.
type Store interface {
	// Load returns nil where there is nothing yet.
	Load(ctx context.Context) ([]byte, error)
	// CompareAndSwap replaces old with value; false: something else is stored.
	CompareAndSwap(ctx context.Context, old, value []byte) (bool, error)
	// Repair replaces, with nil for damaged, what Load returns ErrNotAValue for; false: something else is stored.
	Repair(ctx context.Context, damaged, value []byte) (bool, error)
}

// Keeper adds what this process counts to the record in a store. It is safe for concurrent use.
type Keeper struct {
	store Store
	log   *slog.Logger
	name  string

	writing chan struct{} // is full during a Write: there is one at a time
	tried   []byte        // the last attempt; nil: it has succeeded. Guarded by writing
	trying  *Record       // what tried encodes

	mu     sync.Mutex // guards the rest
	stored []byte     // as last seen
	known  *Record    // stored, decoded; it is never changed. nil means that nothing was seen
	sent   Record     // what the attempt adds
	counts Record     // what was counted since
}

// NewKeeper does not read the store yet. Without one, the record is kept as long as the process lives.
func NewKeeper(store Store, log *slog.Logger) *Keeper {
	return &Keeper{store: store, log: log, name: rand.Text(), writing: make(chan struct{}, 1)}
}

// count counts requests that ended at an instant.
func (k *Keeper) count(name string, at time.Time, t Tally) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counts.Add(name, at, t)
}

// Record is what the store has, as last seen, with what was counted here since; now is for one that begins.
func (k *Keeper) Record(now time.Time) *Record {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := newRecord(now)
	if k.known != nil {
		r = k.known.clone()
	}
	r.merge(&k.sent)
	r.merge(&k.counts)
	return r
}

// Write adds to the store what was counted, finds incidents, and learns what others have added. What could not be
// written is written the next time. It may be called by many instances at once.
func (k *Keeper) Write(ctx context.Context, now time.Time) error {
	select {
	case k.writing <- struct{}{}:
		defer func() { <-k.writing }()
	case <-ctx.Done():
		return fmt.Errorf("write the status: %w", context.Cause(ctx))
	}
	for range swaps {
		if done, err := k.swap(ctx, now); done || err != nil {
			return err
		}
	}
	return errors.New("write the status: others wrote all the time")
}

func (k *Keeper) swap(ctx context.Context, now time.Time) (done bool, err error) {
	if ctx.Err() != nil { // a file is written whatever its context says
		return false, fmt.Errorf("write the status: %w", context.Cause(ctx))
	}
	stored, replace, err := k.load(ctx)
	if err != nil {
		return false, fmt.Errorf("read the status: %w", err)
	}
	if k.tried != nil && bytes.Equal(stored, k.tried) {
		k.arrived(stored, k.trying) // although it seemed to fail
	}
	k.send(now)
	r, err := k.decoded(stored, now)
	if err != nil {
		return false, err
	}
	r.merge(&k.sent)
	r.Judge(now)
	r.trim(now)
	if len(k.sent.Endpoints) > 0 {
		r.Writer = k.name
	}
	value, err := r.encode()
	if err != nil {
		return false, fmt.Errorf("write the status: %w", err)
	}
	if bytes.Equal(value, stored) {
		k.arrived(stored, r) // there is nothing new
		return true, nil
	}
	k.tried, k.trying = value, r
	if k.store != nil {
		if done, err = replace(ctx, stored, value); !done {
			return false, err
		}
	}
	k.arrived(value, r)
	return true, nil
}

// load returns what is stored, and the method of the store that replaces it.
func (k *Keeper) load(ctx context.Context) (stored []byte, replace func(ctx context.Context, old, value []byte) (bool, error), err error) {
	if k.store == nil {
		return k.stored, nil, nil
	}
	stored, err = k.store.Load(ctx)
	if errors.Is(err, ErrNotAValue) {
		k.log.Warn("the record of the status is no value: what this instance knows of it takes its place", "error", err)
		return nil, k.store.Repair, nil
	}
	return stored, k.store.CompareAndSwap, err
}

// send puts what was counted to what is being sent.
func (k *Keeper) send(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sent.merge(&k.counts)
	k.sent.trim(now)
	k.counts = Record{}
}

// arrived: what was sent is in the store, which has this record.
func (k *Keeper) arrived(stored []byte, r *Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tried, k.trying, k.stored, k.known, k.sent = nil, nil, stored, r, Record{}
}

// decoded is the record in the store. If there is none, or it is damaged, that which was last seen takes its place.
func (k *Keeper) decoded(stored []byte, now time.Time) (*Record, error) {
	if k.known != nil && bytes.Equal(stored, k.stored) {
		return k.known.clone(), nil
	}
	r, err := decode(stored)
	if errors.Is(err, errLater) {
		return nil, err
	}
	if err != nil {
		k.log.Warn("the record of the status is damaged: what this instance knows of it takes its place", "error", err)
	}
	if r == nil && k.known != nil {
		r = k.known.clone()
	}
	if r == nil {
		r = newRecord(now)
	}
	return r, nil
}

var errLater = errors.New("the status was written by a later version of this program: it is left alone")

// errLarge means that a record is larger than any that instances write.
var errLarge = errors.New("too large for a record of the status")

// decode reads a record; nil for none.
func decode(b []byte) (*Record, error) {
	if len(b) == 0 {
		return nil, nil //nolint:nilnil // see above
	}
	if len(b) > largest {
		return nil, errLarge
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(z, largest+1))
	if err != nil {
		return nil, err
	}
	if len(text) > largest {
		return nil, errLarge
	}
	r := &Record{}
	err = json.Unmarshal(text, r)
	if r.Version > version {
		return nil, errLater
	}
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(r.Endpoints, func(_ string, p *past) bool { return p == nil || p.Days == nil || p.Slots == nil })
	r.Version = version
	return r, nil
}

// encode writes a record, always the same for the same.
func (r *Record) encode() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // a constant of package gzip
	_, _ = z.Write(text)                            // a Buffer takes everything
	_ = z.Close()
	return b.Bytes(), nil
}
