package live

import (
	"context"
	"errors"
	"sync"
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
