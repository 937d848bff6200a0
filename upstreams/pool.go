package upstreams

import (
	"context"
	"sync"
)

// pool is an amount of memory in bytes. Whoever finds enough takes it, also while others
// wait for more: they may wait for the very reply that needs a little to be done. It is
// safe for concurrent use.
type pool struct {
	mu    sync.Mutex
	free  int64
	freed chan struct{} // closed when some is given back; nil: nobody waits
}

// try takes n bytes, if they are free; else it returns what is closed when some are given
// back.
func (p *pool) try(n int64) (ok bool, freed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free >= n {
		p.free -= n
		return true, nil
	}
	if p.freed == nil {
		p.freed = make(chan struct{})
	}
	return false, p.freed
}

// take waits until n bytes are free.
func (p *pool) take(ctx context.Context, n int64) error {
	for {
		ok, freed := p.try(n)
		if ok {
			return nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// give gives n bytes back.
func (p *pool) give(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free += n
	if p.freed != nil {
		close(p.freed)
		p.freed = nil
	}
}
