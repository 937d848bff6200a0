package host

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"sundry/cache/clients"
)

// queueTime is how long a call waits for a slot: a caller that would wait longer is
// better served by a refusal at once.
const queueTime = 250 * time.Millisecond

// ErrBusy means that no slot was free.
var ErrBusy = errors.New("too many concurrent calls")

// slots bound how many calls run at the same time, with a short queue, and how many of
// these are one client's.
type slots struct {
	running *semaphore.Weighted
	calls   *clients.Limit // that run or wait
}

// newSlots lets limit calls run, and queue calls wait.
func newSlots(limit, queue int64) *slots {
	return &slots{running: semaphore.NewWeighted(limit), calls: clients.NewLimit(limit + queue)}
}

// acquire takes a slot for the client of ctx; release must be called once. The error is
// ErrBusy, or ctx's.
func (s *slots) acquire(ctx context.Context) (release func(), err error) {
	client := clients.From(ctx)
	if !s.calls.Take(client, 1) {
		return nil, ErrBusy
	}
	if err := s.wait(ctx); err != nil {
		s.calls.Give(client, 1)
		return nil, err
	}
	return func() {
		s.running.Release(1)
		s.calls.Give(client, 1)
	}, nil
}

// wait waits for a slot, but no longer than queueTime.
func (s *slots) wait(ctx context.Context) error {
	if s.running.TryAcquire(1) {
		return nil
	}
	wait, cancel := context.WithTimeout(ctx, queueTime)
	defer cancel()
	switch {
	case s.running.Acquire(wait, 1) == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return ErrBusy
}

// Bounds of work without a declared host.
const (
	// targetsInAll is how many calls of caller-supplied targets run at the same
	// time, and targetsEach how many of them to one target.
	targetsInAll = 256
	targetsEach  = 8
	// drawingQueue is how many drawings wait per core: about as many small ones as
	// a core draws within queueTime.
	drawingQueue = 128
)

// Work bounds the sources without a declared host. The zero value is ready to use;
// it is safe for concurrent use.
type Work struct {
	once    sync.Once
	drawing *slots // one per core: more at the same time would only take more memory
	inAll   *slots
	mu      sync.Mutex
	targets map[string]*target
}

// target is a caller-supplied target that calls run to.
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

// EnterDrawing takes a slot for drawing, and then yields to goroutines that are
// ready to run. Without the yield, drawings would wait for each other in the
// scheduler's queue, where nothing bounds them, and hits would wait among them;
// with it they wait for the slot, and too many are refused.
func (w *Work) EnterDrawing(ctx context.Context) (release func(), err error) {
	w.open()
	release, err = w.drawing.acquire(ctx)
	if err == nil {
		runtime.Gosched()
	}
	return release, err
}

// EnterTarget takes a slot for a call of a client-supplied target.
func (w *Work) EnterTarget(ctx context.Context, name string) (release func(), err error) {
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

// forget removes a target without calls, so that the calls bound their number.
func (w *Work) forget(name string, t *target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(w.targets, name)
	}
}
