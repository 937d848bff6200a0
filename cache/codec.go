package cache

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"time"
	"unsafe"
)

// The flat layout of an entry, little endian, read in place:
//
//	 0 version u8 | flags u8 | spread u8 | forms u8
//	 4 born i64 | 12 modified i64 | 20 expires i64   (unix milliseconds)
//	28 since i64 | 36 fresh u32                     (seconds)
//	40 generation u64 | 48 digest u64
//	56 len(source) u8 | len(edition) u8 | len(message) u16
//	60 source edition message
//	   per form: bodies u32, codings u8
//	   unless split: an offset u32 per record, and one past the last
//	   unless split: the records
//
// A record is one representation: status u16, lengths of type u8, ETag u8 and
// location u16, the three strings, then the body to the record's end.
const (
	layoutVersion  = 3
	fixedHead      = 60
	formRow        = 5
	recordHead     = 6
	flagNegative   = 1
	flagSplit      = 2
	flagLastResort = 4
	flagLarge      = 8 // of a split head alone: its parts are in the class of large ones
)

var errLayout = errors.New("not an entry of this layout")

// entry is an encoded entry: all of it, or when it is split only its head.
type entry struct {
	raw     []byte
	meta    Meta
	message string
	gen     uint64
	digest  uint64
	forms   int
	table   int // where the form rows begin
}

// text views bytes as a string. The bytes of an entry are never written to
// after they were encoded or copied out of a tier.
func text(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // see above
}

// parse reads an entry's head; it checks every length it later relies on.
func parse(raw []byte) (entry, error) {
	if len(raw) < fixedHead || raw[0] != layoutVersion {
		return entry{}, errLayout
	}
	le := binary.LittleEndian
	e := entry{raw: raw, forms: int(raw[3]), gen: le.Uint64(raw[40:]), digest: le.Uint64(raw[48:])}
	src, ed, msg := int(raw[56]), int(raw[57]), int(le.Uint16(raw[58:]))
	e.table = fixedHead + src + ed + msg
	if len(raw) < e.table+e.forms*formRow {
		return entry{}, errLayout
	}
	e.meta = Meta{
		Source:   text(raw[fixedHead : fixedHead+src]),
		Edition:  text(raw[fixedHead+src : fixedHead+src+ed]),
		Born:     time.UnixMilli(int64(le.Uint64(raw[4:]))),
		Modified: time.UnixMilli(int64(le.Uint64(raw[12:]))),
		Fresh:    time.Duration(le.Uint32(raw[36:])) * time.Second,
		Negative: raw[1]&flagNegative != 0, LastResort: raw[1]&flagLastResort != 0,
		Spread: raw[2],
	}
	if ms := int64(le.Uint64(raw[20:])); ms != 0 {
		e.meta.Expires = time.UnixMilli(ms)
	}
	if ms := int64(le.Uint64(raw[28:])); ms != 0 {
		e.meta.Since = time.UnixMilli(ms)
	}
	e.message = text(raw[e.table-msg : e.table])
	return e, nil
}

func (e *entry) split() bool { return e.raw[1]&flagSplit != 0 }

func (e *entry) large() bool { return e.raw[1]&flagLarge != 0 }

// form tells how many bodies a form has and in which codings.
func (e *entry) form(i int) (bodies int, has Codings) {
	if i < 0 || i >= e.forms {
		return 0, 0
	}
	row := e.raw[e.table+i*formRow:]
	return int(binary.LittleEndian.Uint32(row)), Codings(row[4])
}

// perBody is the number of records a body has in these codings.
func perBody(has Codings) int { return 1 + bits.OnesCount8(uint8(has)&^1) }

// ordinal is the record's place among all records.
func (e *entry) ordinal(form, body int, c Coding) int {
	n := 0
	for i := range form {
		bodies, has := e.form(i)
		n += bodies * perBody(has)
	}
	_, has := e.form(form)
	below := uint8(has) & (1<<c - 1) &^ 1
	rank := bits.OnesCount8(below)
	if c > Identity {
		rank++
	}
	return n + body*perBody(has) + rank
}

// record is the n-th record of an entry that is not split.
func (e *entry) record(n int) ([]byte, error) {
	at := e.table + e.forms*formRow + 4*n
	if n < 0 || at+8 > len(e.raw) {
		return nil, errLayout
	}
	from, to := binary.LittleEndian.Uint32(e.raw[at:]), binary.LittleEndian.Uint32(e.raw[at+4:])
	if from > to || uint64(to) > uint64(len(e.raw)) {
		return nil, errLayout
	}
	return e.raw[from:to], nil
}

// parseRecord views a record as a representation.
func parseRecord(rec []byte, c Coding, has Codings) (Rep, error) {
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
		Coding: c, Varies: has&^1 != 0, Data: rec[recordHead+len(strs):],
	}, nil
}
