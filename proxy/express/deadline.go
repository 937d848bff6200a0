package express

import (
	"errors"
	"os"
	"time"
)

// instant is nanoseconds since the epoch of the lane, by the monotonic clock. 0 is
// never.
type instant int64

func (l *Lane) instant(t time.Time) instant {
	if t.IsZero() {
		return 0
	}
	if i := instant(t.Sub(l.epoch)); i != 0 {
		return i
	}
	return 1
}

func (l *Lane) time(i instant) time.Time {
	if i == 0 {
		return time.Time{}
	}
	return l.epoch.Add(time.Duration(i))
}

// after returns the instant d later, and never if d is 0.
func (i instant) after(d time.Duration) instant {
	if d == 0 {
		return 0
	}
	return i + instant(d)
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	at := c.lane.instant(t)
	if at != 0 && c.least != 0 {
		at = max(at, c.least)
		t = c.lane.time(at)
	}
	c.least = 0
	c.armed.Store(int64(at))
	return c.Conn.SetReadDeadline(t)
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	c.armed.Store(int64(c.lane.instant(t)))
	return c.Conn.SetDeadline(t)
}

// arm sets the read deadline.
func (c *conn) arm(at instant) {
	c.armed.Store(int64(at))
	_ = c.Conn.SetReadDeadline(c.lane.time(at)) // fails if the connection is closed, and then Read does as well
}

// extended reports whether err is only that the read deadline passed which was set
// before the last answers, and sets the right one. So the deadline need not be moved
// for each answer.
func (c *conn) extended(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	if c.expires != 0 && c.lane.instant(time.Now()) >= c.expires {
		return false
	}
	c.arm(c.expires)
	return true
}
