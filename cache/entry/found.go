package entry

import "time"

// Found is what a look into the tier that a fleet shares has found about a key. All of it
// is missing where the look was not answered.
type Found struct {
	// Value is the entry as it was written; nil: there is none.
	Value []byte
	// Broken reports whether there is something that no instance of this version has written under the key.
	Broken bool
	// Created is when Value was, by this machine's clock.
	Created time.Time
	// Purged is the time of the latest Mark of the key that came before Value, by this machine's clock: what was created until then
	// is invalid. Zero means that none is known.
	Purged time.Time
	// Failure is the record of the last fill, if that failed a moment ago; nil: none.
	Failure []byte
	// Leased reports whether the key's lease is held.
	Leased bool
	// Answered reports whether the look was: else Redis could not be read, or must not be at present.
	Answered bool
	// Release ends the lease that the look has taken; nil: it has taken none.
	Release func()
}

// MostAnnounced is the length in bytes of the longest key of which instances announce values.
const MostAnnounced = 1 << 10
