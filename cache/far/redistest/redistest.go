// Package redistest starts real Redis servers for tests, each on a port of its
// own, and stops, freezes and restarts them.
package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
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
	t        testing.TB
}

// Start starts a server that ends with the test. Without redis-server on the
// PATH the test is skipped, or fails where SUNDRY_TEST_REQUIRE names redis.
// Options are those of redis-server.
func Start(t testing.TB, options ...string) *Server {
	t.Helper()
	require(t)
	port := freePort(t)
	s := &Server{Addr: "127.0.0.1:" + port, port: port, dir: t.TempDir(), args: options, t: t}
	s.Restart()
	t.Cleanup(s.Stop)
	return s
}

// require ends the test where there is no redis-server.
func require(t testing.TB) {
	t.Helper()
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

// Restart starts the server again, empty, and waits until it answers.
func (s *Server) Restart() {
	s.t.Helper()
	s.Stop()
	args := []string{"--port", s.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
		"--dir", s.dir, "--enable-debug-command", "yes"}
	if s.sentinel != "" {
		args = []string{s.sentinel, "--sentinel"}
	}
	s.cmd = exec.Command("redis-server", append(args, s.args...)...)
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for !s.answers() {
		if time.Now().After(deadline) {
			s.t.Fatal("redis-server does not answer")
		}
		time.Sleep(10 * time.Millisecond)
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
	_ = s.cmd.Wait()
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
