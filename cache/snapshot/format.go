package snapshot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cespare/xxhash/v2"
)

// The layout of a snapshot, little endian:
//
//	magic | version u8 | caches u8 | version of each cache's values u8 | written i64 (Unix milliseconds) | check u64
//	for each value: cache u8 | len(key) uvarint | len(value) uvarint | key | value | check u64
//	the end: 255 u8 | values uvarint | 0 uvarint | check u64
//
// A check is the XXH64 of the bytes since the one before. What is behind a damage is lost.
const (
	magic     = "sundry snapshot\n"
	version   = 2
	endOfFile = 255
	// mostKey is the length in bytes of the longest key that is read: servers accept URLs of 64 KiB, of which each byte may be escaped.
	mostKey = 256 << 10
)

var (
	errOtherVersion = errors.New("the snapshot is of another version of Sundry")
	errTorn         = errors.New("the snapshot ends early or is damaged")
)

// encoder writes a snapshot: begin, each value, end.
type encoder struct {
	out    *bufio.Writer
	values uint64
	bytes  int64
	hash   *xxhash.Digest
	err    error // the first one; nothing is written after it
}

func newEncoder(w io.Writer) *encoder {
	return &encoder{out: bufio.NewWriterSize(w, 256<<10), hash: xxhash.New()}
}

func (e *encoder) begin(versions []byte, now time.Time) error {
	head := append([]byte(magic), version, byte(len(versions)))
	head = binary.LittleEndian.AppendUint64(append(head, versions...), uint64(now.UnixMilli()))
	e.write(head)
	return e.check()
}

func (e *encoder) value(cache int, key string, value []byte) error {
	e.values++
	e.lengths(byte(cache), uint64(len(key)), uint64(len(value)))
	e.write([]byte(key))
	e.write(value)
	return e.check()
}

func (e *encoder) end() error {
	e.lengths(endOfFile, e.values, 0)
	if err := e.check(); err != nil {
		return err
	}
	return e.out.Flush()
}

func (e *encoder) lengths(kind byte, first, second uint64) {
	e.write(binary.AppendUvarint(binary.AppendUvarint([]byte{kind}, first), second))
}

func (e *encoder) write(b []byte) {
	if e.err != nil {
		return
	}
	_, _ = e.hash.Write(b) // never fails
	var n int
	n, e.err = e.out.Write(b)
	e.bytes += int64(n)
}

// check writes the check of what was written since the last one.
func (e *encoder) check() error {
	sum := e.hash.Sum64()
	e.write(binary.LittleEndian.AppendUint64(nil, sum))
	e.hash.Reset()
	return e.err
}

// decoder reads a snapshot: begin, then next until it returns an error. Nothing that it reads is trusted, and it allocates no more
// than the file has bytes.
type decoder struct {
	in      *bufio.Reader
	left    int64   // bytes of the file
	largest []int64 // bytes of a value, by cache
	values  uint64
	hash    *xxhash.Digest
}

func newDecoder(r io.Reader, size int64, largest []int64) *decoder {
	return &decoder{in: bufio.NewReaderSize(r, 256<<10), left: size, largest: largest, hash: xxhash.New()}
}

// begin reads the head, and returns when the snapshot was written. It returns errOtherVersion unless the caches have these versions.
func (d *decoder) begin(versions []byte) (written time.Time, err error) {
	head, err := d.bytes(int64(len(magic)) + 2)
	switch {
	case err != nil:
		return written, err
	case head[len(magic)] != version:
		return written, errOtherVersion
	}
	has, err := d.bytes(int64(head[len(magic)+1]))
	if err != nil {
		return written, err
	}
	at, err := d.bytes(8)
	if err == nil {
		err = d.check()
	}
	switch {
	case err != nil:
		return written, err
	case string(has) != string(versions):
		return written, errOtherVersion
	}
	return time.UnixMilli(int64(binary.LittleEndian.Uint64(at))), nil
}

// next returns a value. At the end it returns io.EOF.
func (d *decoder) next() (cache int, key string, value []byte, err error) {
	kind, err := d.ReadByte()
	var first, second uint64
	if err == nil {
		first, err = binary.ReadUvarint(d)
	}
	if err == nil {
		second, err = binary.ReadUvarint(d)
	}
	if err != nil {
		return 0, "", nil, tornOr(err)
	}
	if kind == endOfFile {
		if err := d.check(); err != nil || first != d.values || second != 0 {
			return 0, "", nil, errTorn
		}
		return 0, "", nil, io.EOF
	}
	if int(kind) >= len(d.largest) || first > mostKey || second > uint64(d.largest[kind]) {
		return 0, "", nil, errTorn
	}
	k, err := d.bytes(int64(first))
	if err == nil {
		value, err = d.bytes(int64(second))
	}
	if err == nil {
		err = d.check()
	}
	d.values++
	return int(kind), string(k), value, err
}

// ReadByte implements io.ByteReader.
func (d *decoder) ReadByte() (byte, error) {
	c, err := d.in.ReadByte()
	if err == nil {
		d.left--
		_, _ = d.hash.Write([]byte{c}) // never fails
	}
	return c, err
}

// bytes reads so many bytes.
func (d *decoder) bytes(n int64) ([]byte, error) {
	if n > d.left {
		return nil, errTorn
	}
	d.left -= n
	b := make([]byte, n)
	if _, err := io.ReadFull(d.in, b); err != nil {
		return nil, tornOr(err)
	}
	_, _ = d.hash.Write(b) // never fails
	return b, nil
}

// check reads the check of what was read since the last one.
func (d *decoder) check() error {
	sum := d.hash.Sum64()
	b, err := d.bytes(8)
	if err != nil {
		return err
	}
	d.hash.Reset()
	if binary.LittleEndian.Uint64(b) != sum {
		return errTorn
	}
	return nil
}

// tornOr is errTorn at the end of a file, else the error of reading it.
func tornOr(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTorn
	}
	return fmt.Errorf("read: %w", err)
}
