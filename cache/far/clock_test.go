package far

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestASlowClockIsAskedTwice: the first round trip may have waited for a connection.
func TestASlowClockIsAskedTwice(t *testing.T) {
	failed := errors.New("failed")
	const slow, ahead = slowestReading + time.Millisecond, time.Hour
	for name, row := range map[string]struct {
		known bool
		takes []time.Duration
		err   error // of the last call
		calls int
		want  error
	}{
		"fast":                    {takes: []time.Duration{time.Millisecond}, calls: 1},
		"slow at first":           {takes: []time.Duration{slow, time.Millisecond}, calls: 2},
		"slow":                    {takes: []time.Duration{slow, slow}, calls: 2, want: errSlowClock},
		"slow, and known already": {known: true, takes: []time.Duration{slow}, calls: 1},
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
				if known := row.want == nil; c.known.Load() != known || known && (c.off()-ahead).Abs() > time.Millisecond {
					t.Errorf("known: %v, %v ahead", c.known.Load(), c.off())
				}
			})
		})
	}
}
