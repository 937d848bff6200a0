package redistest

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
)

// TestAPortThatIsTaken meanwhile, by whatever, is not used: not even if a Redis answers
// there.
func TestAPortThatIsTaken(t *testing.T) {
	other := Start(t)
	bus := Start(t, "--cluster-enabled", "yes", "--cluster-port", freePort(t))
	stranger, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Close() }()
	_, taken, _ := net.SplitHostPort(stranger.Addr().String())
	for name, take := range map[string]func(s *Server){
		"by another Redis":     func(s *Server) { s.at(other.port) },
		"by a stranger":        func(s *Server) { s.at(taken) },
		"by a Cluster's node":  func(s *Server) { s.at(bus.port) },
		"where the bus is":     func(s *Server) { s.args = []string{"--cluster-enabled", "yes", "--cluster-port", other.port} },
		"where a Sentinel was": func(s *Server) { s.at(taken); s.watch(other) },
	} {
		t.Run(name, func(t *testing.T) {
			tries := 0
			s := startAt(t, func(s *Server) {
				if tries++; tries < 3 {
					take(s)
				}
			})
			if tries != 3 || s.port == taken || s.port == other.port {
				t.Errorf("port %s at the %d. try", s.port, tries)
			}
			s.Must("PING")
		})
	}
	other.Must("PING")
}

// TestARestartedServerIsEmpty, at the same port.
func TestARestartedServerIsEmpty(t *testing.T) {
	s := Start(t)
	at := s.Addr
	s.Must("SET k v")
	s.Restart()
	if reply := s.Must("EXISTS k"); reply != ":0\r\n" || s.Addr != at {
		t.Errorf("%q at %s", reply, s.Addr)
	}
}

func TestAReplicaHasWhatItsMasterHas(t *testing.T) {
	master := Start(t)
	master.Must("SET k v")
	if reply := StartReplica(t, master).Must("GET k"); !strings.HasPrefix(reply, "$1\r\nv") {
		t.Errorf("%q", reply)
	}
}

func TestSlots(t *testing.T) {
	for key, want := range map[string]int{"": 0, "foo": 12182, "bar": 5061, "hello": 866, "123456789": 0x31c3} {
		if got := Slot(key); got != want {
			t.Errorf("%q: %d, want %d", key, got, want)
		}
	}
	for masters := 1; masters < 8; masters++ {
		c := make(Cluster, masters)
		for i := range c {
			for _, slot := range []int{i * slots / masters, (i+1)*slots/masters - 1} {
				if got := c.Owner(slot); got != i {
					t.Errorf("slot %d of %d masters: %d, want %d", slot, masters, got, i)
				}
			}
		}
	}
}

// TestASlotThatMoves has its keys where the caller of MoveSlot is told, whatever their
// number.
func TestASlotThatMoves(t *testing.T) {
	c := StartCluster(t, 3)
	slot := Slot("k")
	from, to := c[c.Owner(slot)], (c.Owner(slot)+1)%3
	for i := range 25 {
		from.Must(fmt.Sprintf("SET {k}%d v", i))
	}
	count := func(s *Server) string { return s.Must(fmt.Sprintf("CLUSTER COUNTKEYSINSLOT %d", slot)) }
	var seen []string
	c.MoveSlot(slot, to, func() { seen = append(seen, count(from), count(c[to])) })
	if got := strings.Join(append(seen, count(from), count(c[to])), ""); got != ":25\r\n:0\r\n:0\r\n:25\r\n:0\r\n:25\r\n" {
		t.Errorf("%q", got)
	}
	if reply, _ := from.Do("GET {k}7"); !strings.HasPrefix(reply, "-MOVED") {
		t.Errorf("the old master says %q", reply)
	}
}
