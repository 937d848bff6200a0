package far

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"sundry/cache/entry"
)

// A value in Redis begins with a head:
//
//	=01764331200000.0123456789abcdef
//
// The first character says whether any other entry may replace the value. The digits are the time at which it was created, by the
// clock of Redis, in Unix milliseconds. By these two, the script that writes decides which of two entries is the newer one without
// reading either. The rest is the checksum of the key, the text before the dot, and the payload.
//
// The script dates a value from the future anew. It puts the new time before the old one, to which the checksum applies:
//
//	=01764331200000<01764331260000.0123456789abcdef
//
// In a value that takes the place of a mark, or that is newer than a mark which comes late, the script puts the time of the mark behind
// that of the value, and so in each later value of the key:
//
//	=01764331260000!01764331200000.0123456789abcdef
//
// Instances of earlier versions take that for damage, which is a miss.
//
// The record of a failed fill has a checksum alone. A head finds damage. It is no protection from those who write to Redis.
const (
	dateSize    = 1 + 14
	sumSize     = 1 + 16
	longestHead = 3*dateSize + sumSize
	lasting     = '='
	replaceable = '~'
	redated     = '<'
	marked      = '!'
	sumMark     = '.'
)

// seal returns a payload behind its head.
func seal(key string, mayBeReplaced bool, created time.Time, payload []byte) []byte {
	kind := byte(lasting)
	if mayBeReplaced {
		kind = replaceable
	}
	b := make([]byte, 0, dateSize+sumSize+len(payload))
	b = fmt.Appendf(append(b, kind), "%014d", max(0, created.UnixMilli()))
	return append(appendSum(b, key, b, payload), payload...)
}

// sealRecord returns the record of a failed fill behind its checksum.
func sealRecord(key string, record []byte) []byte {
	return append(appendSum(make([]byte, 0, sumSize+len(record)), key, nil, record), record...)
}

func appendSum(b []byte, key string, date, payload []byte) []byte {
	var sum [8]byte
	binary.BigEndian.PutUint64(sum[:], entry.Checksum(key, date, payload))
	return hex.AppendEncode(append(b, sumMark), sum[:])
}

// unseal returns the payload of a value, and the time of its head. ok reports whether an instance of this version has written the
// value under this key.
func unseal(key string, stored []byte) (payload []byte, created time.Time, ok bool) {
	created, rest, ok := cutDate(stored)
	if !ok || stored[0] != lasting && stored[0] != replaceable {
		return nil, time.Time{}, false
	}
	date := stored[:dateSize]
	if at, behind, ok := cutDate(rest); ok && rest[0] == marked && at.Before(created) {
		rest = behind
	}
	if original, behind, again := cutDate(rest); again && rest[0] == redated && original.After(created) {
		date = append([]byte{stored[0]}, rest[1:dateSize]...)
		rest = behind
	}
	payload, ok = cutSum(key, date, rest)
	return payload, created, ok
}

// markIn returns the time of the mark of which a value tells; zero means that it tells of none.
func markIn(stored []byte) time.Time {
	_, rest, _ := cutDate(stored)
	at, _, ok := cutDate(rest)
	if !ok || rest[0] != marked {
		return time.Time{}
	}
	return at
}

// unsealRecord returns the record of a failed fill.
func unsealRecord(key string, stored []byte) (record []byte, ok bool) {
	return cutSum(key, nil, stored)
}

// cutDate reads a character and a time.
func cutDate(b []byte) (t time.Time, rest []byte, ok bool) {
	if len(b) < dateSize {
		return time.Time{}, nil, false
	}
	ms := int64(0)
	for _, c := range b[1:dateSize] {
		if c < '0' || c > '9' {
			return time.Time{}, nil, false
		}
		ms = 10*ms + int64(c-'0')
	}
	return time.UnixMilli(ms), b[dateSize:], true
}

// cutSum returns the payload behind a checksum, if that is right.
func cutSum(key string, date, b []byte) (payload []byte, ok bool) {
	if len(b) <= sumSize {
		return nil, false
	}
	payload = b[sumSize:]
	if string(appendSum(make([]byte, 0, sumSize), key, date, payload)) != string(b[:sumSize]) {
		return nil, false
	}
	return payload, true
}
