package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache/policy"
)

// sharedStore is a store that several replicators share and watch, each over a
// connection of its own.
type sharedStore struct {
	File
	watching sync.Mutex
	watchers []func()
}

func (s *sharedStore) notify() {
	s.watching.Lock()
	defer s.watching.Unlock()
	for _, w := range s.watchers {
		go w()
	}
}

// put replaces what is stored, and notifies nobody.
func (s *sharedStore) put(value []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mem = value
}

// connection of one replicator to the store, with the faults injected into it.
type connection struct {
	*sharedStore
	faults  sync.Mutex
	down    bool // nothing gets through
	deaf    bool // notices are lost
	failing int  // so many reads fail from now on
	silent  int  // so many changes are stored, and their answers lost
	dies    bool // with silent: and then nothing gets through

	readOnly bool // changes are refused
	reads    int

	changed, lost func() // the calls of its watch
}

var errAway = errors.New("away")

func (c *connection) Load(ctx context.Context) ([]byte, error) {
	if c.breaks() {
		return nil, errAway
	}
	return c.sharedStore.Load(ctx)
}

func (c *connection) breaks() bool {
	c.faults.Lock()
	defer c.faults.Unlock()
	c.reads++
	if c.failing > 0 {
		c.failing--
		return true
	}
	return c.down
}

func (c *connection) CompareAndSwap(ctx context.Context, old, value []byte) (bool, error) {
	return c.write(ctx, c.File.CompareAndSwap, old, value)
}

func (c *connection) Repair(ctx context.Context, damaged, value []byte) (bool, error) {
	return c.write(ctx, c.File.Repair, damaged, value)
}

func (c *connection) write(ctx context.Context, swap func(context.Context, []byte, []byte) (bool, error), old, value []byte) (bool, error) {
	c.faults.Lock()
	defer c.faults.Unlock()
	if c.down || c.readOnly {
		return false, errAway
	}
	ok, err := swap(ctx, old, value)
	c.notify()
	if c.silent > 0 {
		c.silent--
		c.down = c.down || c.dies
		return false, errAway
	}
	return ok, err
}

func (c *connection) Watch(ctx context.Context, changed, lost func()) {
	c.watching.Lock()
	c.watchers = append(c.watchers, func() {
		c.faults.Lock()
		unheard := c.deaf || c.down
		c.faults.Unlock()
		if !unheard {
			changed()
		}
	})
	c.watching.Unlock()
	c.inject(func(c *connection) { c.changed, c.lost = changed, lost })
	changed()
	<-ctx.Done()
}

// inject sets the faults from now on.
func (c *connection) inject(fault func(*connection)) {
	c.faults.Lock()
	defer c.faults.Unlock()
	fault(c)
}

func (c *connection) readCount() int {
	c.faults.Lock()
	defer c.faults.Unlock()
	return c.reads
}

// away cuts an instance off from the store, or brings it back.
func (c *connection) away(yes bool) { c.inject(func(c *connection) { c.down = yes }) }

// applied records what was put into force.
type applied struct {
	mu     sync.Mutex
	cache  []map[string]map[string]string // settings, each time
	ran    []int64                        // orders
	purged map[string]policy.Purge
	fails  error
}

func (a *applied) purge(purges map[string]policy.Purge, orders []Order) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, o := range orders {
		a.ran = append(a.ran, o.Seq)
	}
	a.purged = purges
}

func (a *applied) apply(e EffectiveSettings) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fails == nil {
		a.cache = append(a.cache, e.Cache)
	}
	return a.fails
}

func (a *applied) last() map[string]map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cache[len(a.cache)-1]
}

func (a *applied) orders() []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ran
}

func (a *applied) purges() map[string]policy.Purge {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.purged
}

// fail makes applying cache settings fail, or with nil succeed again.
func (a *applied) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fails = err
}

func contextFor(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

func valid(map[string]map[string]string) error { return nil }

func newReplicator(store Store) (*Replicator, *applied) {
	a := &applied{}
	return replicatorWith(store, valid, a), a
}

func replicatorWith(store Store, check func(map[string]map[string]string) error, a *applied) *Replicator {
	return NewReplicator(ReplicatorConfig{Store: store, Check: check, Purge: a.purge, Apply: a.apply, Log: slog.New(slog.DiscardHandler)})
}

// ttl sets that of endpoint ip.
func ttl(v string, d time.Duration) Change {
	return Change{By: "test", Do: "cache", Target: "ip", Cache: map[string]string{"ttl": v}, For: d}
}

// fleet is two replicators that share a store; what the second applies is
// recorded.
type fleet struct {
	*testing.T
	ctx              context.Context
	connOne, connTwo *connection
	one, two         *Replicator
	appliedTwo       *applied
}

// withFleet runs a story of two instances in a bubble.
func withFleet(t *testing.T, story func(*fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := &sharedStore{}
		f := &fleet{T: t, connOne: &connection{sharedStore: store}, connTwo: &connection{sharedStore: store}}
		f.one, _ = newReplicator(f.connOne)
		f.two, f.appliedTwo = newReplicator(f.connTwo)
		ctx, stop := context.WithCancel(t.Context())
		f.ctx = ctx
		go f.one.Run(ctx)
		go f.two.Run(ctx)
		synctest.Wait()
		story(f)
		stop()
		synctest.Wait()
	})
}

func (f *fleet) change(c Change) *Settings {
	f.Helper()
	if _, err := f.one.Change(f.ctx, c); err != nil {
		f.Fatal(err)
	}
	return f.one.Settings()
}

func (f *fleet) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (f *fleet) stored() []byte {
	f.Helper()
	b, err := f.connOne.sharedStore.Load(f.ctx)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

// ops returns the one-off operations that settings hold.
func (s *Settings) ops() []Order { return ordersOf(s.records, false) }

// stored returns settings as they are stored.
func stored(t *testing.T, s *Settings) []byte {
	t.Helper()
	b, err := s.encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// same reports whether settings are stored as the same.
func same(t *testing.T, a, b *Settings) bool {
	t.Helper()
	return string(stored(t, a)) == string(stored(t, b))
}

// decoded returns settings as another instance reads them.
func decoded(t *testing.T, s *Settings) *Settings {
	t.Helper()
	back, err := parse(stored(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// and makes more changes of settings, an hour after nine and later.
func and(t *testing.T, s *Settings, changes ...Change) *Settings {
	t.Helper()
	for i, c := range changes {
		c.ID = cmp.Or(c.ID, rand.Text())
		next, err := s.With(c, nine.Add(time.Hour+time.Duration(i)*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		s = next
	}
	return s
}

// agree checks that both instances and the store have come to the same.
func (f *fleet) agree() *Settings {
	f.Helper()
	one, two := f.one.Settings(), f.two.Settings()
	stored, err := parse(f.stored())
	if err != nil || !same(f.T, one, two) || !same(f.T, one, stored) {
		f.Errorf("%v\n%+v\n%+v\n%+v", err, one, two, stored)
	}
	if n := f.one.Pending() + f.two.Pending(); n != 0 || testutil.ToFloat64(f.one.metrics.pending) != 0 {
		f.Errorf("%d changes are pending", n)
	}
	return one
}
