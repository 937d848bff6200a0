// Package entry is what the cache stores under a key: a content, which a load returns, with
// what decides its freshness, in a layout that is read in place. What comes from outside is
// checked before it is believed.
package entry

import "time"

// Content is what a load returns: one answer in all its forms, or a negative
// answer.
type Content struct {
	// Source is the name of the source that produced it.
	Source string
	// Edition is the date (2006-01-02) of the content, or "".
	Edition string
	// Expires is when the content itself stops working, as a signed link
	// does; zero: never.
	Expires time.Time
	// Fresh shortens how long this answer is fresh, by its content: the trace of a
	// parcel under way changes sooner than that of a delivered one. Unlike Expires
	// it does not forbid stale use. Whole seconds, at least one; 0: not shortened.
	Fresh time.Duration
	// Since is when the oldest part of the content was created, such as a cached
	// result of a step; zero: all parts are new. A purge applies to content with
	// older parts.
	Since time.Time
	// LastResort marks the answer of a source that is asked only when all others
	// failed: it is fresh briefly, and replaces no usable copy.
	LastResort bool
	// Forms are in the order the endpoint declares them.
	Forms []Form
	// Negative makes it a negative answer, with this message for the caller.
	Negative string
}

// Form is one way to present an answer. No body: the answer has no such form.
// More than one: a pool, picked from afresh for every request.
type Form []Body

// Body is a complete response.
type Body struct {
	Status   int    // one that HTTP knows, 200 to 599
	Type     string // Content-Type, at most 255 bytes
	ETag     string // quoted, at most 255 bytes; "" for none
	Location string // of a redirect
	// Data must not change once it is handed over.
	Data []byte
	// Compress means that it is worth compressing for callers that accept that,
	// once it is requested again. It has no effect in a pool.
	Compress bool
}

// Meta is what decides an entry's freshness.
type Meta struct {
	Source   string
	Edition  string
	Created  time.Time     // when its last load began, to the millisecond
	Modified time.Time     // when its content last changed
	Expires  time.Time     // zero: never
	Fresh    time.Duration // 0: does not shorten
	Negative bool
	// LastResort and Since are those of the content.
	LastResort bool
	Since      time.Time
	Spread     uint8 // this entry's random part of the jitter
}

// OldestPart is when the oldest part of the content was created.
func (m *Meta) OldestPart() time.Time {
	if !m.Since.IsZero() && m.Since.Before(m.Created) {
		return m.Since
	}
	return m.Created
}

// Jitter is the spread as a fraction, 0 to 1.
func (m *Meta) Jitter() float64 { return float64(m.Spread) / 255 }

// Rep is the one representation that goes to the caller.
type Rep struct {
	Status   int
	Type     string
	ETag     string
	Location string
	Coding   Coding
	Varies   bool // other callers may get it in another coding
	Data     []byte
}

// Skew is how far ahead another clock is believed to be at most: that of the instance
// that gave an order or made an entry, or this one before it was set back.
const Skew = time.Second

// FromFuture reports whether the entry was created after now: by a clock that is ahead, or
// before this one was set back. Nobody knows how old it is.
func (m *Meta) FromFuture(now time.Time) bool { return m.Created.Sub(now) > Skew }

// MadeBefore reports whether a purge at that time, of its endpoint or of its key, applies to
// the entry; zero: none does.
// An entry from the future may have been made before any purge.
func (m *Meta) MadeBefore(purge, now time.Time) bool {
	return !purge.IsZero() && (!m.OldestPart().After(purge) || m.FromFuture(now))
}

// Expired reports whether an entry that is no longer fresh may not be served at all: its
// content has stopped working, or it is negative.
func (m *Meta) Expired(now time.Time) bool {
	return m.Negative || !m.Expires.IsZero() && now.After(m.Expires)
}

// Replaceable entries are replaced by any other, and replace no usable copy:
// negative answers, and answers of a last resort.
func (m *Meta) Replaceable() bool { return m.Negative || m.LastResort }
