package cache

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"sundry/cache/entry"
)

// The layout of a snapshot, little endian:
//
//	 0 magic, 16 bytes
//	16 version u8 | version of the entries' layout u8 | 6 zero bytes
//	24 written i64 (unix milliseconds)
//	32 check u64
//	   per entry: len(key) u32 | len(entry) u32 | digest u64 | check u64 | key entry
//	   the end: 0 u32 | 0 u32 | number of entries u64 | check u64
//
// A check is the XXH64 of the bytes of its head before it, the digest that of key and
// entry. So an entry that is damaged loses only itself, and a damaged head what follows
// it. Entries are whole, in the layout of codec.go.
const (
	snapshotMagic      = "sundry snapshot\n"
	snapshotVersion    = 1
	snapshotHead       = 40
	snapshotRecordHead = 24
	// maxSnapshotKey is the longest key that the near tier stores.
	maxSnapshotKey = 1<<16 - 1
)

var (
	errForeign      = errors.New("the file is not a snapshot")
	errOtherVersion = errors.New("the snapshot is of another version of Sundry")
	errTorn         = errors.New("the snapshot ends early or is damaged")
	// errSkipped is returned for an entry that is damaged or too large, after which
	// others may follow.
	errSkipped = errors.New("entry that is damaged or too large")
)

// looksForeign reports whether a file that begins with these bytes, as far as they go, is
// something other than a snapshot. An empty or torn one is not foreign.
func looksForeign(begin []byte) bool {
	n := min(len(begin), len(snapshotMagic))
	return !strings.HasPrefix(snapshotMagic, string(begin[:n]))
}

// snapshotEncoder writes a snapshot: begin, a record per entry, end.
type snapshotEncoder struct {
	out     *bufio.Writer
	records uint64
	bytes   int64
	hash    xxhash.Digest
}

func newSnapshotEncoder(w io.Writer) *snapshotEncoder {
	return &snapshotEncoder{out: bufio.NewWriterSize(w, 256<<10)}
}

func (e *snapshotEncoder) begin(now time.Time) error {
	b := append(make([]byte, 0, snapshotHead), snapshotMagic...)
	b = append(b, snapshotVersion, entry.LayoutVersion, 0, 0, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(now.UnixMilli()))
	return e.write(withCheck(b))
}

func (e *snapshotEncoder) record(key string, raw []byte) error {
	e.hash.Reset()
	_, _ = e.hash.WriteString(key) // a hash takes everything
	_, _ = e.hash.Write(raw)
	e.records++
	if err := e.write(recordHeadOf(len(key), len(raw), e.hash.Sum64())); err != nil {
		return err
	}
	n, err := e.out.WriteString(key)
	e.bytes += int64(n)
	if err != nil {
		return err
	}
	return e.write(raw)
}

func (e *snapshotEncoder) end() error {
	if err := e.write(recordHeadOf(0, 0, e.records)); err != nil {
		return err
	}
	return e.out.Flush()
}

func (e *snapshotEncoder) write(b []byte) error {
	n, err := e.out.Write(b)
	e.bytes += int64(n)
	return err
}

func recordHeadOf(key, value int, digest uint64) []byte {
	b := make([]byte, 0, snapshotRecordHead)
	b = binary.LittleEndian.AppendUint32(b, uint32(key))
	b = binary.LittleEndian.AppendUint32(b, uint32(value))
	return withCheck(binary.LittleEndian.AppendUint64(b, digest))
}

func withCheck(head []byte) []byte {
	return binary.LittleEndian.AppendUint64(head, xxhash.Sum64(head))
}

// checked reports whether a head's check, its last eight bytes, is right.
func checked(head []byte) bool {
	n := len(head) - 8
	return binary.LittleEndian.Uint64(head[n:]) == xxhash.Sum64(head[:n])
}

// snapshotDecoder reads a snapshot: begin, then next until it returns an error other
// than errSkipped. Nothing that it reads is trusted, and it allocates no more than the
// file has bytes.
type snapshotDecoder struct {
	in      *bufio.Reader
	left    int64 // bytes of the file
	largest int   // bytes of an entry
	written time.Time
	records uint64
	head    [snapshotRecordHead]byte
	buf     []byte
}

func newSnapshotDecoder(r io.Reader, size int64, largest int) *snapshotDecoder {
	return &snapshotDecoder{in: bufio.NewReaderSize(r, 256<<10), left: size, largest: largest}
}

// begin returns errForeign, errOtherVersion or errTorn for what cannot be used, or the
// error of the file.
func (d *snapshotDecoder) begin() error {
	head := make([]byte, snapshotHead)
	n, err := io.ReadFull(d.in, head)
	switch {
	case looksForeign(head[:n]):
		return errForeign
	case err != nil:
		return tornOr(err)
	case !checked(head):
		return errTorn
	case head[16] != snapshotVersion || head[17] != entry.LayoutVersion:
		return errOtherVersion
	}
	d.left -= snapshotHead
	d.written = time.UnixMilli(int64(binary.LittleEndian.Uint64(head[24:])))
	return nil
}

// next returns an entry, whose bytes are valid until the next call. At the end it returns
// io.EOF.
func (d *snapshotDecoder) next() (key string, raw []byte, err error) {
	keyLen, size, digest, err := d.nextHead()
	if err != nil {
		return "", nil, err
	}
	if keyLen > maxSnapshotKey || size-keyLen > d.largest {
		_, err := d.in.Discard(size)
		if err != nil {
			return "", nil, tornOr(err)
		}
		return "", nil, errSkipped
	}
	if cap(d.buf) < size {
		d.buf = make([]byte, size)
	}
	b := d.buf[:size]
	if _, err := io.ReadFull(d.in, b); err != nil {
		return "", nil, tornOr(err)
	}
	if xxhash.Sum64(b) != digest {
		return "", nil, errSkipped
	}
	return string(b[:keyLen]), b[keyLen:], nil
}

// nextHead reads a record's head: the bytes of its key, and those of key and entry.
func (d *snapshotDecoder) nextHead() (keyLen, size int, digest uint64, err error) {
	if _, err := io.ReadFull(d.in, d.head[:]); err != nil {
		return 0, 0, 0, tornOr(err)
	}
	d.left -= snapshotRecordHead
	le := binary.LittleEndian
	k, v := int64(le.Uint32(d.head[:])), int64(le.Uint32(d.head[4:]))
	digest = le.Uint64(d.head[8:])
	switch {
	case !checked(d.head[:]) || k+v > d.left:
		return 0, 0, 0, errTorn
	case k+v == 0 && digest == d.records:
		return 0, 0, 0, io.EOF
	case k == 0:
		return 0, 0, 0, errTorn
	}
	d.left -= k + v
	d.records++
	return int(k), int(k + v), digest, nil
}

// tornOr is errTorn at the end of a file, else the error of reading it.
func tornOr(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTorn
	}
	return fmt.Errorf("read: %w", err)
}
