package geoip

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"
)

// The layout of an ip2region .xdb file: a header of 256 bytes, an index of
// 65,536 pairs of pointers by the first two bytes of the address, and index
// entries (first address, last address, length and place of the text), sorted.
// https://github.com/lionsoul2014/ip2region
const (
	xdbHeader    = 256
	xdbVectors   = 256 * 256 * 8
	xdbVersion3  = 3
	xdbPointers  = 6 // text length u16 and pointer u32 of an entry
	xdbMaxMemory = 1 << 30
)

var errXDB = errors.New("not an ip2region .xdb file, or a damaged one")

// xdb holds the whole file in memory.
type xdb struct {
	b       []byte
	addrLen int // in bytes: 4 or 16
}

func openXDB(path string) (DB, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.Size() > xdbMaxMemory {
		return nil, fmt.Errorf("%s: %d bytes; expected at most %d", path, st.Size(), xdbMaxMemory)
	}
	b, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	db, err := newXDB(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return db, nil
}

func newXDB(b []byte) (*xdb, error) {
	if len(b) < xdbHeader+xdbVectors {
		return nil, errXDB
	}
	le := binary.LittleEndian
	db := &xdb{b: b, addrLen: 4}
	if le.Uint16(b) >= xdbVersion3 && le.Uint16(b[16:]) == 6 {
		db.addrLen = 16
	}
	if v := le.Uint16(b); v < 2 || v > xdbVersion3 {
		return nil, fmt.Errorf("%w: version %d; expected 2 or 3", errXDB, v)
	}
	return db, nil
}

// Lookup implements DB.
func (x *xdb) Lookup(a netip.Addr) (Place, bool, error) {
	a = a.Unmap()
	key := a.AsSlice()
	if len(key) != x.addrLen {
		return Place{}, false, nil
	}
	at := xdbHeader + (int(key[0])*256+int(key[1]))*8
	first, last := binary.LittleEndian.Uint32(x.b[at:]), binary.LittleEndian.Uint32(x.b[at+4:])
	size := uint32(2*x.addrLen + xdbPointers)
	if first == 0 || last < first {
		return Place{}, false, nil
	}
	low, high := uint32(0), (last-first)/size
	for low <= high {
		mid := low + (high-low)/2
		e, err := x.bytesAt(uint64(first)+uint64(mid)*uint64(size), int(size))
		if err != nil {
			return Place{}, false, err
		}
		switch {
		case bytes.Compare(key, x.address(e[:x.addrLen])) < 0:
			if mid == 0 {
				return Place{}, false, nil
			}
			high = mid - 1
		case bytes.Compare(key, x.address(e[x.addrLen:2*x.addrLen])) > 0:
			low = mid + 1
		default:
			return x.place(e[2*x.addrLen:])
		}
	}
	return Place{}, false, nil
}

// bytesAt returns a part of the file, or an error beyond its end.
func (x *xdb) bytesAt(at uint64, size int) ([]byte, error) {
	if at+uint64(size) > uint64(len(x.b)) {
		return nil, errXDB
	}
	return x.b[at:][:size], nil
}

// address turns an entry's address into network order: IPv4 is stored little
// endian, IPv6 big endian.
func (x *xdb) address(b []byte) []byte {
	if x.addrLen == 16 {
		return b
	}
	return []byte{b[3], b[2], b[1], b[0]}
}

// place reads the entry's text.
func (x *xdb) place(pointers []byte) (Place, bool, error) {
	n, at := int(binary.LittleEndian.Uint16(pointers)), uint64(binary.LittleEndian.Uint32(pointers[2:]))
	text, err := x.bytesAt(at, n)
	if err != nil {
		return Place{}, false, err
	}
	p := parseRegion(string(text))
	return p, p.Country != "", nil
}

// parseRegion reads country|region|province|city|ISP, and the newer
// country|province|city|ISP|code. "0" is unknown.
func parseRegion(text string) Place {
	f := strings.Split(text, "|")
	for i, v := range f {
		if v == "0" || v == "内网IP" {
			f[i] = ""
		}
	}
	for len(f) < 5 {
		f = append(f, "")
	}
	if code := f[4]; len(code) == 2 && strings.ToUpper(code) == code && isLetters(code) {
		return Place{Country: f[0], Province: fullProvince(f[1]), City: f[2], ISP: f[3], CountryCode: code}
	}
	return Place{Country: f[0], Province: fullProvince(f[2]), City: f[3], ISP: f[4]}
}

func isLetters(s string) bool { return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" }
