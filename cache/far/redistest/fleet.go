package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// StartSentinel starts a Sentinel that watches a master under the name of main.
// More lines of its configuration may follow.
func StartSentinel(t testing.TB, master *Server, lines ...string) *Server {
	t.Helper()
	return startAt(t, func(s *Server) { s.watch(master, lines...) })
}

// watch makes the server a Sentinel.
func (s *Server) watch(master *Server, lines ...string) {
	s.t.Helper()
	s.sentinel = filepath.Join(s.dir, "sentinel.conf")
	host, at, _ := net.SplitHostPort(master.Addr)
	settings := append([]string{
		"port " + s.port, "bind 127.0.0.1", "dir " + s.dir, fmt.Sprintf("sentinel monitor main %s %s 1", host, at),
	}, lines...)
	if err := os.WriteFile(s.sentinel, []byte(strings.Join(settings, "\n")+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// slots of a Cluster.
const slots = 16384

// Cluster is the masters of a Cluster, each with an equal part of the slots.
type Cluster []*Server

// StartCluster starts so many masters, and waits until they are ready.
func StartCluster(t testing.TB, masters int, options ...string) Cluster {
	t.Helper()
	c, bus := make(Cluster, masters), make([]string, masters)
	for i := range c {
		c[i] = startAt(t, func(s *Server) {
			bus[i] = freePort(t)
			s.args = append([]string{"--cluster-enabled", "yes", "--cluster-port", bus[i], "--cluster-node-timeout", "2000"}, options...)
		})
		c[i].Must(fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", i*slots/masters, (i+1)*slots/masters-1))
		c[i].Must(fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", i+1))
	}
	for i, n := range c[1:] {
		c[0].Must(fmt.Sprintf("CLUSTER MEET 127.0.0.1 %s %s", n.port, bus[i+1]))
	}
	for _, n := range c {
		n.until("the cluster is ready", func() bool {
			reply, err := n.Do("CLUSTER INFO")
			return err == nil && strings.Contains(reply, "cluster_state:ok") && strings.Contains(reply, "cluster_slots_assigned:16384")
		})
	}
	return c
}

// URL to open it with.
func (c Cluster) URL() string {
	var addrs []string
	for _, n := range c {
		addrs = append(addrs, n.Addr)
	}
	return "redis+cluster://" + addrs[0] + "?addr=" + strings.Join(addrs, "&addr=")
}

// Slot is the slot of a key without a hash tag, which is the CRC16 of XMODEM.
func Slot(key string) int {
	crc := uint16(0)
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			high := crc&0x8000 != 0
			crc <<= 1
			if high {
				crc ^= 0x1021
			}
		}
	}
	return int(crc) % slots
}

// Owner is the index of the master that has a slot.
func (c Cluster) Owner(slot int) int { return (slot*len(c) + len(c) - 1) / slots }

// MoveSlot moves a slot and its keys from the master that it was given at the start to
// another one. It calls meanwhile once the move has begun and no key has been moved, and
// again when all have been and nobody has been told: both masters answer for the slot.
func (c Cluster) MoveSlot(slot, to int, meanwhile func()) {
	from, target := c[c.Owner(slot)], c[to]
	target.t.Helper()
	target.Must(fmt.Sprintf("CLUSTER SETSLOT %d IMPORTING %s", slot, from.id()))
	from.Must(fmt.Sprintf("CLUSTER SETSLOT %d MIGRATING %s", slot, target.id()))
	meanwhile()
	for {
		keys := bulks(from.Must(fmt.Sprintf("CLUSTER GETKEYSINSLOT %d 4", slot)))
		if len(keys) == 0 {
			break
		}
		from.Must(fmt.Sprintf(`MIGRATE 127.0.0.1 %s "" 0 1000 KEYS %s`, target.port, strings.Join(keys, " ")))
	}
	meanwhile()
	for _, n := range []*Server{target, from} { // the new owner first, so that there always is one
		n.Must(fmt.Sprintf("CLUSTER SETSLOT %d NODE %s", slot, target.id()))
	}
}

func (s *Server) id() string {
	s.t.Helper()
	return bulks(s.Must("CLUSTER MYID"))[0]
}

// bulks are the strings of a reply.
func bulks(reply string) (all []string) {
	for line := range strings.SplitSeq(strings.TrimSpace(reply), "\r\n") {
		if !strings.HasPrefix(line, "*") && !strings.HasPrefix(line, "$") {
			all = append(all, line)
		}
	}
	return all
}
