package web

import (
	"errors"
	"io"
	"sync"
)

// segment is how many bytes of a body lie together.
const segment = 64 << 10

// ErrLagging is what a reader gets who was so slow that what it would read next is no longer there.
var ErrLagging = errors.New("the reader is too far behind the body")

// Spool is a body that arrives once and is read by many, each at its own pace, from its first byte on and while it
// arrives. It keeps all of a body of up to its window; of a longer one, what the fastest reader has read goes once it is that
// far back, and the writer waits for the fastest reader, so that memory is bounded. It is safe for concurrent use; one
// writes.
type Spool struct {
	window int64

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced whenever there is something new
	segments [][]byte      // from offset start on
	start    int64
	size     int64
	fastest  int64 // what was read by whoever has read most
	ended    bool
	err      error
}

// NewSpool makes a spool that keeps up to window bytes.
func NewSpool(window int64) *Spool {
	return &Spool{window: max(window, segment), changed: make(chan struct{})}
}

// Write appends bytes, once there is room for them. It fails only once the spool is closed.
func (s *Spool) Write(b []byte) (n int, err error) {
	for n < len(b) {
		room, wait, err := s.room()
		if err != nil {
			return n, err
		}
		if room == 0 {
			<-wait
			continue
		}
		n += s.append(b[n:min(len(b), n+room)])
	}
	return n, nil
}

// room is how many bytes may be written now, and what to wait for where that is none.
func (s *Spool) room() (n int, wait <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return 0, nil, io.ErrClosedPipe
	}
	return int(max(0, max(s.fastest, s.start)+s.window-s.size)), s.changed, nil
}

func (s *Spool) append(b []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rest := b; len(rest) > 0; {
		last := len(s.segments) - 1
		if last < 0 || len(s.segments[last]) == segment {
			s.segments = append(s.segments, make([]byte, 0, min(s.size, segment))) // the first grows: most bodies are small
			last++
		}
		free := min(len(rest), segment-len(s.segments[last]))
		s.segments[last] = append(s.segments[last], rest[:free]...)
		rest = rest[free:]
	}
	s.size += int64(len(b))
	for s.size-s.start > s.window+segment {
		s.segments[0] = nil
		s.segments, s.start = s.segments[1:], s.start+segment
	}
	s.signal()
	return len(b)
}

// signal wakes all who wait. The lock is held.
func (s *Spool) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Close ends the body: with nil it is complete, else it is cut off there, for all readers.
func (s *Spool) Close(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.err = true, err
		s.signal()
	}
}

// FromStart reports whether the body is still there from its first byte on.
func (s *Spool) FromStart() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start == 0
}

// Completed is the body that these bytes complete, which are not written yet; false: it was given up, or is no longer there
// from its first byte on.
func (s *Spool) Completed(last []byte) (body []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.start > 0 {
		return nil, false
	}
	body = make([]byte, 0, s.size+int64(len(last)))
	for _, b := range s.segments {
		body = append(body, b...)
	}
	return append(body, last...), true
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
		at := offset - s.start
		b = s.segments[at/segment][at%segment:]
		if read := offset + int64(len(b)); read > s.fastest {
			s.fastest = read
			s.signal()
		}
		return b, nil, nil
	case !s.ended:
		return nil, s.changed, nil
	case s.err != nil:
		return nil, nil, s.err
	}
	return nil, nil, io.EOF
}
