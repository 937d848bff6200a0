package far

import (
	"strconv"
	"time"
)

// An entry in Redis begins with a head, by which the script that writes decides which of
// two entries is the newer one without reading either: a character that says whether any
// other entry may replace it, and the time at which it was created, by the clock of
// Redis, as 14 digits of Unix milliseconds.
const (
	headSize    = 15
	lasting     = '='
	replaceable = '~'
)

// appendHead appends the head of an entry.
func appendHead(b []byte, mayBeReplaced bool, created time.Time) []byte {
	if mayBeReplaced {
		b = append(b, replaceable)
	} else {
		b = append(b, lasting)
	}
	digits := strconv.FormatInt(max(0, created.UnixMilli()), 10)
	for range headSize - 1 - len(digits) {
		b = append(b, '0')
	}
	return append(b, digits...)
}

// splitHead splits what Redis holds into the time of its head and the entry. What has no
// head is no entry: nil.
func splitHead(stored []byte) (entry []byte, created time.Time) {
	if len(stored) <= headSize || stored[0] != lasting && stored[0] != replaceable {
		return nil, time.Time{}
	}
	ms := int64(0)
	for _, c := range stored[1:headSize] {
		if c < '0' || c > '9' {
			return nil, time.Time{}
		}
		ms = 10*ms + int64(c-'0')
	}
	return stored[headSize:], time.UnixMilli(ms)
}
