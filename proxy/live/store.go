package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Store keeps the settings document.
type Store interface {
	// Load reads it; nil when there is none yet.
	Load(ctx context.Context) ([]byte, error)
	// Swap replaces the old one, unless another came between: then false.
	Swap(ctx context.Context, old, value []byte) (bool, error)
	// Watch calls changed when the document may have changed elsewhere, until
	// ctx ends.
	Watch(ctx context.Context, changed func())
}

// File keeps the document in a file, for an instance without Redis; with the
// path "" in memory alone, where a restart forgets it.
type File struct {
	Path string
	mu   sync.Mutex
	mem  []byte
}

// Load implements Store.
func (f *File) Load(context.Context) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.load()
}

func (f *File) load() ([]byte, error) {
	if f.Path == "" {
		return f.mem, nil
	}
	b, err := os.ReadFile(f.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errFile, err)
	}
	return b, nil
}

// errFile is of a file that cannot be read: a mistake to be mended, and no outage
// to be waited out.
var errFile = errors.New("the state file cannot be read")

// Swap implements Store. The file is replaced whole: a crash leaves the old one.
func (f *File) Swap(_ context.Context, old, value []byte) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	have, err := f.load()
	if err != nil || !bytes.Equal(have, old) {
		return false, err
	}
	if f.Path == "" {
		f.mem = value
		return true, nil
	}
	return true, replace(f.Path, value)
}

// Watch implements Store: nobody else changes the document.
func (f *File) Watch(ctx context.Context, changed func()) {
	changed()
	<-ctx.Done()
}

// replace writes a file beside and moves it into place.
func replace(path string, value []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".sundry-*")
	if err != nil {
		return fmt.Errorf("keep settings: %w", err)
	}
	_, err = tmp.Write(value)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("keep settings: %w", err)
	}
	return nil
}
