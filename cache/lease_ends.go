package cache

import (
	"slices"
	"sync"
)

// leaseEnds tells fills that a lease was released that they wait for. It is bounded by
// the number of fills. The zero value is ready.
type leaseEnds struct {
	mu      sync.Mutex
	waiting map[string][]chan struct{}
	deaf    bool
}

// await begins to listen for the release of a key's lease: ended receives once for
// releases since the last receive. Call forget when nobody receives any more.
func (l *leaseEnds) await(key string) (ended <-chan struct{}, forget func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting == nil {
		l.waiting = map[string][]chan struct{}{}
	}
	c := make(chan struct{}, 1)
	l.waiting[key] = append(l.waiting[key], c)
	return c, func() { l.forget(key, c) }
}

func (l *leaseEnds) forget(key string, c chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := slices.DeleteFunc(l.waiting[key], func(other chan struct{}) bool { return other == c })
	if l.waiting[key] = rest; len(rest) == 0 {
		delete(l.waiting, key)
	}
}

// ended is called for each key whose lease was released. It never blocks.
func (l *leaseEnds) ended(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tell(l.waiting[key])
}

// hears is called with false when no release is heard of from now on, and with true when
// they are again. Whoever waits for one has to look then. It never blocks.
func (l *leaseEnds) hears(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.deaf = !yes; yes {
		return
	}
	for _, waiting := range l.waiting {
		tell(waiting)
	}
}

// isDeaf reports whether no release is heard of.
func (l *leaseEnds) isDeaf() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deaf
}

func tell(waiting []chan struct{}) {
	for _, c := range waiting {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}
