package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/waittest"
)

// piped is an instance in a process of its own, which logs every refused request into a
// pipe that the test has the other end of.
type piped struct {
	*sibling
	log   *os.File
	lines *bufio.Reader
}

func newPiped(t *testing.T) *piped {
	t.Helper()
	read, written, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, t.TempDir(), "piped.yaml", "cache: {warm: false}\nlimits: {rate: 0, queue_delay: 0s}\nlog_refusals: 1\n"+only())
	cmd := exec.Command(os.Args[0], "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--config", file)
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), asProgram+"=1"), written, written
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = written.Close()
	p := &piped{sibling: &sibling{t: t, cmd: cmd}, log: read, lines: bufio.NewReader(read)}
	t.Cleanup(func() { p.kill(); _ = cmd.Wait(); _ = read.Close() })
	for {
		line, err := p.lines.ReadString('\n')
		if err != nil {
			t.Fatalf("no line that it serves: %v", err)
		}
		if found := listening.FindStringSubmatch(line); found != nil {
			p.public, p.admin = "http://"+found[1], "http://"+found[2]
			return p
		}
	}
}

// refused makes requests that are refused, with numbers as their ids: a hundred at once, which takes a tenth of the
// CPU of one after another.
func (p *piped) refused(from, to int) {
	p.t.Helper()
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(p.public, "http://"), 5*time.Second)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	responses := bufio.NewReader(conn)
	for i := from; i < to; i += 100 {
		_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
		var requests bytes.Buffer
		for n := i; n < min(i+100, to); n++ {
			fmt.Fprintf(&requests, "GET /api/none HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: number-%d\r\n\r\n", n)
		}
		if _, err := conn.Write(requests.Bytes()); err != nil {
			p.t.Fatalf("requests from %d: %v", i, err)
		}
		for n := i; n < min(i+100, to); n++ {
			resp, err := http.ReadResponse(responses, nil)
			if err != nil {
				p.t.Fatalf("request %d: %v", n, err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusNotFound {
				p.t.Fatalf("request %d: %d, %v", n, resp.StatusCode, err)
			}
		}
	}
}

func (p *piped) lost() int {
	p.t.Helper()
	n, err := strconv.Atoi(p.metric("sundry_log_lines_lost_total"))
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// stops asks it to stop, and waits until it has.
func (p *piped) stops() error {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	late := time.AfterFunc(20*time.Second, func() { p.t.Error("it does not stop"); p.kill() })
	defer late.Stop()
	return p.cmd.Wait()
}

// TestALogWhoseReaderIsGoneLosesLinesAlone.
func TestALogWhoseReaderIsGoneLosesLinesAlone(t *testing.T) {
	t.Parallel()
	p := newPiped(t)
	if err := p.log.Close(); err != nil {
		t.Fatal(err)
	}
	p.refused(0, 200)
	waittest.Until(t, "lines are counted as lost", func() bool { return p.lost() >= 200 })
	if err := p.stops(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestALogThatNobodyReadsLosesLinesAlone: no request waits for it. Once it is read, what
// waited comes in order, then how much is missing, then what was logged after that.
func TestALogThatNobodyReadsLosesLinesAlone(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	p := newPiped(t)
	sent := 0
	for p.lost() == 0 {
		if sent > 100_000 {
			t.Fatalf("%d lines, and none is lost: where are they?", sent)
		}
		p.refused(sent, sent+1000)
		sent += 1000
	}
	lost, known := p.lost(), 0
	missing := regexp.MustCompile(`lines of the log were lost.* lines=(\d+)`)
	number := regexp.MustCompile(`id=number-(\d+) `)
	for known < sent-lost {
		line, err := p.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if found := number.FindStringSubmatch(line); found != nil {
			if found[1] != strconv.Itoa(known) {
				t.Fatalf("%q in the place of line %d", line, known)
			}
			known++
		}
	}
	line, err := p.lines.ReadString('\n')
	if found := missing.FindStringSubmatch(line); err != nil || found == nil || found[1] != strconv.Itoa(lost) {
		t.Errorf("%q after the lines that waited, want that %d are lost", line, lost)
	}
	p.refused(sent, sent+1)
	if line, err := p.lines.ReadString('\n'); err != nil || !strings.Contains(line, fmt.Sprintf("id=number-%d ", sent)) {
		t.Errorf("%q, %v", line, err)
	}
}

// TestALogThatNobodyReadsKeepsNothingFromItsEnd.
func TestALogThatNobodyReadsKeepsNothingFromItsEnd(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	p := newPiped(t)
	p.refused(0, 2000)
	if err := p.stops(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestAllThatKeepsItFromStartingIsSaid, also to a reader who is slower than a pipe holds.
func TestAllThatKeepsItFromStartingIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const mistakes = 300
	for i := range mistakes {
		name := fmt.Sprintf("mistake%03d", i)
		write(t, dir, name+".yaml", "version: 1\nname: "+name+"\n"+strings.Repeat("n", 200)+": 1\n")
	}
	file := write(t, t.TempDir(), "few.yaml", only())
	cmd := exec.Command(os.Args[0], "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--config", file, "--catalog", dir)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(said)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if status := cmd.ProcessState.ExitCode(); status != statusMisconfigured || len(all) < 64<<10 {
		t.Errorf("it ended with %d and %d bytes", status, len(all))
	}
	for i := range mistakes {
		if name := filepath.Join(dir, fmt.Sprintf("mistake%03d.yaml", i)); !strings.Contains(string(all), name) {
			t.Fatalf("nothing of %s", name)
		}
	}
}
