package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"math"
	"time"
)

// encode lays out content whole. The generation names its split parts.
func encode(c *Content, m *Meta, gen uint64) ([]byte, error) {
	records, err := encodeRecords(c)
	if err != nil {
		return nil, err
	}
	head, err := encodeHead(c, m, gen, digestOf(c))
	if err != nil {
		return nil, err
	}
	size := len(head) + 4*(len(records)+1)
	at := size
	for _, r := range records {
		size += len(r)
	}
	if uint64(size) > 1<<31 {
		return nil, errors.New("entry larger than 2 GiB")
	}
	out := append(make([]byte, 0, size), head...)
	for _, r := range records {
		out = binary.LittleEndian.AppendUint32(out, uint32(at))
		at += len(r)
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(at))
	for _, r := range records {
		out = append(out, r...)
	}
	return out, nil
}

func encodeHead(c *Content, m *Meta, gen, digest uint64) ([]byte, error) {
	message := c.Negative[:min(len(c.Negative), 1<<16-1)]
	if len(c.Forms) > 255 || len(c.Source) > 255 || len(c.Edition) > 255 {
		return nil, errors.New("entry with a source, an edition or forms beyond 255")
	}
	le := binary.LittleEndian
	flags := byte(0)
	if c.Negative != "" {
		flags |= flagNegative
	}
	if c.LastResort {
		flags |= flagLastResort
	}
	b := []byte{layoutVersion, flags, m.Spread, byte(len(c.Forms))}
	b = le.AppendUint64(b, uint64(m.Born.UnixMilli()))
	b = le.AppendUint64(b, uint64(m.Modified.UnixMilli()))
	b = le.AppendUint64(b, uint64(milliseconds(c.Expires)))
	b = le.AppendUint64(b, uint64(milliseconds(c.Since)))
	b = le.AppendUint32(b, wholeSeconds(c.Fresh))
	b = le.AppendUint64(b, gen)
	b = le.AppendUint64(b, digest)
	b = append(b, byte(len(c.Source)), byte(len(c.Edition)))
	b = le.AppendUint16(b, uint16(len(message)))
	b = append(append(append(b, c.Source...), c.Edition...), message...)
	for _, f := range c.Forms {
		b = le.AppendUint32(b, uint32(len(f)))
		b = append(b, byte(codingsOf(f)))
	}
	return b, nil
}

// milliseconds since 1970; 0 for no time.
func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// wholeSeconds keeps what is less than a second from becoming nothing.
func wholeSeconds(d time.Duration) uint32 {
	if d <= 0 {
		return 0
	}
	return uint32(min(max(d/time.Second, 1), math.MaxUint32))
}

// codingsOf is the set that every body of the form has.
func codingsOf(f Form) Codings {
	all := Codings(0).With(Identity).With(Gzip).With(Zstd)
	for _, b := range f {
		for c := Gzip; c < codings; c++ {
			if b.Data[c] == nil {
				all &^= 1 << c
			}
		}
	}
	return all
}

func encodeRecords(c *Content) ([][]byte, error) {
	var out [][]byte
	for _, f := range c.Forms {
		has := codingsOf(f)
		for _, b := range f {
			if len(b.Type) > 255 || len(b.ETag) > 255 || len(b.Location) >= 1<<16 {
				return nil, errors.New("body with a type, an ETag or a location that is too long")
			}
			for coding := range codings {
				if has.Has(coding) {
					out = append(out, encodeRecord(&b, b.Data[coding]))
				}
			}
		}
	}
	return out, nil
}

func encodeRecord(b *Body, data []byte) []byte {
	le := binary.LittleEndian
	r := make([]byte, 0, recordHead+len(b.Type)+len(b.ETag)+len(b.Location)+len(data))
	r = le.AppendUint16(r, uint16(b.Status))
	r = append(r, byte(len(b.Type)), byte(len(b.ETag)))
	r = le.AppendUint16(r, uint16(len(b.Location)))
	r = append(append(append(r, b.Type...), b.ETag...), b.Location...)
	return append(r, data...)
}

// digestOf identifies the content, apart from who gave it and when. What is
// compressed of it is the same as what is not.
func digestOf(c *Content) uint64 {
	d := newDigest(c.Negative)
	for _, f := range c.Forms {
		for _, b := range f {
			d.body(b.Status, b.Type, b.ETag, b.Location, b.Data[Identity])
		}
		d.form(codingsOf(f))
	}
	return d.sum()
}

// digest is one in the making.
type digest struct{ hash.Hash }

func newDigest(negative string) digest {
	d := digest{sha256.New()}
	d.text(negative)
	return d
}

func (d digest) text(s string) {
	d.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))))
	d.Write([]byte(s))
}

func (d digest) body(status int, typ, etag, location string, data []byte) {
	d.Write([]byte{1})
	d.Write(binary.LittleEndian.AppendUint16(nil, uint16(status)))
	d.text(typ)
	d.text(etag)
	d.text(location)
	d.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(data))))
	d.Write(data)
}

// form ends one.
func (d digest) form(has Codings) { d.Write([]byte{0, byte(has)}) }

func (d digest) sum() uint64 { return binary.LittleEndian.Uint64(d.Sum(nil)) }
