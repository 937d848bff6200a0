package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sundry/proxy/listener"

	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"

	"sundry/upstreams/lib/peertest"
)

// units copies ours into a directory where the program and what they want exist.
func units(t *testing.T) string {
	t.Helper()
	longtest.NotShort(t, "it starts the program")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"sundry.service", "sundry.socket"} {
		unit := readFile(t, filepath.Join(samples, "systemd", name))
		write(t, dir, name, strings.ReplaceAll(unit, "/usr/local/bin/sundry", self))
	}
	return dir
}

func TestSystemdAcceptsTheUnits(t *testing.T) {
	t.Parallel()
	analyze := peertest.Program(t, "systemd", "systemd", "systemd-analyze")
	dir := units(t)
	verify := func() (string, error) {
		out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no",
			filepath.Join(dir, "sundry.socket"), filepath.Join(dir, "sundry.service")).CombinedOutput()
		return string(bytes.TrimSpace(out)), err
	}
	if out, err := verify(); err != nil || out != "" {
		t.Errorf("%v: %s", err, out)
	}
	write(t, dir, "sundry.service", strings.Replace(readFile(t, filepath.Join(dir, "sundry.service")), "ProtectSystem", "ProtectSytem", 1))
	if out, _ := verify(); !strings.Contains(out, "ProtectSytem") {
		t.Errorf("nothing is said of an unknown setting: %s", out)
	}
}

// TestSystemdServiceIsHardened takes systemd's own measure, of 0 to 10: most
// services that come with it have above 5.
func TestSystemdServiceIsHardened(t *testing.T) {
	t.Parallel()
	analyze := peertest.Program(t, "systemd", "systemd", "systemd-analyze")
	out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager", "--threshold=15",
		filepath.Join(samples, "systemd/sundry.service")).CombinedOutput()
	if err != nil {
		t.Errorf("exposure above 1.5: %v\n%s", err, out)
	}
}

// TestSystemdPassesItsSocketOn has systemd's own program open the socket.
func TestSystemdPassesItsSocketOn(t *testing.T) {
	t.Parallel()
	activate := peertest.Program(t, "systemd", "systemd", "systemd-socket-activate")
	addr := freeAddress(t)
	cmd, log := start(t, "serve --replay --listen 192.0.2.1:1 --admin 127.0.0.1:0", activate, "--listen="+addr, "--setenv=SUNDRY_TEST_PROGRAM")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "an answer", func() bool {
		status, _, _, err := get("http://" + addr + "/readyz")
		return err == nil && status == 200
	})
	terminate(t, cmd, log)
	if !strings.Contains(log.String(), "public="+addr) {
		t.Errorf("served elsewhere:\n%s", log)
	}
}

// TestSystemdUnitsHoldWhatMatters is what can be said without systemd.
func TestSystemdUnitsHoldWhatMatters(t *testing.T) {
	t.Parallel()
	service := "\n" + readFile(t, filepath.Join(samples, "systemd/sundry.service"))
	for _, want := range []string{
		"Type=notify", "DynamicUser=yes", "ProtectSystem=strict", "NoNewPrivileges=yes", "CapabilityBoundingSet=", "SystemCallFilter=@system-service",
		"MemoryMax=768M", "Requires=sundry.socket", "ExecReload=/bin/kill -HUP $MAINPID", "EnvironmentFile=-/etc/sundry/sundry.env",
	} {
		if !strings.Contains(service, "\n"+want+"\n") {
			t.Errorf("no line %q", want)
		}
	}
	if socket := "\n" + readFile(t, filepath.Join(samples, "systemd/sundry.socket")); strings.Count(socket, "\nListen") != 1 || !strings.Contains(socket, "\nAccept=no\n") {
		t.Error("want one socket, passed on whole")
	}
}

// TestAsProgram is the program itself, in a process that other tests start.
func TestAsProgram(t *testing.T) {
	t.Parallel()
	args, ok := os.LookupEnv("SUNDRY_TEST_PROGRAM")
	if !ok {
		t.Skip("started by other tests only")
	}
	if status := program(strings.Fields(args), os.Environ(), os.Stdout, os.Stderr); status != 0 {
		os.Exit(status)
	}
}

// start is a process that runs the command line, behind the words that start
// it. It ends without delay.
func start(t *testing.T, args string, starter ...string) (*exec.Cmd, *output) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	words := append(slices.Clone(starter), self, "-test.run=^TestAsProgram$")
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	log := &output{}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "SUNDRY_TEST_PROGRAM="+args, "SUNDRY_DRAIN_DELAY=0s")
	return cmd, log
}

// activated passes the socket on as systemd does: as descriptor 3, and with
// the number of the process that it is for.
func activated(t *testing.T, socket interface{ File() (*os.File, error) }, args string, env ...string) (*exec.Cmd, *output) {
	t.Helper()
	f, err := socket.File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	cmd, log := start(t, args, "/bin/sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"`)
	cmd.ExtraFiles = []*os.File{f}
	cmd.Env = append(cmd.Env, env...)
	return cmd, log
}

// TestSystemdPassesBothSocketsOn: the second redirects to the first.
func TestSystemdPassesBothSocketsOn(t *testing.T) {
	t.Parallel()
	activate := peertest.Program(t, "systemd", "systemd", "systemd-socket-activate")
	dir, secure, plain := t.TempDir(), freeAddress(t), freeAddress(t)
	certificate(t, dir, secureHost)
	cmd, log := start(t, "serve --replay --listen 192.0.2.1:1 --admin 127.0.0.1:0", activate, "--listen="+secure, "--listen="+plain,
		"--setenv=SUNDRY_TEST_PROGRAM", "--setenv=SUNDRY_REDIRECT", "--setenv=SUNDRY_TLS_CERT", "--setenv=SUNDRY_TLS_KEY")
	cmd.Env = append(cmd.Env, "SUNDRY_REDIRECT=192.0.2.1:2", "SUNDRY_TLS_CERT="+filepath.Join(dir, "fullchain.pem"), "SUNDRY_TLS_KEY="+filepath.Join(dir, "privkey.pem"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the sockets", func() bool {
		c, err := net.Dial("tcp", plain)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	waittest.Until(t, "a redirect", func() bool {
		_, header, _ := keep(t, plain).send("GET /a HTTP/1.1\r\nHost: " + secureHost + "\r\n\r\n")
		return header.Get("Location") == "https://"+secureHost+":"+strconv.Itoa(portOf(secure))+"/a"
	})
	if _, err := issuedTo(secure, secureHost, nil); err == nil || !strings.Contains(err.Error(), "unknown authority") {
		t.Errorf("TLS on the first socket: %v", err)
	}
	terminate(t, cmd, log)
}

func terminate(t *testing.T, cmd *exec.Cmd, log *output) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
}

// TestSocketActivation restarts the server behind a socket that stays open: a
// call made in between is answered by the next server. Each tells its state.
func TestSocketActivation(t *testing.T) {
	t.Parallel()
	public, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer public.Close()
	states, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer states.Close()
	told := func() string {
		b := make([]byte, 100)
		_ = states.SetReadDeadline(time.Now().Add(20 * time.Second))
		n, err := states.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
	url := "http://" + public.Addr().String() + "/api/60s"
	for range 2 {
		answered := make(chan error, 1)
		go func() { // before there is a server
			status, _, body, err := get(url)
			if err == nil && status != 200 {
				t.Errorf("%d %s", status, body)
			}
			answered <- err
		}()
		// The address of the configuration is not opened: nobody could.
		cmd, log := activated(t, public, "serve --replay --listen 192.0.2.1:1 --admin 127.0.0.1:0", "NOTIFY_SOCKET="+states.LocalAddr().String())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if got := told(); got != "READY=1" {
			t.Errorf("told %q first", got)
		}
		if err := <-answered; err != nil {
			t.Errorf("%v\n%s", err, log)
		}
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		if got := told(); !regexp.MustCompile(`^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]*$`).MatchString(got) {
			t.Errorf("told %q when the reload began", got)
		}
		if got := told(); got != "READY=1" {
			t.Errorf("told %q when the reload was complete", got)
		}
		waittest.Until(t, "the line of the reload", func() bool { return strings.Contains(log.String(), "why=SIGHUP") })
		terminate(t, cmd, log)
		if got := told(); got != "STOPPING=1" {
			t.Errorf("told %q last", got)
		}
	}
}

func TestSocketActivationRefusesWhatItCannotServe(t *testing.T) {
	t.Parallel()
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	cmd, log := activated(t, socket, "serve --replay --admin 127.0.0.1:0")
	if err := cmd.Run(); err == nil || !strings.Contains(log.String(), "expected a TCP socket") {
		t.Errorf("a Unix socket: %v %s", err, log)
	}
	of := func(pid, n string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			v, ok := map[string]string{"LISTEN_PID": pid, "LISTEN_FDS": n}[name]
			return v, ok
		}
	}
	if l, err := listener.Inherited(of(strconv.Itoa(os.Getpid()), "2"), 1); err == nil || !strings.Contains(err.Error(), "expected one socket") {
		t.Errorf("two sockets: %v %v", l, err)
	}
	if l, err := listener.Inherited(of(strconv.Itoa(os.Getppid()), "1"), 1); l != nil || err != nil {
		t.Errorf("a socket for another process: %v %v", l, err)
	}
}

func TestNotify(t *testing.T) {
	t.Parallel()
	at := func(path string) func(string) (string, bool) {
		return func(string) (string, bool) { return path, true }
	}
	if err := listener.Notify(noEnv, "READY=1"); err != nil {
		t.Error(err)
	}
	if err := listener.Notify(at(""), "READY=1"); err != nil {
		t.Error(err)
	}
	if err := listener.Notify(at(filepath.Join(t.TempDir(), "none")), "READY=1"); err == nil {
		t.Error("told nobody without a word")
	}
	abstract, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: "@sundry-test-" + strconv.Itoa(os.Getpid()), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	if err := listener.Notify(at(abstract.LocalAddr().String()), "READY=1"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, err := abstract.Read(b); err != nil || !bytes.Equal(b[:n], []byte("READY=1")) {
		t.Errorf("%q %v", b[:n], err)
	}
	var full error
	for range 10_000 { // until the queue is full, which nobody reads
		if full = listener.Notify(at(abstract.LocalAddr().String()), "READY=1"); full != nil {
			break
		}
	}
	if !errors.Is(full, os.ErrDeadlineExceeded) {
		t.Errorf("a full queue: %v", full)
	}
}
