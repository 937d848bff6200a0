package redistest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// StartSentinel starts a Sentinel that watches a master under the name of main.
// More lines of its configuration may follow.
func StartSentinel(t testing.TB, master *Server, lines ...string) *Server {
	t.Helper()
	require(t)
	port := freePort(t)
	s := &Server{Addr: "127.0.0.1:" + port, port: port, dir: t.TempDir(), t: t}
	s.sentinel = filepath.Join(s.dir, "sentinel.conf")
	host, at, _ := net.SplitHostPort(master.Addr)
	settings := append([]string{
		"port " + port, "bind 127.0.0.1", "dir " + s.dir, fmt.Sprintf("sentinel monitor main %s %s 1", host, at),
	}, lines...)
	if err := os.WriteFile(s.sentinel, []byte(strings.Join(settings, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Restart()
	t.Cleanup(s.Stop)
	return s
}

// StartCluster starts a Cluster of two nodes, each with half of the slots, and
// waits until it is ready.
func StartCluster(t testing.TB, options ...string) []*Server {
	t.Helper()
	var nodes []*Server
	bus := make([]string, 2)
	for i := range bus {
		bus[i] = freePort(t)
		nodes = append(nodes, Start(t, append([]string{"--cluster-enabled", "yes", "--cluster-port", bus[i],
			"--cluster-node-timeout", "2000"}, options...)...))
	}
	nodes[0].Must("CLUSTER ADDSLOTSRANGE 0 8191")
	nodes[1].Must("CLUSTER ADDSLOTSRANGE 8192 16383")
	nodes[1].Must("CLUSTER SET-CONFIG-EPOCH 2")
	nodes[0].Must(fmt.Sprintf("CLUSTER MEET 127.0.0.1 %s %s", nodes[1].port, bus[1]))
	deadline := time.Now().Add(20 * time.Second)
	for _, n := range nodes {
		for {
			reply, err := n.Do("CLUSTER INFO")
			if err == nil && strings.Contains(reply, "cluster_state:ok") && strings.Contains(reply, "cluster_slots_assigned:16384") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("the cluster is not ready: %q %v", reply, err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nodes
}
