package entry

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"
)

// The flat layout of an entry, little endian, read in place:
//
//	 0 version u8 | flags u8 | spread u8 | forms u8
//	 4 created i64 | 12 modified i64 | 20 expires i64   (unix milliseconds)
//	28 since i64 | 36 fresh u32                     (seconds)
//	40 generation u64 | 48 digest u64
//	56 size u32                                     (bytes of the whole entry)
//	60 len(source) u8 | len(edition) u8 | len(message) u16
//	64 source edition message
//	   per form: bodies u32, flags u8
//	   unless split: an offset u32 per record, and one past the last
//	   unless split: the records
//
// A record is one body: status u16, lengths of type u8, ETag u8 and location u16,
// the three strings, then the bytes to the record's end. They are not compressed:
// see coding.go.
const (
	LayoutVersion  = 5
	createdAt      = 4
	modifiedAt     = 12
	sinceAt        = 28
	sizeAt         = 56
	lengthsAt      = 60
	fixedHead      = 64
	formRow        = 5
	recordHead     = 6
	flagNegative   = 1
	flagSplit      = 2
	flagLastResort = 4
	flagLarge      = 8 // of a split head only: its parts are in the class Large
	formCompresses = 1 // flag of a form
)

var errLayout = errors.New("not an entry of this layout")

// Entry is an encoded entry: all of it, or only the head of a split one.
type Entry struct {
	Raw        []byte
	Meta       Meta
	Message    string
	Generation uint64
	Digest     uint64
	Forms      int
	table      int // where the form rows begin
}

// text views bytes as a string. The bytes of an entry are never changed after
// they were encoded or copied out of a tier.
func text(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // see above
}

// Parse reads an entry's head, and checks every length that is relied on later.
func Parse(raw []byte) (Entry, error) {
	if len(raw) < fixedHead || raw[0] != LayoutVersion {
		return Entry{}, errLayout
	}
	le := binary.LittleEndian
	e := Entry{Raw: raw, Forms: int(raw[3]), Generation: le.Uint64(raw[40:]), Digest: le.Uint64(raw[48:])}
	src, ed, msg := int(raw[lengthsAt]), int(raw[lengthsAt+1]), int(le.Uint16(raw[lengthsAt+2:]))
	e.table = fixedHead + src + ed + msg
	if len(raw) < e.table+e.Forms*formRow {
		return Entry{}, errLayout
	}
	e.Meta = Meta{
		Source:   text(raw[fixedHead : fixedHead+src]),
		Edition:  text(raw[fixedHead+src : fixedHead+src+ed]),
		Created:  time.UnixMilli(int64(le.Uint64(raw[createdAt:]))),
		Modified: time.UnixMilli(int64(le.Uint64(raw[modifiedAt:]))),
		Fresh:    time.Duration(le.Uint32(raw[36:])) * time.Second,
		Negative: raw[1]&flagNegative != 0, LastResort: raw[1]&flagLastResort != 0,
		Spread: raw[2],
	}
	if ms := int64(le.Uint64(raw[20:])); ms != 0 {
		e.Meta.Expires = time.UnixMilli(ms)
	}
	if ms := int64(le.Uint64(raw[sinceAt:])); ms != 0 {
		e.Meta.Since = time.UnixMilli(ms)
	}
	e.Message = text(raw[e.table-msg : e.table])
	return e, nil
}

// Shift dates an entry that a clock dated which is off by as much. What an upstream has
// dated stays.
func (e *Entry) Shift(off time.Duration) {
	e.Raw = slices.Clone(e.Raw)
	for at, date := range map[int]*time.Time{createdAt: &e.Meta.Created, modifiedAt: &e.Meta.Modified, sinceAt: &e.Meta.Since} {
		if !date.IsZero() {
			*date = date.Add(off)
			binary.LittleEndian.PutUint64(e.Raw[at:], uint64(date.UnixMilli()))
		}
	}
}

// Split reports whether this is the head of an entry whose parts are stored apart.
func (e *Entry) Split() bool { return e.Raw[1]&flagSplit != 0 }

// Large reports whether the parts of a split entry are in the class of large ones.
func (e *Entry) Large() bool { return e.Raw[1]&flagLarge != 0 }

// Size is how many bytes the whole entry has, of a split one too.
func (e *Entry) Size() int { return int(binary.LittleEndian.Uint32(e.Raw[sizeAt:])) }

// HeadSize is how many bytes the head has, which is all of a split entry.
func (e *Entry) HeadSize() int { return e.table + e.Forms*formRow }

// Form returns how many bodies a form has, and whether they are worth compressing.
func (e *Entry) Form(i int) (bodies int, compresses bool) {
	if i < 0 || i >= e.Forms {
		return 0, false
	}
	row := e.Raw[e.table+i*formRow:]
	return int(binary.LittleEndian.Uint32(row)), e.formFlags(i)&formCompresses != 0
}

func (e *Entry) formFlags(i int) byte { return e.Raw[e.table+i*formRow+4] }

// ordinal is the body's place among all records.
func (e *Entry) ordinal(form, body int) int {
	for i := range form {
		bodies, _ := e.Form(i)
		body += bodies
	}
	return body
}

// Record is the n-th record of an entry that is not split.
func (e *Entry) Record(n int) ([]byte, error) {
	at := e.table + e.Forms*formRow + 4*n
	if n < 0 || at+8 > len(e.Raw) {
		return nil, errLayout
	}
	from, to := binary.LittleEndian.Uint32(e.Raw[at:]), binary.LittleEndian.Uint32(e.Raw[at+4:])
	if from > to || uint64(to) > uint64(len(e.Raw)) {
		return nil, errLayout
	}
	return e.Raw[from:to], nil
}

// parseRecord views a record as a representation, which varies if its form is one
// whose bodies are compressed.
func parseRecord(rec []byte, varies bool) (Rep, error) {
	if len(rec) < recordHead {
		return Rep{}, errLayout
	}
	typ, tag, loc := int(rec[2]), int(rec[3]), int(binary.LittleEndian.Uint16(rec[4:]))
	if len(rec) < recordHead+typ+tag+loc {
		return Rep{}, errLayout
	}
	strs := text(rec[recordHead : recordHead+typ+tag+loc])
	return Rep{
		Status: int(binary.LittleEndian.Uint16(rec)),
		Type:   strs[:typ], ETag: strs[typ : typ+tag], Location: strs[typ+tag:],
		Varies: varies, Data: rec[recordHead+len(strs):],
	}, nil
}

// maxEntry bounds the offsets of an entry's records.
const maxEntry = 1 << 31

var errEntryTooLarge = errors.New("entry larger than 2 GiB")

// Encode lays out content as a whole entry. The generation is part of the keys of
// its split parts.
func Encode(c *Content, m *Meta, gen uint64) ([]byte, error) {
	records, size, err := measure(c)
	if err != nil {
		return nil, err
	}
	message := c.Negative[:min(len(c.Negative), 1<<16-1)]
	size += fixedHead + len(c.Source) + len(c.Edition) + len(message) + formRow*len(c.Forms) + tableSize(records)
	if uint64(size) > maxEntry {
		return nil, errEntryTooLarge
	}
	out := appendHead(make([]byte, 0, size), c, m, gen, message, size)
	table := len(out)
	out = out[:table+tableSize(records)]
	n := 0
	for _, f := range c.Forms {
		for i := range f {
			putOffset(out[table:], n, len(out))
			out = appendRecord(out, &f[i])
			n++
		}
	}
	putOffset(out[table:], n, len(out))
	return out, nil
}

// measure counts the records and their bytes, and checks what is bounded.
func measure(c *Content) (records, size int, err error) {
	if len(c.Forms) > 255 || len(c.Source) > 255 || len(c.Edition) > 255 {
		return 0, 0, errors.New("entry whose source, edition or number of forms exceeds 255")
	}
	for _, f := range c.Forms {
		for i := range f {
			b := &f[i]
			if len(b.Type) > 255 || len(b.ETag) > 255 || len(b.Location) >= 1<<16 {
				return 0, 0, errors.New("body with a type, an ETag or a location that is too long")
			}
			size += recordSize(b)
		}
		records += len(f)
	}
	return records, size, nil
}

// Whole puts the head of a split entry and its records together again.
func (e *Entry) Whole(records [][]byte) (Entry, error) {
	size := len(e.Raw) + tableSize(len(records))
	for _, r := range records {
		size += len(r)
	}
	if uint64(size) > maxEntry {
		return Entry{}, errEntryTooLarge
	}
	out := append(make([]byte, 0, size), e.Raw...)
	out[1] &^= flagSplit | flagLarge
	binary.LittleEndian.PutUint32(out[sizeAt:], uint32(size))
	table := len(out)
	out = out[:table+tableSize(len(records))]
	for n, r := range records {
		putOffset(out[table:], n, len(out))
		out = append(out, r...)
	}
	putOffset(out[table:], len(records), len(out))
	return Parse(out)
}

// tableSize is how many bytes the table of so many records has.
func tableSize(records int) int { return 4 * (records + 1) }

// putOffset says where the n-th record begins, or, behind the last, where that ends.
func putOffset(table []byte, n, at int) { binary.LittleEndian.PutUint32(table[4*n:], uint32(at)) }

// appendHead appends the head of an entry of that size.
func appendHead(b []byte, c *Content, m *Meta, gen uint64, message string, size int) []byte {
	le := binary.LittleEndian
	flags := byte(0)
	if c.Negative != "" {
		flags |= flagNegative
	}
	if c.LastResort {
		flags |= flagLastResort
	}
	b = append(b, LayoutVersion, flags, m.Spread, byte(len(c.Forms)))
	b = le.AppendUint64(b, uint64(m.Created.UnixMilli()))
	b = le.AppendUint64(b, uint64(m.Modified.UnixMilli()))
	b = le.AppendUint64(b, uint64(milliseconds(c.Expires)))
	b = le.AppendUint64(b, uint64(milliseconds(c.Since)))
	b = le.AppendUint32(b, wholeSeconds(c.Fresh))
	b = le.AppendUint64(b, gen)
	b = le.AppendUint64(b, DigestOf(c))
	b = le.AppendUint32(b, uint32(size))
	b = append(b, byte(len(c.Source)), byte(len(c.Edition)))
	b = le.AppendUint16(b, uint16(len(message)))
	b = append(append(append(b, c.Source...), c.Edition...), message...)
	for _, f := range c.Forms {
		b = le.AppendUint32(b, uint32(len(f)))
		b = append(b, flagsOf(f))
	}
	return b
}

// milliseconds since 1970; 0 for no time.
func milliseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// wholeSeconds is at least one for what is less than a second: 0 does not shorten.
func wholeSeconds(d time.Duration) uint32 {
	if d <= 0 {
		return 0
	}
	return uint32(min(max(d/time.Second, 1), math.MaxUint32))
}

// flagsOf are a form's. The candidates of a pool are not compressed: that would take
// work and memory for each of them.
func flagsOf(f Form) byte {
	if len(f) == 1 && f[0].Compress {
		return formCompresses
	}
	return 0
}

// recordSize is how many bytes a body's record has.
func recordSize(b *Body) int {
	return recordHead + len(b.Type) + len(b.ETag) + len(b.Location) + len(b.Data)
}

func appendRecord(r []byte, b *Body) []byte {
	le := binary.LittleEndian
	r = le.AppendUint16(r, uint16(b.Status))
	r = append(r, byte(len(b.Type)), byte(len(b.ETag)))
	r = le.AppendUint16(r, uint16(len(b.Location)))
	r = append(append(append(r, b.Type...), b.ETag...), b.Location...)
	return append(r, b.Data...)
}

// Records is the number of records of all forms.
func (e *Entry) Records() int { return e.ordinal(e.Forms, 0) }

// Pick chooses a body of the wanted form, and reads its record.
func (e *Entry) Pick(form int, record func(n int) ([]byte, error)) (Rep, error) {
	bodies, varies := e.Form(form)
	if bodies == 0 {
		return Rep{}, nil
	}
	rec, err := record(e.ordinal(form, choose(bodies)))
	if err != nil {
		return Rep{}, err
	}
	return parseRecord(rec, varies)
}

// choose picks one of n at random.
func choose(n int) int {
	if n < 2 {
		return 0
	}
	return rand.IntN(n)
}

// SplitHead is the head of an entry whose parts are stored apart, in the class Large or in
// its own.
func (e *Entry) SplitHead(large bool) []byte {
	head := append([]byte(nil), e.Raw[:e.HeadSize()]...)
	head[1] |= flagSplit
	if large {
		head[1] |= flagLarge
	}
	return head
}
