package ratelimit

import "encoding/binary"

// reportVersion is the first byte of a report. Instances ignore those of another
// version.
const reportVersion = 1

// newReport makes the report of an instance: the version, the tag of the
// secret, and for each client its pseudonym and how many requests were admitted.
func newReport(s *secret, uses []use) []byte {
	b := binary.BigEndian.AppendUint64([]byte{reportVersion}, s.tag())
	for _, u := range uses {
		b = binary.BigEndian.AppendUint64(b, uint64(u.client))
		b = binary.AppendUvarint(b, uint64(u.n))
	}
	return b
}

// parseReport reads the uses in a report, maxTold at most; none where it was made with
// another secret or by another version, and those before the first mistake.
func parseReport(b []byte, s *secret) []use {
	if len(b) < 9 || b[0] != reportVersion || binary.BigEndian.Uint64(b[1:]) != s.tag() {
		return nil
	}
	b = b[9:]
	var uses []use
	for len(b) > 8 && len(uses) < maxTold {
		n, size := binary.Uvarint(b[8:])
		if size <= 0 || n == 0 || n > 1<<32-1 {
			break
		}
		uses = append(uses, use{pseudonym(binary.BigEndian.Uint64(b)), uint32(n)})
		b = b[8+size:]
	}
	return uses
}
