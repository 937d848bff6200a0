//go:build linux

package harness

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Process is a program that the bench started, with its children.
type Process struct {
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{} // closed when it has ended
}

// Start makes a program that Begin starts on one core. What it writes to stderr goes to
// NAME.log.
func (b *Bench) Start(name string, core int, env []string, program string, args ...string) (*Process, error) {
	log, err := os.Create(b.File(name + ".log"))
	if err != nil {
		return nil, err
	}
	args = append([]string{"-c", strconv.Itoa(core), program}, args...)
	cmd := exec.CommandContext(context.WithoutCancel(b.Context), "taskset", args...) //nolint:gosec // programs of the bench
	cmd.Dir, cmd.Stderr, cmd.Env = b.Dir, log, append(cleanEnvironment(), env...)
	// A group of its own, so that Ctrl-C reaches the bench first.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p := &Process{cmd: cmd, log: log, done: make(chan struct{})}
	b.processes = append(b.processes, p)
	return p, nil
}

// Stdout is what it writes to stdout; it is arranged before Begin.
func (p *Process) Stdout() (io.ReadCloser, error) { return p.cmd.StdoutPipe() }

// Begin starts it, once its output is arranged.
func (p *Process) Begin() error {
	if err := p.cmd.Start(); err != nil {
		close(p.done)
		return fmt.Errorf("starting %s: %w", strings.Join(p.cmd.Args, " "), err)
	}
	go func() {
		_ = p.cmd.Wait() // that it ended is what counts
		close(p.done)
	}()
	return nil
}

// cleanEnvironment leaves out what would change what is measured.
func cleanEnvironment() []string {
	var out []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "SUNDRY_") && !strings.HasPrefix(v, "GO") {
			out = append(out, v)
		}
	}
	return out
}

// Stop ends a process and its children, with force after a while.
func (p *Process) Stop() {
	if p.cmd.Process == nil {
		return
	}
	all := tree(p.cmd.Process.Pid)
	p.terminate()
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		for _, pid := range all {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		<-p.done
	}
	_ = p.log.Close()
}

func (p *Process) terminate() {
	if p.cmd.Process != nil {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	}
}

// tree is a process with its descendants.
func tree(root int) []int {
	children := map[int][]int{}
	entries, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range entries {
		text, err := os.ReadFile(file) //nolint:gosec // of the kernel
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may hold anything.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	out := []int{root}
	for i := 0; i < len(out); i++ {
		out = append(out, children[out[i]]...)
	}
	return out
}

// CPU is the time that the processes of a tree have computed, in user and kernel
// mode, by their accounts: what /proc/PID/stat tells in steps of 10 ms, exactly.
func (p *Process) CPU() (time.Duration, error) {
	var total time.Duration
	for _, pid := range tree(p.cmd.Process.Pid) {
		const ofScheduler = 2
		clock := int32(^pid<<3 | ofScheduler) // see clock_getcpuclockid(3)
		var t unix.Timespec
		if _, _, e := unix.Syscall(unix.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&t)), 0); e != 0 { //nolint:gosec // how Linux tells it
			return 0, fmt.Errorf("CPU time of process %d: %w", pid, e)
		}
		total += time.Duration(t.Nano())
	}
	return total, nil
}

// Resident is how many bytes of memory a process has.
func (p *Process) Resident() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}
