package web

import (
	"strconv"
	"testing"
	"time"

	"sundry/cache/purged"
)

// TestPurgesOfOneClient: as many purges as one client can make by unsafe requests keep no slow fill of another URI from being stored.
func TestPurgesOfOneClient(t *testing.T) {
	t.Parallel()
	const rate, burst = 50, 200
	s := newTestStore(t, 1<<20)
	began := time.Unix(1_000_000, 0)
	fill := &Object{Response: Response{Requested: began}}
	for i := range rate*int(purged.Life/time.Second) + burst {
		s.Purge(Purge{Key: strconv.Itoa(i), At: began.Add(time.Duration(max(0, i-burst)) * time.Second / rate)})
	}
	if s.mayBeCovered("another", fill) {
		t.Error("a fill that takes ten minutes is not stored")
	}
	if !s.mayBeCovered("7", fill) {
		t.Error("a purge is forgotten")
	}
}
