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
// restored from a backup lacks what came later. What the copy has and the store lacks is stored again when a process starts. Later, the
// process itself knows what it has read. A Mirror is safe for concurrent use.
type Mirror struct {
	Store // the shared one
	// Path is the file of the copy, which other processes of this machine may share.
	Path string
	// Sound reports whether a value is neither missing nor damaged.
	Sound func(value []byte) bool
	// Merge returns what is to be stored: the stored value if it lacks nothing of the copy. Both are sound.
	Merge func(copied, stored []byte) ([]byte, error)
	Log   *slog.Logger

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

// restore stores again what the copy has and the store lacks, and returns what is stored then.
func (m *Mirror) restore(ctx context.Context, stored []byte) (_ []byte, err error) {
	m.copied = m.read()
	defer func() {
		if err != nil {
			m.copied = nil // the next Load tries again
		}
	}()
	for {
		value, err := m.merged(stored)
		if err != nil || bytes.Equal(value, stored) {
			return stored, err
		}
		replace := m.Store.CompareAndSwap
		if len(stored) > 0 && !m.Sound(stored) {
			replace = m.Store.Repair // keeps what is damaged
		}
		swapped, err := replace(ctx, stored, value)
		if err != nil {
			return nil, err
		}
		if swapped {
			m.Log.Warn("Redis lacked some of it: what the copy has was stored again", "file", m.Path)
			return value, nil
		}
		if stored, err = m.Store.Load(ctx); err != nil { // another instance was faster
			return nil, err
		}
	}
}

// merged returns what is to be stored, of the copy and what is stored now.
func (m *Mirror) merged(stored []byte) ([]byte, error) {
	switch {
	case len(m.copied) == 0:
		return stored, nil
	case !m.Sound(stored):
		return m.copied, nil
	}
	return m.Merge(m.copied, stored)
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
	if err == nil && len(b) > 0 && !m.Sound(b) {
		b, err = []byte{}, durable.WriteFile(m.Path+".damaged", b)
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
	if m.left || bytes.Equal(m.copied, stored) || !m.Sound(stored) {
		return
	}
	m.copied = bytes.Clone(stored)
	if err := durable.WriteFile(m.Path, stored); err != nil {
		m.Log.Warn("no copy of what is stored in Redis was written", "error", err)
	}
}
