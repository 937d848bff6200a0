package host

import (
	"container/list"
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"sundry/cache/clients"
)

// queueTime is how long a call waits for a slot: a caller that would wait longer is
// better served by a refusal at once.
const queueTime = 250 * time.Millisecond

// ErrBusy means that no slot was free.
var ErrBusy = errors.New("too many concurrent calls")

// slots bound how many calls run at the same time, with a short queue. A client gets half of both at most.
type slots struct {
	running, waiting *clients.Limit

	mu    sync.Mutex
	queue list.List // of *waiter, the one that came first in front
}

// waiter is a call that waits for a slot.
type waiter struct {
	client  clients.ID
	granted chan struct{} // closed once it has the slot
}

// newSlots lets limit calls run, and queue calls wait.
func newSlots(limit, queue int64) *slots {
	return &slots{running: clients.NewHalves(limit), waiting: clients.NewHalves(queue)}
}

// acquire takes a slot for the client of ctx; release must be called once. The error is
// ErrBusy, or ctx's.
func (s *slots) acquire(ctx context.Context) (release func(), err error) {
	client := clients.From(ctx)
	if err := s.take(ctx, client); err != nil {
		return nil, err
	}
	return func() { s.release(client) }, nil
}

// take is acquire for a client, which must call release.
func (s *slots) take(ctx context.Context, client clients.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.running.Take(client, 1):
		return nil
	case !s.waiting.Take(client, 1):
		return ErrBusy
	}
	w := &waiter{client, make(chan struct{})}
	e := s.queue.PushBack(w)
	s.mu.Unlock()
	err := w.wait(ctx)
	s.mu.Lock()
	select {
	case <-w.granted: // perhaps in the last moment
		return nil
	default:
		s.leave(e)
		return err
	}
}

// leave takes a waiter out of the queue. Its place there is free at once, although its goroutine may run only later.
func (s *slots) leave(e *list.Element) {
	w, _ := s.queue.Remove(e).(*waiter)
	s.waiting.Give(w.client, 1)
}

// wait waits for a slot, but no longer than queueTime.
func (w *waiter) wait(ctx context.Context) error {
	timer := time.NewTimer(queueTime)
	defer timer.Stop()
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return ErrBusy
	}
}

// release gives a slot back, and grants it to the first one that may have it.
func (s *slots) release(client clients.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running.Give(client, 1)
	for e := s.queue.Front(); e != nil; {
		w, next := e.Value.(*waiter), e.Next()
		if s.running.Take(w.client, 1) {
			s.leave(e)
			close(w.granted)
		}
		e = next
	}
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
