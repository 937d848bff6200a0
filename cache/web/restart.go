package web

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"sundry/cache/durable"
	"sundry/cache/entry"
)

// What is kept in memory outlives a restart in a file that is written when the process ends in order, and that is there no more
// once it was read: one of before a crash would not know of the unsafe requests since, which have made some of it unusable.

// restartMagic begins the file, with the version of its layout.
const restartMagic = "sundry web 2\n"

var (
	// ErrOtherVersion means that another version of Sundry has written a file.
	ErrOtherVersion = errors.New("of another version of Sundry")
	// errRestart means that a file is truncated or damaged.
	errRestart = errors.New("damaged")
)

// WriteFile writes what is kept, and returns how many objects that are.
func (s *Store) WriteFile(name string) (n int, err error) {
	tmp, err := durable.Create(name)
	if err != nil {
		return 0, fmt.Errorf("responses of APIs: %w", err)
	}
	w := bufio.NewWriterSize(tmp, 1<<20)
	_, err = w.WriteString(restartMagic)
	for key, variants := range s.table.All() {
		if s.Private != nil && s.Private(key) {
			continue
		}
		for i := len(variants) - 1; i >= 0 && err == nil; i-- { // the newest last, which is then the first again
			if err = writeObject(w, key, variants[i]); err == nil {
				n++
			}
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err = durable.Finish(tmp, err); err == nil {
		err = durable.Replace(name, tmp)
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("responses of APIs: write %s: %w", name, err), os.Remove(tmp.Name()))
	}
	return n, nil
}

func writeObject(w io.Writer, key string, o *Object) error {
	value, err := encode(o)
	if err != nil {
		return err
	}
	b := append(binary.AppendUvarint(nil, uint64(len(key))), key...)
	b = append(binary.AppendUvarint(b, uint64(len(value))), value...)
	_, err = w.Write(binary.LittleEndian.AppendUint64(b, entry.Checksum(key, value)))
	return err
}

// ReadFile keeps what a file has that was asked for after since and is under the rules of its API (nil: there is no such API
// any more), removes the file, and returns how many objects that are. Without a file there are none. What is behind a damage
// is lost, and what came after now, where the clock was set back: it would be fresh for too long, and out of the reach of purges.
func (s *Store) ReadFile(name string, rules func(key string) *Rules, since, now time.Time) (n int, err error) {
	f, err := durable.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("responses of APIs: %w", err)
	}
	defer func() { _ = f.Close() }() // read only
	if err := os.Remove(name); err != nil {
		_ = os.Truncate(name, 0) // which is as good, where only the directory cannot be written
		return 0, fmt.Errorf("responses of APIs: remove the file before the next start, which would bring back what is purged until then: %w", err)
	}
	r := &restartReader{Reader: bufio.NewReaderSize(f, 1<<20), left: math.MaxInt64}
	if info, err := f.Stat(); err == nil {
		r.left = info.Size()
	}
	if err := r.magic(); err != nil {
		return 0, fmt.Errorf("responses of APIs: %s: %w", name, err)
	}
	for {
		key, value, err := r.object()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			s.broken.file.Inc()
			return n, fmt.Errorf("responses of APIs: %s: %w", name, err)
		}
		under := rules(key)
		if under == nil {
			continue
		}
		o, err := decode(value, time.Time{}, under, now)
		switch {
		case errors.Is(err, errOrigin):
		case err != nil, o.Received.After(now):
			s.broken.file.Inc()
		case o.Requested.After(since) && s.put(key, o, 0):
			n++
		}
	}
}

// restartReader reads a file of objects, of which so many bytes are left.
type restartReader struct {
	*bufio.Reader
	left int64
}

// magic reads the beginning of the file.
func (r *restartReader) magic() error {
	magic := make([]byte, len(restartMagic))
	_, err := io.ReadFull(r, magic)
	family := strings.TrimRight(restartMagic, "0123456789\n")
	switch {
	case err != nil, !strings.HasPrefix(string(magic), family):
		return errRestart
	case string(magic) != restartMagic:
		return ErrOtherVersion
	}
	return nil
}

// object reads the next object. At the end of the file it returns io.EOF.
func (r *restartReader) object() (key string, value []byte, err error) {
	k, err := r.part()
	if errors.Is(err, io.EOF) {
		return "", nil, io.EOF
	}
	if err == nil {
		value, err = r.part()
	}
	var want uint64
	if err == nil {
		err = binary.Read(r, binary.LittleEndian, &want)
	}
	if err != nil || want != entry.Checksum(string(k), value) {
		return "", nil, errRestart
	}
	return string(k), value, nil
}

// part reads a length and so many bytes. The file bounds what is allocated.
func (r *restartReader) part() ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	if n > uint64(r.left) {
		return nil, errRestart
	}
	r.left -= int64(n)
	b := make([]byte, n)
	if _, err = io.ReadFull(r, b); err != nil {
		return nil, errRestart
	}
	return b, nil
}
