// Package snapshot keeps in a file what caches have in memory, from the orderly end of a process to the start of the next one.
//
//   - The file is replaced as a whole, and only the user of the process can read it. A file of another program is never replaced.
//   - It is removed when it is read. After a crash it would bring back what was purged since.
//   - Each value is checked when it is read, and its cache decides anew whether the value may be used.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache/durable"
)

// Cache is a cache whose values are kept.
type Cache struct {
	// Version is that of the layout of its values: those of another version are not read.
	Version uint8
	// Largest is the size in bytes of the largest value that is read.
	Largest int64
	// All returns the values that may be kept, by key, the most wanted ones first. A value need not be valid after its step.
	All iter.Seq2[string, []byte]
	// Admit stores a value that was read, and returns what became of it. The value belongs to the cache from then on.
	Admit func(key string, value []byte) Outcome
}

// Config is what a File works with.
type Config struct {
	// Path is that of the file. Its directory must be writable.
	Path string
	// Caches has at most 254, always in the same order, which the file refers to.
	Caches []Cache
	// Registerer takes the metrics; nil means none.
	Registerer prometheus.Registerer
	// Log takes what was written and read; nil means none.
	Log *slog.Logger
}

// File is a snapshot. Read it once, before it is written. Its methods are safe for concurrent use.
type File struct {
	Config
	metrics *fileMetrics
	mu      sync.Mutex // held while the file is read or written
	read    bool       // Read was called; guarded by mu
}

// New returns a File. It does not touch the file.
func New(cfg Config) *File {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &File{Config: cfg, metrics: newMetrics(cfg.Registerer)}
}

// errNotRead is returned by Write before Read: the file holds more than a process that has hardly begun.
var errNotRead = errors.New("the file has not been read yet")

// Write replaces the file by what the caches have. When ctx ends before that is done, or after another error, no file is there, or
// the one that was not read.
func (f *File) Write(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	began := time.Now()
	values, size, err := f.write(ctx)
	if err != nil {
		f.failed("write", "the snapshot was not written: the next start is cold", err)
		return err
	}
	f.metrics.values.WithLabelValues(resultWritten).Add(float64(values))
	f.metrics.bytes.Set(float64(size))
	f.Log.Info("snapshot written", "entries", values, "bytes", size, "took", time.Since(began).Round(time.Millisecond))
	return nil
}

func (f *File) write(ctx context.Context) (values uint64, size int64, err error) {
	if !f.read {
		return 0, 0, errNotRead
	}
	if err := f.checkOwn(); err != nil {
		return 0, 0, err
	}
	tmp, err := durable.Create(f.Path)
	if err != nil {
		return 0, 0, err
	}
	out := newEncoder(tmp)
	err = durable.Finish(tmp, f.encode(ctx, out))
	if err == nil {
		err = durable.Replace(f.Path, tmp)
	}
	if err != nil {
		return 0, 0, errors.Join(fmt.Errorf("write: %w", err), durable.Discard(tmp))
	}
	return out.values, out.bytes, nil
}

func (f *File) encode(ctx context.Context, out *encoder) error {
	err := out.begin(f.versions(), time.Now())
	for n, c := range f.Caches {
		for key, value := range c.All {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			err = out.value(n, key, value)
		}
	}
	if err != nil {
		return err
	}
	return out.end()
}

func (f *File) versions() (all []byte) {
	for _, c := range f.Caches {
		all = append(all, c.Version)
	}
	return all
}

// failed counts and logs a failure.
func (f *File) failed(operation, message string, err error) {
	f.metrics.failures.WithLabelValues(operation).Inc()
	f.Log.Warn(message, "file", f.Path, "error", err)
}

// Read gives the caches what the file holds, and removes it. It returns at the end of the file, or when ctx ends; callers need not wait
// for it. Call it once all purges are in force.
func (f *File) Read(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() != nil {
		return
	}
	f.read = true
	f.tidy()
	began, r := time.Now(), &contents{}
	err := f.readFile(ctx, r)
	f.count(r)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Log.Info("no snapshot yet: the cache is cold", "file", f.Path)
	case errors.Is(err, errOtherVersion):
		f.Log.Info("the snapshot was not read: the cache is cold", "file", f.Path, "reason", err)
	case ctx.Err() != nil:
		return
	case err != nil && r.outcomes[Read] == 0:
		f.failed("read", "the snapshot was not read: the cache is cold", err)
	case err != nil:
		f.failed("read", "the snapshot was not read to its end", err)
	}
	if err == nil || r.outcomes[Read] > 0 {
		f.Log.Info("snapshot read", r.attrs(began)...)
	}
}

// contents are what was read.
type contents struct {
	written  time.Time // zero means that it is not known
	bytes    int64
	outcomes [outcomes]int
}

func (r *contents) attrs(began time.Time) []any {
	attrs := []any{"entries", r.outcomes[Read], "bytes", r.bytes, "written", r.written.UTC().Format(time.RFC3339), "took", time.Since(began).Round(time.Millisecond)}
	for o, n := range r.outcomes {
		if n > 0 && Outcome(o) != Read {
			attrs = append(attrs, Outcome(o).String(), n)
		}
	}
	return attrs
}

func (f *File) count(r *contents) {
	for o, n := range r.outcomes {
		f.metrics.values.WithLabelValues(Outcome(o).String()).Add(float64(n))
	}
	if !r.written.IsZero() {
		f.metrics.bytes.Set(float64(r.bytes))
	}
}

// readFile removes the file before it reads it.
func (f *File) readFile(ctx context.Context, r *contents) error {
	if err := f.checkOwn(); err != nil {
		return err
	}
	in, err := durable.Open(f.Path)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // nothing was written
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := f.remove(); err != nil {
		return fmt.Errorf("remove the file before the next start, which would bring back what is purged until then: %w", err)
	}
	r.bytes = info.Size()
	return f.readFrom(ctx, in, r)
}

// remove removes the file, or at least empties it, where only the directory cannot be written.
func (f *File) remove() error {
	err := os.Remove(f.Path)
	if err != nil {
		_ = os.Truncate(f.Path, 0)
		return err
	}
	return durable.SyncDirectory(filepath.Dir(f.Path))
}

// readFrom reads a snapshot of so many bytes.
func (f *File) readFrom(ctx context.Context, from io.Reader, r *contents) (err error) {
	d := newDecoder(from, r.bytes, f.largest())
	if r.written, err = d.begin(f.versions()); err != nil {
		return err
	}
	for ctx.Err() == nil {
		n, key, value, err := d.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			r.outcomes[Broken]++
			return err
		}
		r.outcomes[f.Caches[n].Admit(key, value)]++
	}
	return ctx.Err()
}

func (f *File) largest() (all []int64) {
	for _, c := range f.Caches {
		all = append(all, c.Largest)
	}
	return all
}

// errForeign means that a file is not a snapshot.
var errForeign = errors.New("the file is not a snapshot: it is left as it is")

// checkOwn returns errForeign for a file that is something other than a snapshot. An empty or a torn one is a snapshot.
func (f *File) checkOwn() error {
	begin, err := durable.ReadBegin(f.Path, len(magic))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, durable.ErrNotRegular), err == nil && !strings.HasPrefix(magic, string(begin)):
		return errors.Join(errForeign, err)
	}
	return err
}

// abandonedAge is how old a temporary file must be to be removed at the start: its writer
// was killed. A younger one may be that of an instance that is about to stop.
const abandonedAge = time.Hour

// tidy removes what writers that were killed have left, and makes sure that a snapshot can
// be written, so that the log says at the start what the end would say too late.
func (f *File) tidy() {
	dir := filepath.Dir(f.Path)
	entries, _ := os.ReadDir(dir) // what cannot be listed is not removed
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), durable.Prefix(f.Path)) && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandonedAge {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next start tries again
		}
	}
	tmp, err := durable.Create(f.Path)
	if err == nil {
		err = errors.Join(tmp.Close(), durable.Discard(tmp))
	}
	if err != nil {
		f.failed("write", "snapshots cannot be written: the next start will be cold", err)
	}
}
