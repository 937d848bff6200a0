package live

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"sundry/cache"
)

// board is a store that several tuners share and watch, each over a line of its
// own.
type board struct {
	File
	watching sync.Mutex
	watchers []func()
}

func (b *board) notify() {
	b.watching.Lock()
	defer b.watching.Unlock()
	for _, w := range b.watchers {
		go w()
	}
}

// put replaces the document behind everybody's back.
func (b *board) put(doc []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mem = doc
}

// line is one tuner's way to the board, and what goes wrong on it.
type line struct {
	*board
	faults  sync.Mutex
	down    bool // nothing gets through
	deaf    bool // notices are lost
	failing int  // so many reads fail from now on
	silent  int  // so many changes are kept, and their answers lost
	dies    bool // and then nothing gets through

	readOnly bool // changes are refused
	reads    int
}

var errAway = errors.New("away")

func (l *line) Load(ctx context.Context) ([]byte, error) {
	if l.breaks() {
		return nil, errAway
	}
	return l.board.Load(ctx)
}

func (l *line) breaks() bool {
	l.faults.Lock()
	defer l.faults.Unlock()
	l.reads++
	if l.failing > 0 {
		l.failing--
		return true
	}
	return l.down
}

func (l *line) Swap(ctx context.Context, old, value []byte) (bool, error) {
	l.faults.Lock()
	defer l.faults.Unlock()
	if l.down || l.readOnly {
		return false, errAway
	}
	ok, err := l.File.Swap(ctx, old, value)
	l.notify()
	if l.silent > 0 {
		l.silent--
		l.down = l.down || l.dies
		return false, errAway
	}
	return ok, err
}

func (l *line) Watch(ctx context.Context, changed func()) {
	l.watching.Lock()
	l.watchers = append(l.watchers, func() {
		l.faults.Lock()
		lost := l.deaf || l.down
		l.faults.Unlock()
		if !lost {
			changed()
		}
	})
	l.watching.Unlock()
	changed()
	<-ctx.Done()
}

// now sets what goes wrong from now on.
func (l *line) now(fault func(*line)) {
	l.faults.Lock()
	defer l.faults.Unlock()
	fault(l)
}

func (l *line) readSoFar() int {
	l.faults.Lock()
	defer l.faults.Unlock()
	return l.reads
}

// away cuts an instance off from the store, or brings it back.
func (l *line) away(yes bool) { l.now(func(l *line) { l.down = yes }) }

// applied records what was put into force.
type applied struct {
	mu    sync.Mutex
	live  []map[string]map[string]string
	seen  []int64 // orders carried out
	marks map[string]cache.Purge
	fails error
}

func (a *applied) apply(e Effect) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, o := range e.Orders {
		a.seen = append(a.seen, o.Seq)
	}
	a.marks = e.Purges
	if a.fails == nil {
		a.live = append(a.live, e.Knobs)
	}
	return a.fails
}

func (a *applied) last() map[string]map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live[len(a.live)-1]
}

func (a *applied) orders() []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}

func (a *applied) purges() map[string]cache.Purge {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.marks
}

// fail lets knobs be applied no more, or again.
func (a *applied) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fails = err
}

func contextFor(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

func fine(map[string]map[string]string) error { return nil }

func newTuner(store Store) (*Tuner, *applied) {
	a := &applied{}
	return tunerWith(store, fine, a), a
}

func tunerWith(store Store, check func(map[string]map[string]string) error, a *applied) *Tuner {
	t, err := NewTuner(TunerConfig{Store: store, Check: check, Apply: a.apply, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err) // without metrics nothing can be wrong
	}
	return t
}

// ttl sets ip's.
func ttl(v string, d time.Duration) Change {
	return Change{By: "test", Do: "knobs", Target: "ip", Knobs: map[string]string{"ttl": v}, For: d}
}

// fleet is two tuners that share a board; what the second applies is watched.
type fleet struct {
	*testing.T
	ctx      context.Context
	near     *line // the first's
	far      *line // the second's
	one, two *Tuner
	at       *applied
}

// together runs a story of two instances in a bubble.
func together(t *testing.T, story func(*fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := &board{}
		f := &fleet{T: t, near: &line{board: store}, far: &line{board: store}}
		f.one, _ = newTuner(f.near)
		f.two, f.at = newTuner(f.far)
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
	s, err := f.one.Change(f.ctx, c)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func (f *fleet) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (f *fleet) stored() []byte {
	f.Helper()
	b, err := f.near.board.Load(f.ctx)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

// agree checks that both instances and the store have come to the same.
func (f *fleet) agree() *Settings {
	f.Helper()
	one, two := f.one.Settings(), f.two.Settings()
	var stored Settings
	if err := json.Unmarshal(f.stored(), &stored); err != nil || !one.equals(two) || !one.equals(&stored) {
		f.Errorf("%v\n%+v\n%+v\n%+v", err, one, two, &stored)
	}
	if n := f.one.Waiting() + f.two.Waiting(); n != 0 || testutil.ToFloat64(f.one.seen.pending) != 0 {
		f.Errorf("%d changes wait", n)
	}
	return one
}
