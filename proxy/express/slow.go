package express

import (
	"net/http"
	"time"
)

const (
	// slowPiece is how much of an answer has to be taken within the timeout for writing.
	slowPiece = 256 << 10
	// SlowestReader is how many bytes a second a client has to take of a stored body on the whole: one that takes less
	// would hold a large body in memory for too long.
	SlowestReader = 64 << 10
)

// pace says until when each piece of an answer may take.
type pace struct {
	timeout time.Duration
	end     time.Time
}

func paceOf(timeout time.Duration, n int, now time.Time) pace {
	return pace{timeout, now.Add(timeout + time.Duration(n/SlowestReader)*time.Second)}
}

// next is the deadline of a piece that begins now.
func (p pace) next(now time.Time) time.Time {
	if at := now.Add(p.timeout); at.Before(p.end) {
		return at
	}
	return p.end
}

// Write writes a body by net/http as the lane does: in pieces that a client has the timeout for, so that one on a slow
// network gets a large body whole, whatever the time that the server has for answers. The caller holds the body meanwhile; see
// Unsent.
func Write(w http.ResponseWriter, body []byte, timeout time.Duration) (n int, err error) {
	if len(body) <= slowPiece {
		return w.Write(body)
	}
	control, by := http.NewResponseController(w), paceOf(timeout, len(body), time.Now())
	for n < len(body) && err == nil {
		_ = control.SetWriteDeadline(by.next(time.Now())) // a test's writer has none
		var more int
		more, err = w.Write(body[n:min(n+slowPiece, len(body))])
		n += more
	}
	return n, err
}
