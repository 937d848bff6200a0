package cache

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sundry/cache/durable"
)

// abandonedAge is how old a temporary file must be to be removed at the start: its writer
// was killed. A younger one may be that of an instance that is about to stop.
const abandonedAge = time.Hour

// publish puts a complete file in the place of the one before, unless there was a purge
// since the pass over the tier began.
func (s *Snapshot) publish(tmp *os.File, began passStart) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.purges != began.purges {
		return errPurgedMeanwhile
	}
	if err := s.checkOwn(); err != nil {
		return err
	}
	if err := durable.Replace(s.file, tmp); err != nil {
		return err
	}
	s.storedBefore.Store(began.stored)
	return nil
}

// removeFile removes the snapshot, or at least empties it. Without one there is nothing to
// do.
func (s *Snapshot) removeFile() error {
	err := s.checkOwn()
	if errors.Is(err, errForeign) {
		return nil
	}
	if err != nil {
		return err
	}
	err = os.Remove(s.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil:
		return durable.SyncDirectory(filepath.Dir(s.file))
	case os.Truncate(s.file, 0) == nil:
		return nil
	}
	return err
}

// checkOwn refuses to touch a file that is something other than a snapshot.
func (s *Snapshot) checkOwn() error {
	f, err := openRegular(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	begin := make([]byte, len(snapshotMagic))
	n, err := io.ReadFull(f, begin)
	if err != nil && !errors.Is(tornOr(err), errTorn) {
		return err
	}
	if looksForeign(begin[:n]) {
		return fmt.Errorf("%w: it is left as it is", errForeign)
	}
	return nil
}

// openRegular opens a file to read it, unless it is something else, such as a pipe.
func openRegular(name string) (*os.File, error) {
	f, err := durable.Open(name)
	if errors.Is(err, durable.ErrNotRegular) {
		return nil, fmt.Errorf("%w: it is left as it is", errForeign)
	}
	return f, err
}

// tidy removes what writers that were killed have left, and makes sure that a snapshot can
// be written, so that the log says at the start what the last write would say too late.
func (s *Snapshot) tidy() {
	dir := filepath.Dir(s.file)
	entries, _ := os.ReadDir(dir) // what cannot be listed is not removed
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), durable.Prefix(s.file)) && info.Mode().IsRegular() && time.Since(info.ModTime()) > abandonedAge {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next start tries again
		}
	}
	tmp, err := durable.Create(s.file)
	if err == nil {
		err = errors.Join(tmp.Close(), durable.Discard(tmp))
	}
	if err != nil {
		s.failed("write", "snapshots cannot be written", err)
	}
}
