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

// Mirror is a shared store with a copy in a file of this machine. A Redis without persistence is empty after a restart: when a process
// starts, the copy is stored again if nothing is stored. A Mirror is safe for concurrent use.
type Mirror struct {
	Store // the shared one
	// Path is the file of the copy, which other processes of this machine may share.
	Path string
	Log  *slog.Logger

	mu     sync.Mutex
	copied []byte // content of the file; nil means that it was neither restored nor written yet
}

// Load implements Store. A copy that cannot be read or written does no harm but a line in the log.
func (m *Mirror) Load(ctx context.Context) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, err := m.Store.Load(ctx)
	if err == nil && len(stored) == 0 && m.copied == nil {
		stored, err = m.restore(ctx)
	}
	if err == nil {
		m.write(stored)
	}
	return stored, err
}

// restore stores the copy, unless another instance was faster, and returns what is stored then.
func (m *Mirror) restore(ctx context.Context) ([]byte, error) {
	b, err := durable.ReadFile(m.Path, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		m.Log.Warn("the copy of what is stored in Redis cannot be read", "error", err)
	}
	if err != nil || len(b) == 0 {
		return nil, nil
	}
	if _, err := m.Store.CompareAndSwap(ctx, nil, b); err != nil {
		return nil, err
	}
	m.Log.Warn("Redis was empty: what the copy has was stored again", "file", m.Path)
	return m.Store.Load(ctx)
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

// write copies what is stored to the file. An empty store leaves the copy as it is.
func (m *Mirror) write(stored []byte) {
	if len(stored) == 0 || bytes.Equal(m.copied, stored) {
		return
	}
	m.copied = bytes.Clone(stored)
	if err := durable.WriteFile(m.Path, stored); err != nil {
		m.Log.Warn("no copy of what is stored in Redis was written", "error", err)
	}
}
