// Package redistest starts real Redis servers for tests, each on a port of its
// own, and stops, freezes and restarts them.
package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sundry/upstreams/lib/longtest"
)

// Server is a running redis-server.
type Server struct {
	Addr string
	port string
	dir  string
	args []string
	// sentinel is the configuration file of a Sentinel.
	sentinel string
	cmd      *exec.Cmd
	ended    chan struct{} // closed once the process is gone
	t        testing.TB
}

// Start starts a server that ends with the test. Without redis-server on the PATH the
// test is skipped, or fails where SUNDRY_TEST_REQUIRE names redis; with -short it is
// skipped.
// Options are those of redis-server.
func Start(t testing.TB, options ...string) *Server {
	t.Helper()
	return startAt(t, func(s *Server) { s.args = options })
}

// StartReplica is Start for a server that replicates another one, and returns once it has
// its data.
func StartReplica(t testing.TB, of *Server, options ...string) *Server {
	t.Helper()
	of.Must("CONFIG SET repl-diskless-sync-delay 0")
	s := Start(t, append([]string{"--replicaof", "127.0.0.1", of.port}, options...)...)
	s.until("it replicates", func() bool {
		reply, err := s.Do("ROLE")
		return err == nil && strings.Contains(reply, "connected")
	})
	return s
}

// attempts is how many times a server is given another port, because somebody else took
// the one that was free a moment before.
const attempts = 5

// startAt starts a server at a free port. configure is called for each port that is tried.
func startAt(t testing.TB, configure func(*Server)) *Server {
	t.Helper()
	require(t)
	for range attempts {
		s := &Server{dir: t.TempDir(), t: t}
		s.at(freePort(t))
		configure(s)
		if s.run() {
			t.Cleanup(s.Stop)
			return s
		}
		if !strings.Contains(s.said(), "Address already in use") {
			t.Fatalf("redis-server ended: %s", s.said())
		}
	}
	t.Fatalf("no port was free %d times", attempts)
	return nil
}

// require ends the test where there is no redis-server, or none is to be started.
func require(t testing.TB) {
	t.Helper()
	longtest.NotShort(t, "it starts redis-server")
	if _, err := exec.LookPath("redis-server"); err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("SUNDRY_TEST_REQUIRE"), ","), "redis") {
		t.Fatal("redis-server is required, and not on the PATH")
	}
	t.Skip("redis-server is not on the PATH")
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// URL to open it with.
func (s *Server) URL() string { return "redis://" + s.Addr + "/0" }

func (s *Server) at(port string) { s.Addr, s.port = "127.0.0.1:"+port, port }

// Restart starts the server again, empty, and waits until it answers.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	if !s.run() {
		s.t.Fatalf("redis-server ended: %s", s.said())
	}
}

// run starts the process and waits until it listens; false when it ended instead.
func (s *Server) run() bool {
	s.t.Helper()
	args := []string{"--port", s.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", s.dir, "--enable-debug-command", "yes"}
	if s.sentinel != "" {
		args = []string{s.sentinel, "--sentinel"}
	}
	said, err := os.Create(s.output())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = said.Close() }()
	s.cmd, s.ended = exec.Command("redis-server", append(args, s.args...)...), make(chan struct{})
	s.cmd.Stdout, s.cmd.Stderr = said, said
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go awaitEnd(s.cmd, s.ended)
	s.until("redis-server answers", func() bool { return s.gone() || s.listens() && s.answers() })
	return !s.gone()
}

func awaitEnd(cmd *exec.Cmd, ended chan<- struct{}) {
	defer close(ended)
	_ = cmd.Wait()
}

// output is the file with what the process has said since it was started.
func (s *Server) output() string { return filepath.Join(s.dir, "output") }

func (s *Server) said() string {
	said, err := os.ReadFile(s.output())
	if err != nil {
		s.t.Fatal(err)
	}
	return string(said)
}

// listens reports whether the server itself says so: what answers at its port may be
// another process.
func (s *Server) listens() bool {
	said := s.said()
	return strings.Contains(said, "Ready to accept connections") || s.sentinel != "" && strings.Contains(said, "+monitor")
}

func (s *Server) gone() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// until fails the test unless something becomes true soon.
func (s *Server) until(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("still waiting: %s\n%s", what, s.said())
		}
	}
}

func (s *Server) answers() bool {
	reply, err := s.Do("PING")
	return err == nil && (strings.HasPrefix(reply, "+PONG") || strings.HasPrefix(reply, "-NOAUTH"))
}

// Do sends one inline command and returns the first bytes of the reply.
func (s *Server) Do(command string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := fmt.Fprintf(conn, "%s\r\n", command); err != nil {
		return "", err
	}
	b := make([]byte, 512)
	n, err := conn.Read(b)
	return string(b[:n]), err
}

// Must is Do, but fails the test if Redis replies an error.
func (s *Server) Must(command string) string {
	s.t.Helper()
	reply, err := s.Do(command)
	if err != nil || strings.HasPrefix(reply, "-") {
		s.t.Fatalf("%s: %q %v", command, reply, err)
	}
	return reply
}

// Stop kills the server; a stopped one is left alone.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGCONT)
	_ = s.cmd.Process.Kill()
	<-s.ended
	s.cmd = nil
}

// Freeze suspends the server: connections are accepted and not answered.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw resumes it.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}
