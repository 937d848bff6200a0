package web

import (
	"errors"
	"io"
	"sync"

	"sundry/cache/clients"
)

// segment is how many bytes of a body lie together.
const segment = 64 << 10

// ErrLagging is what a reader gets who was so slow that what it would read next is no longer there.
var ErrLagging = errors.New("the reader is too far behind the body")

// NewSpoolMemory returns the limit of the bytes that the spools which share it hold together, in segments.
func NewSpoolMemory(bytes int64) *clients.Limit { return clients.NewLimit(bytes / segment) }

// Spool is a body that arrives once and is read by many, each at its own pace, from its first byte on and while it
// arrives. It holds all of a body of up to its window; of a longer one, what the fastest reader has read goes once it is that
// far back. The writer waits for the fastest reader, so that memory is bounded. If the memory that spools share is used
// up, or the client's part of it, the window is one segment. It is safe for concurrent use; one goroutine writes.
type Spool struct {
	window, ahead int64
	client        clients.ID

	mu       sync.Mutex
	memory   *clients.Limit // holds a unit for each segment but one; nil means that it holds none, or has ended
	stored   []byte         // the complete body, which takes the place of the segments; see Settle
	unread   func()         // is called once, when stored has lost its last reader; nil means never, or already called
	readers  int
	changed  chan struct{} // closed once there is something new; nil: nobody waits
	segments [][]byte      // from offset start on; behind the end of the last is what is being written
	start    int64
	size     int64
	fastest  int64 // what was read by whoever has read most
	expected int64
	ended    bool
	err      error
}

// NewSpool returns a spool that holds up to window bytes of a body of a length; -1 means that the length is not known. The
// writer is at most ahead bytes further than the fastest reader. The memory is that of the client on whose behalf the body
// arrives. It is given back once the spool is settled, or is closed and nobody reads it.
func NewSpool(window, ahead, length int64, memory *clients.Limit, client clients.ID) *Spool {
	return &Spool{window: max(window, segment), ahead: max(min(ahead, window), segment), expected: length, memory: memory, client: client}
}

// Hold adds a reader, which must call Release at its end. The memory of a closed spool without readers no longer counts, so a reader must
// hold the spool before it can be closed.
func (s *Spool) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers++
}

// Release removes a reader.
func (s *Spool) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers--
	s.giveBack()
}

// giveBack gives the memory back once nobody needs the segments, and calls unread once the stored body has no readers. The lock is held.
func (s *Spool) giveBack() {
	unread := s.ended && s.readers == 0
	if s.stored != nil || unread {
		s.memory.Give(s.client, int64(max(0, len(s.segments)-1)))
		s.memory = nil
	}
	if unread && s.unread != nil {
		s.unread()
		s.unread = nil
	}
}

// Settle lets the readers go on with the complete body, which is stored now, instead of the segments: slow ones hold no
// memory of the spool. Nothing is written any more. The body's memory no longer counts here. The
// spool calls unread once, when it is closed and has no readers. unread must not use the spool.
func (s *Spool) Settle(body []byte, unread func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stored, s.unread = body, unread
	s.giveBack()
	s.segments, s.start, s.size = nil, 0, int64(len(body))
	s.signal()
}

// Stored returns the complete body with which the readers go on; nil until Settle.
func (s *Spool) Stored() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stored
}

// Write appends bytes, once there is room for them. It fails only once the spool is closed.
func (s *Spool) Write(b []byte) (n int, err error) {
	for n < len(b) {
		room, err := s.Room()
		if err != nil {
			return n, err
		}
		more := copy(room, b[n:])
		s.Wrote(more)
		n += more
	}
	return n, nil
}

// Room is where the next bytes are to be put, once there is some. It fails only once the spool is closed.
func (s *Spool) Room() ([]byte, error) {
	for {
		b, wait, err := s.room()
		if wait == nil {
			return b, err
		}
		<-wait
	}
}

// room is Room, or what to wait for.
func (s *Spool) room() (b []byte, wait <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return nil, nil, io.ErrClosedPipe
	case s.stored != nil:
		return make([]byte, 1), nil, nil // in which the end is read
	}
	room := max(s.fastest, s.start) + s.ahead - s.size
	if room <= 0 {
		return nil, s.wait(), nil
	}
	last := s.lastSegment()
	if last == nil {
		return nil, s.wait(), nil
	}
	b = last[len(last):cap(last)]
	return b[:min(int64(len(b)), room)], nil, nil
}

// smallSegment is how large the first segment is at first where the length is not known: most bodies are small.
const smallSegment = 4 << 10

// lastSegment is the one with room behind its end; nil where there is no memory for it. The first has as much as is expected,
// and one byte more, in which nothing is read but the end; or it grows.
func (s *Spool) lastSegment() []byte {
	last := len(s.segments) - 1
	if last >= 0 && len(s.segments[last]) < cap(s.segments[last]) {
		return s.segments[last]
	}
	size := int64(segment)
	switch {
	case last < 0 && s.expected >= 0:
		size = min(size-1, s.expected) + 1
	case last < 0:
		size = smallSegment
	case len(s.segments[last]) < segment:
		size = min(size, 2*s.size)
		s.segments[last] = append(make([]byte, 0, size), s.segments[last]...)
		return s.segments[last]
	}
	if !s.reserve() {
		return nil
	}
	s.segments = append(s.segments, make([]byte, 0, size))
	return s.segments[len(s.segments)-1]
}

// reserve takes memory for another segment. Where there is none, what the fastest reader has read goes.
func (s *Spool) reserve() bool {
	for len(s.segments) > 0 && !s.memory.Take(s.client, 1) {
		if s.start+segment > s.fastest {
			return false
		}
		s.drop()
	}
	return true
}

// drop drops the first segment.
func (s *Spool) drop() {
	s.segments[0] = nil
	s.segments, s.start = s.segments[1:], s.start+segment
	if len(s.segments) > 0 {
		s.memory.Give(s.client, 1)
	}
}

// Wrote appends the first n bytes of what Room was.
func (s *Spool) Wrote(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n == 0 || s.stored != nil {
		return
	}
	last := &s.segments[len(s.segments)-1]
	*last = (*last)[:len(*last)+n]
	s.size += int64(n)
	for s.size-s.start > s.window+segment {
		s.drop()
	}
	s.signal()
}

// wait is what is closed once there is something new. The lock is held.
func (s *Spool) wait() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// signal wakes all who wait. The lock is held.
func (s *Spool) signal() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Close ends the body: with nil it is complete, else it is cut off there, for all readers.
func (s *Spool) Close(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.err = true, err
		s.signal()
		s.giveBack()
	}
}

// FromStart reports whether the body is still there from its first byte on.
func (s *Spool) FromStart() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start == 0
}

// Completed is the body that the first n bytes of what Room was complete, before they are appended; false: it was given up, or
// is no longer there from its first byte on. It must not be changed.
func (s *Spool) Completed(n int) (body []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.start > 0 {
		return nil, false
	}
	size := int(s.size) + n
	if len(s.segments) == 1 && cap(s.segments[0]) <= size+1 {
		return s.segments[0][:size:size], true
	}
	body = make([]byte, 0, size)
	for _, b := range s.segments {
		body = append(body, b[:min(cap(b), size-len(body))]...)
	}
	return body, true
}

// at returns the bytes from an offset on that lie in one segment. The lock is held.
func (s *Spool) at(offset int64) []byte {
	if s.stored != nil {
		return s.stored[offset:min(offset+segment, s.size)]
	}
	offset -= s.start
	return s.segments[offset/segment][offset%segment:]
}

// Next returns bytes from an offset on, which are not to be changed; none with a channel to wait for; or the end: io.EOF,
// ErrLagging, or the error by which the body was cut off.
func (s *Spool) Next(offset int64) (b []byte, wait <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case offset < s.start:
		return nil, nil, ErrLagging
	case offset < s.size:
		b = s.at(offset)
		if read := offset + int64(len(b)); read > s.fastest {
			s.fastest = read
			s.signal()
		}
		return b, nil, nil
	case !s.ended:
		if offset > s.fastest { // the beginning of a range, for which the writer must not wait until somebody has read up to there
			s.fastest = offset
			s.signal()
		}
		return nil, s.wait(), nil
	case s.err != nil:
		return nil, nil, s.err
	}
	return nil, nil, io.EOF
}
