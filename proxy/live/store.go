package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"sundry/cache/durable"
)

// Store keeps the settings as bytes that all instances share: a far.SharedValue does so in Redis, a File without.
type Store interface {
	// Load reads the settings; nil when there are none yet, far.ErrNotAValue when what is
	// there are no bytes.
	Load(ctx context.Context) ([]byte, error)
	// CompareAndSwap replaces old with value; false when old is not what
	// is stored.
	CompareAndSwap(ctx context.Context, old, value []byte) (bool, error)
	// Repair replaces damaged settings, or with nil what are no bytes; false when something
	// else is stored. The damaged ones are kept under another name, until others are.
	Repair(ctx context.Context, damaged, value []byte) (bool, error)
	// ClockOffset is by how much a clock that all instances share is ahead of this machine's.
	ClockOffset(ctx context.Context) (time.Duration, error)
	// Watch calls changed when another instance may have changed them, and lost when
	// from now on it would not hear of that, until changed is called again. It returns
	// when ctx ends. Notices may be lost.
	Watch(ctx context.Context, changed, lost func())
}

// maxFile is the size in bytes of the largest file that is read. Settings have 6 MiB at most, with the longest keys in their
// audit log.
const maxFile = 16 << 20

// File keeps settings in a file, for an instance without Redis; with the path ""
// in memory only, where they are lost at a restart.
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
	b, err := durable.ReadFile(f.Path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", f.Path, err)
	}
	return b, nil
}

// CompareAndSwap implements Store. The file is replaced as a whole: a crash leaves the old
// one.
func (f *File) CompareAndSwap(_ context.Context, old, value []byte) (bool, error) {
	return f.replace(old, value, "")
}

// Repair implements Store. The damaged file is kept beside the new one.
func (f *File) Repair(_ context.Context, damaged, value []byte) (bool, error) {
	return f.replace(damaged, value, f.Path+".damaged")
}

// replace stores value in the place of old, which is kept in the file aside, if one is named.
func (f *File) replace(old, value []byte, aside string) (bool, error) {
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
	if aside != "" {
		if err := durable.WriteFile(aside, old); err != nil {
			return false, fmt.Errorf("keep the damaged settings: %w", err)
		}
	}
	if err := durable.WriteFile(f.Path, value); err != nil {
		return false, fmt.Errorf("write %s: %w", f.Path, err)
	}
	return true, nil
}

// ClockOffset implements Store: there is no other clock.
func (f *File) ClockOffset(context.Context) (time.Duration, error) { return 0, nil }

// Watch implements Store: no other instance uses the file.
func (f *File) Watch(ctx context.Context, changed, _ func()) {
	changed()
	<-ctx.Done()
}
