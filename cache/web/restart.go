package web

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"sundry/cache/durable"
	"sundry/cache/entry"
)

// What is kept in memory outlives a restart in a file that is written when the process ends in order, and that is there no more
// once it was read: one of before a crash would not know of the unsafe requests since, which have made some of it unusable.

const (
	// restartMagic begins the file: its family, and the version of its layout.
	restartMagic   = restartFamily + "4\n"
	restartFamily  = "sundry web "
	restartVersion = 4
	// mostKey is the size in bytes of the largest key that is read: servers accept URLs of 64 KiB, of which each byte may be escaped.
	mostKey = 256 << 10
	// mostBody is the size in bytes of the largest body that a declaration permits.
	mostBody = 256 << 20
)

var (
	// ErrOtherVersion means that another version of Sundry has written a file.
	ErrOtherVersion = errors.New("of another version of Sundry")
	// errRestart means that a file is truncated or damaged.
	errRestart = errors.New("damaged")
	// errForeign means that a file is something other than stored responses.
	errForeign = errors.New("not a file with responses of APIs")
)

// checkOwn returns an error for a file that Sundry has not written, or a later version. Such a file is left as it is.
func checkOwn(name string) error {
	begin, err := durable.ReadBegin(name, len(restartMagic)+1) // a version has two digits at most
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	digits, ok := bytes.CutPrefix(begin, []byte(restartFamily))
	if !ok {
		if !strings.HasPrefix(restartFamily, string(begin)) {
			return fmt.Errorf("%w: it is left as it is", errForeign)
		}
		return nil // it was truncated
	}
	digits, _, _ = bytes.Cut(digits, []byte("\n"))
	version, err := strconv.Atoi(string(digits))
	switch {
	case err != nil && len(digits) > 0:
		return fmt.Errorf("%w: it is left as it is", errForeign)
	case version > restartVersion:
		return fmt.Errorf("%w, a later one: it is left as it is", ErrOtherVersion)
	}
	return nil
}

// WriteFile writes what is kept, and returns how many objects that are. What checkOwn refuses is not written over.
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
			if s.outOfGroups(key, variants[i]) {
				continue
			}
			if err = writeObject(w, key, variants[i]); err == nil {
				n++
			}
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err = durable.Finish(tmp, err); err == nil {
		err = checkOwn(name)
	}
	if err == nil {
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
	if err := checkOwn(name); err != nil {
		return 0, fmt.Errorf("responses of APIs: %s: %w", name, err)
	}
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
	r := &restartReader{Reader: bufio.NewReaderSize(f, 1<<20), left: math.MaxInt64, largest: mostHead + min(s.Memory, mostBody)}
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
	left    int64
	largest int64 // bytes of an object
}

// magic reads the beginning of the file.
func (r *restartReader) magic() error {
	magic := make([]byte, len(restartMagic))
	_, err := io.ReadFull(r, magic)
	switch {
	case err != nil, !strings.HasPrefix(string(magic), restartFamily):
		return errRestart
	case string(magic) != restartMagic:
		return ErrOtherVersion
	}
	return nil
}

// object reads the next object. At the end of the file it returns io.EOF.
func (r *restartReader) object() (key string, value []byte, err error) {
	k, err := r.part(mostKey)
	if errors.Is(err, io.EOF) {
		return "", nil, io.EOF
	}
	if err == nil {
		value, err = r.part(r.largest)
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

// part reads a length and so many bytes. Damage may say any length, and a file may have holes.
func (r *restartReader) part(most int64) ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	if n > uint64(min(r.left, most)) {
		return nil, errRestart
	}
	r.left -= int64(n)
	b := make([]byte, n)
	if _, err = io.ReadFull(r, b); err != nil {
		return nil, errRestart
	}
	return b, nil
}
