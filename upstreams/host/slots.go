package host

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// queueTime is the longest that a call waits for a place: who would wait longer
// is better off with a no at once.
const queueTime = 250 * time.Millisecond

// ErrBusy means that all places stayed taken.
var ErrBusy = errors.New("too many calls of this kind are running")

// slots bound what runs at the same time, with a short queue before them.
type slots struct {
	places *semaphore.Weighted
	queue  *semaphore.Weighted
}

// newSlots lets so many run, and so many wait.
func newSlots(limit, queue int64) *slots {
	return &slots{places: semaphore.NewWeighted(limit), queue: semaphore.NewWeighted(queue)}
}

// acquire takes a place; leave gives it back and must be called once. The error is
// ErrBusy, or ctx's.
func (s *slots) acquire(ctx context.Context) (leave func(), err error) {
	leave = func() { s.places.Release(1) }
	if s.places.TryAcquire(1) {
		return leave, nil
	}
	if !s.queue.TryAcquire(1) {
		return nil, ErrBusy
	}
	defer s.queue.Release(1)
	wait, cancel := context.WithTimeout(ctx, queueTime)
	defer cancel()
	switch {
	case s.places.Acquire(wait, 1) == nil:
		return leave, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	}
	return nil, ErrBusy
}

// Bounds of work that has no declared host.
const (
	// targetsInAll is how many connections to callers' targets run at once, and
	// targetsEach how many to one of them.
	targetsInAll = 256
	targetsEach  = 8
	// drawingQueue is how many drawings wait for a core, for each: about as many
	// small ones as a core draws before the first of them has waited too long.
	drawingQueue = 128
)

// Work bounds what sources do that ask no declared host. The zero value is
// ready; it is safe for concurrent use.
type Work struct {
	once    sync.Once
	drawing *slots // by cores: what waits for one only takes memory
	inAll   *slots
	mu      sync.Mutex
	targets map[string]*target
}

// target is one that calls run to.
type target struct {
	*slots
	users int // running or waiting
}

func (w *Work) open() {
	w.once.Do(func() {
		cores := int64(runtime.GOMAXPROCS(0))
		w.drawing, w.inAll = newSlots(cores, cores*drawingQueue), newSlots(targetsInAll, targetsInAll)
		w.targets = map[string]*target{}
	})
}

// EnterDrawing takes a place for drawing, and lets go first whoever can go on at once.
// Without that, drawings would wait for each other where no bound is seen, each
// in turn in the scheduler's queue, and hits among them; so they wait for the
// place, and those that are too many are refused.
func (w *Work) EnterDrawing(ctx context.Context) (leave func(), err error) {
	w.open()
	leave, err = w.drawing.acquire(ctx)
	if err == nil {
		runtime.Gosched()
	}
	return leave, err
}

// EnterTarget takes a place for asking a target that a caller named.
func (w *Work) EnterTarget(ctx context.Context, name string) (leave func(), err error) {
	w.open()
	inAll, err := w.inAll.acquire(ctx)
	if err != nil {
		return nil, err
	}
	t := w.target(name)
	each, err := t.acquire(ctx)
	if err != nil {
		w.forget(name, t)
		inAll()
		return nil, err
	}
	return func() { each(); w.forget(name, t); inAll() }, nil
}

func (w *Work) target(name string) *target {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.targets[name]
	if t == nil {
		t = &target{slots: newSlots(targetsEach, targetsEach)}
		w.targets[name] = t
	}
	t.users++
	return t
}

// forget drops a target that nobody asks any more, so that their number is
// bounded by that of the calls.
func (w *Work) forget(name string, t *target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(w.targets, name)
	}
}
