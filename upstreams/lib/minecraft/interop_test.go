package minecraft

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"sundry/upstreams/lib/peertest"
)

// startServer starts an independent server, and returns its port.
func startServer(t *testing.T, version string) uint16 {
	t.Helper()
	node, folder := peertest.Module(t, "minecraft-protocol")
	cmd := exec.Command(node, "testdata/server.js", folder, version)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // the server then exits
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the server printed no port: %v", err)
	}
	port, err := strconv.ParseUint(strings.TrimSpace(line), 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(port)
}

// TestIndependentServer pings servers of three versions of the protocol.
func TestIndependentServer(t *testing.T) {
	for version, protocol := range map[string]int{"1.8.8": 47, "1.16.5": 754, "1.20.4": 765} {
		t.Run(version, func(t *testing.T) {
			port := startServer(t, version)
			p := Pinger{Dial: (&net.Dialer{}).DialContext, Timeout: 20 * time.Second}
			s, err := p.Ping(t.Context(), Target{Host: "127.0.0.1", Port: port, Explicit: true})
			if err != nil {
				t.Fatal(err)
			}
			if s.Version != version || *s.Protocol != protocol || *s.Online != 7 || *s.Max != 42 || s.Port != port {
				t.Errorf("%+v", s)
			}
			if s.MOTD != "Welcome 中文" || !strings.HasPrefix(s.Icon, "data:image/png;base64,") || len(s.Sample) != 1 || s.Sample[0].Name != "Somebody" || s.Latency == nil {
				t.Errorf("%+v", s)
			}
		})
	}
}
