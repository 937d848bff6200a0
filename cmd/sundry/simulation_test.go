package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"sundry/cmd/sundry/internal/simulation"
)

// Variables of the simulation: how many seeds are run, or for how long, the first one, and that a process runs schedules.
const (
	simulateVariable  = "SUNDRY_TEST_SIMULATE"
	seedVariable      = "SUNDRY_TEST_SIMULATE_SEED"
	simulatorVariable = "SUNDRY_TEST_SIMULATOR"
	// simulateFirstVariable ends the test with the first failure, as it is.
	simulateFirstVariable = "SUNDRY_TEST_SIMULATE_FIRST"
)

// TestSimulation runs random schedules of a fleet, and prints a short one for each promise that is broken.
func TestSimulation(t *testing.T) {
	next, total := seedsToRun(t)
	var lasted, seeds atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			s := &simulator{t: t}
			defer s.stop()
			for seed, ok := next(); ok; seed, ok = next() {
				if t.Failed() && onlyFirst() {
					return
				}
				report := s.try(simulation.NewSchedule(seed))
				seeds.Add(1)
				lasted.Add(int64(report.Lasted))
			}
		})
	}
	wg.Wait()
	t.Logf("%d seeds of %s: %.1f hours of fleet time", seeds.Load(), total, time.Duration(lasted.Load()).Hours())
}

// TestKnownSchedules runs the schedules that broke a promise once.
func TestKnownSchedules(t *testing.T) {
	s := &simulator{t: t}
	defer s.stop()
	for _, known := range simulation.Known() {
		s.try(known)
	}
}

// onlyFirst reports whether the first failure ends the test, as it is.
func onlyFirst() bool { return os.Getenv(simulateFirstVariable) != "" }

// seedsToRun returns a source of seeds, and what there is of them.
func seedsToRun(t *testing.T) (next func() (uint64, bool), total string) {
	total = cmp.Or(os.Getenv(simulateVariable), "30")
	if testing.Short() {
		total = "5"
	}
	most, until := uint64(1<<40), time.Now().Add(time.Hour)
	if n, err := strconv.ParseUint(total, 10, 64); err == nil {
		most = n
	} else if d, err := time.ParseDuration(total); err == nil {
		until = time.Now().Add(d)
	} else {
		t.Fatalf("%s: expected a number of seeds such as 300, or a time such as 1h", simulateVariable)
	}
	first, _ := strconv.ParseUint(os.Getenv(seedVariable), 10, 64) // 0 without one
	var n atomic.Uint64
	return func() (uint64, bool) {
		seed := n.Add(1) - 1
		return first + seed, seed < most && time.Now().Before(until)
	}, total
}

// simulator is a process that runs schedules: one that leaks or hangs takes no other with it.
type simulator struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *output
}

// try runs a schedule. If a promise is broken, the test fails with the shortest part of it that breaks it.
func (s *simulator) try(schedule simulation.Schedule) *simulation.Report {
	report := s.run(schedule)
	if len(report.Failures) == 0 {
		return report
	}
	if onlyFirst() {
		s.t.Errorf("seed %d: %v", schedule.Seed, report.Failures)
		return report
	}
	failed := report
	short := simulation.Shrink(schedule, func(part simulation.Schedule) bool {
		for range 3 { // what happens at the same instant has no order
			if r := s.run(part); r.Breaks(report) {
				failed = r
				return true
			}
		}
		return false
	})
	s.t.Errorf("%s\n%v\nas it happened:\n%s\nthe first run: %v\n%s", short, failed.Failures, failed.Story, report.Failures, strings.Join(failed.Logs, "\n"))
	return report
}

// outsideBubble is the end of a process in which go-redis has reused a timer of an earlier bubble, from a pool of the process.
const outsideBubble = "synctest channel from outside bubble"

// run runs a schedule in a process, and again in a new one if it was the first process that failed.
func (s *simulator) run(schedule simulation.Schedule) *simulation.Report {
	report := s.runOnce(schedule)
	if s.cmd == nil && strings.Contains(s.stderr.String(), outsideBubble) {
		report = s.runOnce(schedule)
	}
	return report
}

// runOnce runs a schedule in the process, which it starts if there is none.
func (s *simulator) runOnce(schedule simulation.Schedule) *simulation.Report {
	if s.cmd == nil {
		s.start()
	}
	const limit = time.Minute
	hangs := time.AfterFunc(limit, func() { _ = s.cmd.Process.Signal(syscall.SIGQUIT) })
	defer hangs.Stop()
	text, err := json.Marshal(schedule)
	if err == nil {
		_, err = fmt.Fprintf(s.in, "%s\n", text)
	}
	report := &simulation.Report{}
	for err == nil {
		var line []byte
		if line, err = s.out.ReadBytes('\n'); json.Unmarshal(line, report) == nil {
			return report
		}
	}
	s.stop()
	report.Failures = []simulation.Failure{{Rule: "R2", Text: fmt.Sprintf("the process ended (%v): %.400000s", err, s.stderr)}}
	return report
}

func (s *simulator) start() {
	s.cmd = exec.CommandContext(s.t.Context(), os.Args[0], "-test.run=^TestSimulator$", "-test.v")
	s.cmd.Env = append(os.Environ(), simulatorVariable+"=1", "GOMAXPROCS=1", "GOGC=400")
	s.stderr = &output{}
	s.cmd.Stderr = s.stderr
	var errIn, errOut error
	s.in, errIn = s.cmd.StdinPipe()
	out, errOut := s.cmd.StdoutPipe()
	s.out = bufio.NewReader(out)
	if err := errors.Join(errIn, errOut, s.cmd.Start()); err != nil {
		s.t.Error(err)
	}
}

func (s *simulator) stop() {
	if s.cmd == nil {
		return
	}
	_ = s.in.Close()
	rest, _ := io.ReadAll(s.out)
	_, _ = s.stderr.Write(rest)
	_ = s.cmd.Wait() // what it printed says why
	s.cmd = nil
}

// TestSimulator is no test: it is a process that runs the schedules on its standard input.
func TestSimulator(t *testing.T) {
	if os.Getenv(simulatorVariable) == "" {
		t.Skip("only as a process of TestSimulation")
	}
	hup := make(chan os.Signal, 1) // the goroutine of os/signal begins outside the bubbles
	signal.Notify(hup, syscall.SIGHUP)
	signal.Stop(hup)
	schedules, reports := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var s simulation.Schedule
		if schedules.Decode(&s) != nil {
			return // the end of the input
		}
		if err := reports.Encode(inBubble(t, s)); err != nil {
			t.Fatal(err)
		}
	}
}

// inBubble runs a schedule, with its files in memory if there is a place for that.
func inBubble(t *testing.T, s simulation.Schedule) (report *simulation.Report) {
	dir, err := os.MkdirTemp("/dev/shm", "sundry-simulation-")
	if err != nil {
		dir = filepath.Join(t.TempDir(), "fleet")
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	synctest.Test(t, func(t *testing.T) {
		if report, err = simulation.Run(s, simulated, dir); err != nil {
			t.Fatal(err)
		}
	})
	return report
}

// simulated is the program of an instance in a simulation.
func simulated(p simulation.Process) error {
	return execute(&process{
		ctx: p.Stop, urgent: p.Kill, getenv: noEnv, stdout: p.Log, stderr: p.Log, light: true, unwatched: true,
		network: &network{listen: p.Net.Listen, dial: p.Net.Dial},
	}, []string{"serve", "--config", p.Config})
}
