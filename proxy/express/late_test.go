//go:build linux

package express

import (
	"bufio"
	"net"
	"testing"
	"time"

	"sundry/upstreams/lib/waittest"
)

// readLate sends requests, of which the first is for more than buffers hold, and reads
// that answer only when it is being written. It returns a time between the two.
func readLate(t testing.TB, c net.Conn, r *bufio.Reader, behind string) time.Time {
	t.Helper()
	send(t, c, get("/huge")+behind)
	if _, err := r.Peek(1); err != nil {
		t.Fatal(err)
	}
	between := time.Now()
	expect(t, r, "0123456789abcdef")
	return between
}

// TestRequestsBehindALateReaderArriveLate: what is answered behind an answer that its
// client read late is asked at that time, not when it was read from the connection.
func TestRequestsBehindALateReaderArriveLate(t *testing.T) {
	s := openSite(t)
	c := s.dial(t)
	r := bufio.NewReader(c)
	between := readLate(t, c, r, hit)
	expect(t, r, "/hit")
	if arrived := time.Unix(0, s.arrived.Load()); arrived.Before(between) {
		t.Errorf("the request arrived %v too early", between.Sub(arrived))
	}
}

// TestLateReadersHaveTheirTime: the time for the next head begins when the answers to
// those before it are written.
func TestLateReadersHaveTheirTime(t *testing.T) {
	s := openSite(t, limits(long, 0, 4*long, 2*long))
	c := s.dial(t)
	r := bufio.NewReader(c)
	send(t, c, get("/miss"))
	expect(t, r, "miss")
	there := s.only(t)
	waittest.Until(t, "idle time", func() bool { return instant(there.armed.Load()) > instant(3*long/2) })
	least := there.lane.instant(readLate(t, c, r, hit[:20])).after(long)
	waittest.Until(t, "time for a head", func() bool { return instant(there.armed.Load()) < instant(3*long/2) })
	if armed := instant(there.armed.Load()); armed < least {
		t.Errorf("the time for a head ends %v too early", time.Duration(least-armed))
	}
	send(t, c, hit[20:])
	expect(t, r, "/hit")
}

// TestTimeForAHeadIsHandedOver: net/http gets the time for the rest of a head, not the
// deadline that was set before the last answers.
func TestTimeForAHeadIsHandedOver(t *testing.T) {
	s := openSite(t, limits(long, 0, long, 2*long))
	c := s.dial(t)
	r := bufio.NewReader(c)
	send(t, c, hit)
	expect(t, r, "/hit")
	there := s.only(t)
	waittest.Until(t, "the answer is noted", there.unseen.Load)
	least := there.lane.instant(time.Now()).after(long)
	send(t, c, "POST /read HTTP/1.1\r\nHo")
	waittest.Until(t, "net/http has it", func() bool { return !there.unseen.Load() })
	if armed := instant(there.armed.Load()); armed < least {
		t.Errorf("the time for a head ends %v too early", time.Duration(least-armed))
	}
	send(t, c, "st: a.example\r\nContent-Length: 0\r\n\r\n")
	expect(t, r, "miss /read")
}
