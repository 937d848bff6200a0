// Package durable puts files into the place of others. It promises that who reads a
// file finds the one before or the new one, whole, also after a crash of the machine,
// and that no other user can read it.
package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// ErrNotRegular is returned for what is no regular file, such as a pipe or a directory.
var ErrNotRegular = errors.New("expected a regular file")

// ErrTooLarge is returned for a file that is larger than any that was written.
var ErrTooLarge = errors.New("the file is too large")

// Open opens a file to read it. It does not wait for the other end of a pipe, nor read a device, which has no end.
func Open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	return os.Open(name) //nolint:gosec // the operator names the file
}

// ReadFile reads a file as Open opens it. It returns ErrTooLarge for one of more bytes than the largest that makes sense.
func ReadFile(name string, largest int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size, b := info.Size(), []byte(nil)
	if size <= largest {
		b, err = io.ReadAll(io.LimitReader(f, largest+1))
		size = int64(len(b))
	}
	if size > largest {
		return nil, fmt.Errorf("%s: %w: it has %d bytes, expected at most %d", name, ErrTooLarge, size, largest)
	}
	return b, err
}

// ReadBegin reads the first n bytes of a file, or all bytes of a shorter one.
func ReadBegin(name string, n int) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	return io.ReadAll(io.LimitReader(f, int64(n)))
}

// Prefix is how the names of the temporary files for a file begin. They are beside it;
// those that are there after a crash are of no use.
func Prefix(name string) string { return "." + filepath.Base(name) + "-" }

// Create makes a temporary file for a file, with mode 0600. It is to be given to Replace
// or Discard.
func Create(name string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(name), Prefix(name)+"*")
}

// Finish makes what was written last, and closes the temporary file. It may be given the
// error of writing, and returns it with its own.
func Finish(tmp *os.File, err error) error {
	if err == nil {
		err = tmp.Sync()
	}
	return errors.Join(err, tmp.Close())
}

// Replace puts a finished temporary file into the place of the file. After an error of
// the last step, SyncDirectory, it is there.
func Replace(name string, tmp *os.File) error {
	if err := os.Rename(tmp.Name(), name); err != nil {
		return err
	}
	return SyncDirectory(filepath.Dir(name))
}

// Discard removes a temporary file.
func Discard(tmp *os.File) error { return os.Remove(tmp.Name()) }

// WriteFile puts content into the place of what the file holds. After an error the one
// or the other is there.
func WriteFile(name string, content []byte) error {
	tmp, err := Create(name)
	if err != nil {
		return err
	}
	_, err = tmp.Write(content)
	if err = Finish(tmp, err); err != nil {
		return errors.Join(err, Discard(tmp))
	}
	if err = Replace(name, tmp); err != nil {
		_ = Discard(tmp) // it may be in its place already
	}
	return err
}

// SyncDirectory makes what was renamed and removed in a directory last over a crash of the
// machine.
func SyncDirectory(name string) error {
	if runtime.GOOS == "windows" {
		return nil // it has no such call
	}
	d, err := os.Open(name) //nolint:gosec // the operator names the file in it
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
