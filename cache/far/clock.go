package far

import (
	"errors"
	"sync/atomic"
	"time"
)

const (
	// slowestReading is how long a round trip may take from which the clock of Redis is
	// read: it may have been read at any instant of it.
	slowestReading = 500 * time.Millisecond
	// sameTime is by how much two readings differ that say the same: clocks are read in
	// milliseconds, by programs that are interrupted.
	sameTime = 10 * time.Millisecond
)

// clock translates between this machine's clock and that of Redis, which is the fleet's. It
// keeps what the first reading says until another one contradicts it, so that the times of
// one instance keep their order. The zero value does not know that of Redis.
type clock struct {
	ahead atomic.Int64 // by how many milliseconds that of Redis is ahead; dates have no more
	known atomic.Bool
}

// read notes what Redis had for its time in a round trip between sent and received.
func (c *clock) read(redis, sent, received time.Time) {
	half := received.Sub(sent) / 2
	if redis.IsZero() || 2*half > slowestReading {
		return
	}
	ahead := redis.Sub(sent.Add(half))
	if off := ahead - c.off(); !c.known.Load() || off.Abs() > half+sameTime {
		c.ahead.Store(ahead.Milliseconds())
	}
	c.known.Store(true)
}

// errSlowClock means that the clock of Redis could not be read to within half a second.
var errSlowClock = errors.New("redis: took too long to tell its time")

// ask reads the clock by a call. If it is not known after that, the call is made once more, since the first one may have waited for a
// connection. It returns the error of the call, or errSlowClock.
func (c *clock) ask(call func() (time.Time, error)) error {
	for range 2 {
		sent := time.Now()
		redis, err := call()
		if err != nil {
			return err
		}
		if c.read(redis, sent, time.Now()); c.known.Load() {
			return nil
		}
	}
	return errSlowClock
}

// ofFleet is the time by the clock of Redis at which this machine's shows t.
func (c *clock) ofFleet(t time.Time) time.Time { return t.Add(c.off()) }

// local is the time by this machine's clock at which that of Redis shows t.
func (c *clock) local(t time.Time) time.Time { return t.Add(-c.off()) }

func (c *clock) off() time.Duration { return time.Duration(c.ahead.Load()) * time.Millisecond }
