package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// clockAhead is the variable that says how many seconds the clock of a program is ahead that
// buildWithClock has built; negative: behind.
const clockAhead = "SUNDRY_TEST_CLOCK_AHEAD"

// clockFile is added to package time.
const clockFile = `package time

import "syscall"

var testClockAhead = func() (seconds int64) {
	text, _ := syscall.Getenv("` + clockAhead + `")
	for _, c := range []byte(text) {
		if c >= '0' && c <= '9' {
			seconds = seconds*10 + int64(c-'0')
		}
	}
	if len(text) > 0 && text[0] == '-' {
		return -seconds
	}
	return seconds
}()
`

// buildWithClock builds the program, all of it as it is but for time.Now, which is ahead as
// the environment says: clocks of processes on one machine are the machine's, and a hook in
// the program would be one that the program could miss. Timers count as ever.
func buildWithClock(t *testing.T) (program string) {
	t.Helper()
	compiler, err := exec.LookPath("go")
	if err != nil {
		t.Skip("go is not on the PATH")
	}
	root, err := exec.Command(compiler, "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	const reads = "\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {\n"
	now := readFile(t, filepath.Join(source, "time.go"))
	if strings.Count(now, reads) != 1 {
		t.Fatalf("%s: time.Now is another one: adapt this test", runtime.Version())
	}
	now = strings.Replace(now, reads, strings.Replace(reads, "\tif", "\tsec += testClockAhead\n\tif", 1), 1)
	dir := t.TempDir()
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(source, "time.go"):       write(t, dir, "time.go", now),
		filepath.Join(source, "test_clock.go"): write(t, dir, "test_clock.go", clockFile),
	}})
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, "sundry")
	out, err := exec.Command(compiler, "build", "-overlay", write(t, dir, "overlay.json", string(overlay)), "-o", program, ".").CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return program
}

// soaked is one instance of a soak, in a process of its own.
type soaked struct {
	name          string
	cmd           *exec.Cmd
	public, admin string
	said          *output // what was read of its log
}

// startSoaked starts an instance whose clock is ahead. unread: nobody reads its log once it
// serves. It ends with the test.
func startSoaked(t *testing.T, program, name string, ahead time.Duration, unread bool, args ...string) *soaked {
	t.Helper()
	log, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	m := &soaked{name: name, said: &output{}, cmd: exec.Command(program, append([]string{"serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)}
	m.cmd.Env = append(os.Environ(), clockAhead+"="+strconv.Itoa(int(ahead.Seconds())), "SUNDRY_DRAIN_DELAY=0s")
	m.cmd.Stderr = w
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	in := bufio.NewReader(log)
	for m.public == "" {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("%s ended: %s", name, m.said)
		}
		_, _ = m.said.Write([]byte(line))
		if found := listening.FindStringSubmatch(line); found != nil {
			m.public, m.admin = "http://"+found[1], "http://"+found[2]
		}
	}
	var reading sync.WaitGroup
	if !unread {
		reading.Go(func() { _, _ = in.WriteTo(m.said) })
	}
	t.Cleanup(func() {
		_, _, _ = m.cmd.Process.Signal(syscall.SIGCONT), m.cmd.Process.Kill(), m.cmd.Wait()
		reading.Wait()
		_ = log.Close()
		if t.Failed() {
			t.Logf("%s:\n%s", name, m.said)
		}
	})
	return m
}
