package web

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"time"

	"sundry/cache/durable"
)

// What is kept in memory outlives a restart in a file that is written when the process ends in order, and that is there no more
// once it was read: one of before a crash would not know of the unsafe requests since, which have made some of it unusable.

// restartMagic begins the file, with the version of its layout.
const restartMagic = "sundry web 1\n"

// errRestart: the file was cut off, or is damaged.
var errRestart = errors.New("damaged")

// WriteFile writes what is kept, and returns how many objects that are.
func (s *Store) WriteFile(name string) (n int, err error) {
	tmp, err := durable.Create(name)
	if err != nil {
		return 0, fmt.Errorf("responses of APIs: %w", err)
	}
	w := bufio.NewWriterSize(tmp, 1<<20)
	_, err = w.WriteString(restartMagic)
	for key, variants := range s.table.All() {
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
	b := binary.AppendUvarint(nil, uint64(len(key)))
	b = append(binary.AppendUvarint(append(b, key...), uint64(len(value))), value...)
	_, err = w.Write(binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b)))
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
	magic := make([]byte, len(restartMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != restartMagic {
		return 0, fmt.Errorf("responses of APIs: %s: %w", name, errRestart)
	}
	for {
		key, value, err := r.object()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("responses of APIs: %s: %w", name, err)
		}
		under := rules(key)
		if under == nil {
			continue
		}
		if o, err := decode(value, time.Time{}, under); err == nil && o.Requested.After(since) && !o.Received.After(now) && s.put(key, o, 0) {
			n++
		}
	}
}

// restartReader reads a file of objects, of which so many bytes are left.
type restartReader struct {
	*bufio.Reader
	left int64
}

// object reads the next one; io.EOF: there is none.
func (r *restartReader) object() (key string, value []byte, err error) {
	sum := crc32.NewIEEE()
	k, err := r.part(sum)
	if errors.Is(err, io.EOF) {
		return "", nil, io.EOF
	}
	if err == nil {
		value, err = r.part(sum)
	}
	var want uint32
	if err == nil {
		err = binary.Read(r, binary.LittleEndian, &want)
	}
	if err != nil || want != sum.Sum32() {
		return "", nil, errRestart
	}
	return string(k), value, nil
}

func (r *restartReader) part(sum io.Writer) ([]byte, error) {
	n, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	if n > uint64(r.left) {
		return nil, errRestart
	}
	b := make([]byte, n)
	_, _ = sum.Write(binary.AppendUvarint(nil, n)) // a sum takes everything
	if _, err = io.ReadFull(r, b); err != nil {
		return nil, errRestart
	}
	_, _ = sum.Write(b)
	return b, nil
}
