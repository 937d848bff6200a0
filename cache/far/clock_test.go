package far

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestASlowClockIsAskedTwice: the first round trip may have waited for a connection. Redis reads its clock at the end of each.
func TestASlowClockIsAskedTwice(t *testing.T) {
	failed := errors.New("failed")
	const slow, ahead = quickReading + time.Millisecond, time.Hour
	for name, row := range map[string]struct {
		known bool
		takes []time.Duration
		err   error // of the last call
		calls int
		want  error
		off   time.Duration // what may be wrong
	}{
		"quick":                   {takes: []time.Duration{time.Millisecond}, calls: 1, off: time.Millisecond},
		"slow at first":           {takes: []time.Duration{slow, time.Millisecond}, calls: 2, off: time.Millisecond},
		"a stall at first":        {takes: []time.Duration{time.Second, time.Millisecond}, calls: 2, off: time.Millisecond},
		"a connection at first":   {takes: []time.Duration{4 * slow, 2 * slow}, calls: 2, off: slow},
		"slow":                    {takes: []time.Duration{slow, slow}, calls: 2, off: slow / 2},
		"seconds":                 {takes: []time.Duration{time.Second, time.Second}, calls: 2, off: time.Second / 2},
		"slow, and known already": {known: true, takes: []time.Duration{slow, slow}, calls: 2},
		"failed":                  {takes: []time.Duration{0}, err: failed, calls: 1, want: failed},
		"failed at last":          {takes: []time.Duration{slow, 0}, err: failed, calls: 2, want: failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, calls := &clock{}, 0
				if row.known {
					c.read(time.Now().Add(ahead), time.Now(), time.Now())
				}
				err := c.ask(func() (time.Time, error) {
					time.Sleep(row.takes[calls])
					if calls++; calls == len(row.takes) && row.err != nil {
						return time.Time{}, row.err
					}
					return time.Now().Add(ahead), nil
				})
				if !errors.Is(err, row.want) || calls != row.calls {
					t.Errorf("%v after %d calls, want %v after %d", err, calls, row.want, row.calls)
				}
				if known := row.want == nil; c.known.Load() != known || known && (c.off()-ahead).Abs() > row.off {
					t.Errorf("known: %v, %v ahead", c.known.Load(), c.off())
				}
			})
		})
	}
}

// TestWritesDoNotChangeAClockThatIsKnown: purges in force are dated by it.
func TestWritesDoNotChangeAClockThatIsKnown(t *testing.T) {
	c, now := &clock{}, time.Now()
	c.learn(now.Add(time.Hour), now, now.Add(slowestReading+time.Millisecond))
	if c.known.Load() {
		t.Error("it was learnt from a round trip that took too long")
	}
	for _, ahead := range []time.Duration{time.Hour, time.Minute, 0} {
		c.learn(now.Add(ahead), now, now)
	}
	if !c.known.Load() || c.off() != time.Hour {
		t.Errorf("%v ahead", c.off())
	}
}
