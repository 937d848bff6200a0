package live

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"

	"sundry/cache/durable"
)

// Mirror is a shared store with a copy in a file of this machine. A Redis without persistence is empty after a restart, and one that is
// restored from a backup has older settings. If the copy is newer when a process starts, it is stored again. Later, the process itself
// knows what it has read. A Mirror is safe for concurrent use.
type Mirror struct {
	Store // the shared one
	// Path is the file of the copy, which other processes of this machine may share.
	Path string
	// Sequence numbers the states of the value; the highest number is the latest. 0 stands for none, and for a damaged one.
	Sequence func(value []byte) int64
	Log      *slog.Logger

	mu     sync.Mutex
	left   bool   // the file is left alone
	copied []byte // content of the file; nil means that it was not read yet
}

// Load implements Store. A copy that cannot be read or written does no harm but a line in the log.
func (m *Mirror) Load(ctx context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, err := m.Store.Load(ctx)
	if err == nil && m.copied == nil {
		stored, err = m.restore(ctx, stored)
	}
	if err != nil {
		return nil, err
	}
	m.write(stored)
	return stored, nil
}

// restore stores the copy if it is newer than what is stored, and returns what is stored then.
func (m *Mirror) restore(ctx context.Context, stored []byte) ([]byte, error) {
	m.copied = m.read()
	if m.Sequence(m.copied) <= m.Sequence(stored) {
		return stored, nil
	}
	replace := m.Store.CompareAndSwap
	if len(stored) > 0 && m.Sequence(stored) == 0 {
		replace = m.Store.Repair // keeps what is damaged
	}
	swapped, err := replace(ctx, stored, m.copied)
	switch {
	case err != nil:
		m.copied = nil // the next Load tries again
		return nil, err
	case !swapped: // another instance was faster
		return m.Store.Load(ctx)
	}
	m.Log.Warn("Redis had lost it or had an older one: the copy was stored again", "file", m.Path)
	return m.copied, nil
}

// CompareAndSwap implements Store.
func (m *Mirror) CompareAndSwap(ctx context.Context, old, value []byte) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	swapped, err := m.Store.CompareAndSwap(ctx, old, value)
	if swapped {
		m.write(value)
	}
	return swapped, err
}

// Repair implements Store.
func (m *Mirror) Repair(ctx context.Context, damaged, value []byte) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	repaired, err := m.Store.Repair(ctx, damaged, value)
	if repaired {
		m.write(value)
	}
	return repaired, err
}

// read returns what the file has, or else nothing. A damaged copy is kept under another name. A file that cannot be read is left alone.
func (m *Mirror) read() []byte {
	b, err := durable.ReadFile(m.Path, maxFile)
	if err == nil && m.Sequence(b) == 0 && len(b) > 0 {
		err = durable.WriteFile(m.Path+".damaged", b)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.left = true
		m.Log.Warn("there will be no copy of what is stored in Redis: the file cannot be read, and is left as it is", "error", err)
	}
	if err != nil {
		return []byte{}
	}
	return b
}

// write copies what is stored to the file. What is damaged leaves the copy as it is.
func (m *Mirror) write(stored []byte) {
	if m.left || bytes.Equal(m.copied, stored) || m.Sequence(stored) == 0 {
		return
	}
	m.copied = bytes.Clone(stored)
	if err := durable.WriteFile(m.Path, stored); err != nil {
		m.Log.Warn("no copy of what is stored in Redis was written", "error", err)
	}
}

// Sequence is the number of the latest change of stored settings; 0 for damaged ones.
func Sequence(settings []byte) int64 {
	s, err := parse(settings)
	if err != nil {
		return 0
	}
	return s.Seq
}
