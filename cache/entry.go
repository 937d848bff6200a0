package cache

import (
	"time"
)

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

// Coding is a content coding of RFC 9110.
type Coding uint8

// The codings, by rising preference.
const (
	Identity Coding = iota
	Gzip
	Zstd
)

// String is the coding's name in Content-Encoding; "" for identity.
func (c Coding) String() string { return [...]string{"", "gzip", "zstd"}[min(c, Zstd)] }

// Codings is a set of content codings; identity is always a member.
type Codings uint8

// With adds a coding.
func (s Codings) With(c Coding) Codings { return s | 1<<c }

// Has reports whether the coding is in the set.
func (s Codings) Has(c Coding) bool { return c == Identity || s&(1<<c) != 0 }

// best is the preferred coding of the set.
func (s Codings) best() Coding {
	for c := Zstd; c > Identity; c-- {
		if s.Has(c) {
			return c
		}
	}
	return Identity
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

// oldestPart is when the oldest part of the content was created.
func (m *Meta) oldestPart() time.Time {
	if !m.Since.IsZero() && m.Since.Before(m.Created) {
		return m.Since
	}
	return m.Created
}

// jitter is the spread as a fraction, 0 to 1.
func (m *Meta) jitter() float64 { return float64(m.Spread) / 255 }

// Want says which representation a caller asks for.
type Want struct {
	Form   int     // index into Content.Forms
	Accept Codings // what the caller can decode
}

// Tier is where an answer was found.
type Tier uint8

// The tiers. Upstream means that it was just filled.
const (
	Upstream Tier = iota
	Near
	Far
)

// String is the tier's name in Cache-Status and in metrics.
func (t Tier) String() string { return [...]string{"upstream", "memory", "redis"}[min(t, Far)] }

// Hit is an answer from the cache, ready to be written.
type Hit struct {
	State     State
	Tier      Tier
	Left      time.Duration // of freshness; negative when stale
	Age       time.Duration
	Stored    bool  // just filled and stored
	Coalesced bool  // waited for another caller's fill
	Refreshed bool  // the caller waited while it replaced a stale entry
	Failed    error // why the refresh failed, if a stale copy is served as fallback
	Meta      Meta
	Message   string // of a negative answer
	// Missing means that the answer has no such form.
	Missing bool
	// Random means that it was picked from a pool.
	Random bool
	Rep    Rep
	// superseded: another instance has written a newer entry to Redis.
	superseded bool
}

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
