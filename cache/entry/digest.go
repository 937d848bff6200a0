package entry

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"
)

// DigestOf identifies the content, regardless of its source and time.
func DigestOf(c *Content) uint64 {
	d := newDigest(c.Negative)
	for _, f := range c.Forms {
		for _, b := range f {
			d.body(b.Status, b.Type, b.ETag, b.Location, b.Data)
		}
		d.form(flagsOf(f))
	}
	return d.sum()
}

// Checksum returns a digest of data and of the key under which it is stored, so that neither can be changed without the other. It is
// XXH64, which finds damage. It is no protection from those who write to Redis.
func Checksum(key string, data ...[]byte) uint64 {
	var d xxhash.Digest
	d.Reset()
	var length [8]byte
	binary.LittleEndian.PutUint64(length[:], uint64(len(key)))
	_, _ = d.Write(length[:]) // a hash takes everything
	_, _ = d.WriteString(key)
	for _, b := range data {
		_, _ = d.Write(b)
	}
	return d.Sum64()
}

// digest computes the digest of a content: XXH64, which finds changes and damage. It is
// no protection from those who write to Redis.
type digest struct {
	hash xxhash.Digest
	head []byte // what stands before the next body
	room [128]byte
}

func newDigest(negative string) *digest {
	d := &digest{}
	d.hash.Reset()
	d.head = d.room[:0]
	d.text(negative)
	return d
}

func (d *digest) text(s string) {
	d.head = append(binary.LittleEndian.AppendUint32(d.head, uint32(len(s))), s...)
}

func (d *digest) body(status int, typ, etag, location string, data []byte) {
	d.head = binary.LittleEndian.AppendUint16(append(d.head, 1), uint16(status))
	d.text(typ)
	d.text(etag)
	d.text(location)
	d.head = binary.LittleEndian.AppendUint32(d.head, uint32(len(data)))
	d.flush()
	_, _ = d.hash.Write(data)
}

func (d *digest) flush() {
	_, _ = d.hash.Write(d.head) // a hash takes everything
	d.head = d.head[:0]
}

// form ends a form.
func (d *digest) form(flags byte) { d.head = append(d.head, 0, flags) }

func (d *digest) sum() uint64 {
	d.flush()
	return d.hash.Sum64()
}
