package web

import (
	"testing"
	"time"
)

// TestPurgesOfOneClient: as many purges as one client can make by unsafe requests keep no slow fill of another URI from being stored.
func TestPurgesOfOneClient(t *testing.T) {
	t.Parallel()
	const rate, burst = 50, 200
	var m uriPurges
	began := time.Unix(1_000_000, 0)
	fill := &Object{Response: Response{Requested: began}}
	for i := range rate*int(memoryOfKeys/time.Second) + burst {
		m.add(uint64(i), began.Add(time.Duration(max(0, i-burst))*time.Second/rate))
	}
	if m.mayCover(1<<40, fill) {
		t.Error("a fill that takes ten minutes is not stored")
	}
	if !m.mayCover(7, fill) {
		t.Error("a purge is forgotten")
	}
}
