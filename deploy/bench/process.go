package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a program that the bench started, with its children.
type process struct {
	cmd *exec.Cmd
	end context.CancelFunc
}

// startProcess starts a program on a core. What it says goes to NAME.log.
func (b *bench) startProcess(name, core string, env, command []string) (*process, error) {
	log, err := os.Create(b.file(name + ".log")) //nolint:gosec // in a directory of its own
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the program has its own
	ctx, end := context.WithCancel(b.ctx)
	cmd := exec.CommandContext(ctx, "taskset", append([]string{"-c", core}, command...)...) //nolint:gosec // of the bench
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = b.dir, log, log, 5*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Env = append(env, "PATH="+os.Getenv("PATH")+":/usr/sbin") // of nginx and Varnish; nothing of ours counts
	if err := cmd.Start(); err != nil {
		end()
		return nil, err
	}
	return &process{cmd, end}, nil
}

func (p *process) stop() {
	p.end()
	_ = p.cmd.Wait() // that it ended is what counts
}

// family is a process with its descendants.
func family(pid int) []int {
	all := []int{pid}
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file) //nolint:gosec // of the kernel; a thread that has ended has none
		for child := range strings.FieldsSeq(string(text)) {
			if id, err := strconv.Atoi(child); err == nil {
				all = append(all, family(id)...)
			}
		}
	}
	return all
}

// cpu is the time that the threads of a family have computed, in user and kernel mode, in
// µs, exactly: /proc/PID/stat tells it in steps of 10 ms. None of the programs ends threads
// that have computed.
func (p *process) cpu() (float64, error) {
	total := 0.0
	for _, pid := range family(p.cmd.Process.Pid) {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		for _, file := range files {
			text, _ := os.ReadFile(file) //nolint:gosec // see family
			nanoseconds, _, _ := strings.Cut(string(text), " ")
			n, err := strconv.ParseFloat(nanoseconds, 64)
			if err != nil {
				return 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
			}
			total += n / 1000
		}
	}
	return total, nil
}

func micros(d time.Duration) float64 { return d.Seconds() * 1e6 }
