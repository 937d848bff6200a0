//go:build linux

// Package harness starts the programs that benchmarks measure, each on a core of the
// caller's choice, tells what they have cost, and puts figures into documents. What
// it starts ends with it.
package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Bench is one run of a benchmark. It is not for concurrent use, but for Get.
type Bench struct {
	Context  context.Context //nolint:containedctx // it is that of the program
	Dir      string          // of settings and logs
	Messages io.Writer       // tells whoever waits how far it is
	// Program is the Sundry that is measured; "" until BuildSundry.
	Program string

	keep      bool            // the directory
	transport *http.Transport // of the bench's own questions
	processes []*Process
}

// New makes a run with a directory of its own.
func New(ctx context.Context, messages io.Writer, o *Options) (*Bench, error) {
	dir, err := os.MkdirTemp("", "sundry-bench-")
	if err != nil {
		return nil, err
	}
	b := &Bench{Context: ctx, Dir: dir, Messages: messages, Program: o.Program, keep: o.Keep, transport: &http.Transport{DisableCompression: true}}
	if o.Keep {
		b.Say("logs and settings are kept in %s", dir)
	}
	return b, nil
}

// Close ends all programs, and removes the directory unless it is to be kept.
func (b *Bench) Close() {
	b.stop()
	b.transport.CloseIdleConnections()
	if !b.keep {
		_ = os.RemoveAll(b.Dir) // the system clears it else
	}
}

// stop ends all programs at the same time.
func (b *Bench) stop() {
	for _, p := range b.processes {
		p.terminate()
	}
	for _, p := range b.processes {
		p.Stop()
	}
}

// File is the path of a file in the run's directory.
func (b *Bench) File(name string) string { return filepath.Join(b.Dir, name) }

// Say tells whoever waits how far it is.
func (b *Bench) Say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.Messages, format+"\n", args...) // nobody reads it if it fails
}

// Build makes a program of this repository, and returns its path.
func (b *Bench) Build(name, from string) (string, error) {
	file := b.File(name)
	out, err := exec.CommandContext(b.Context, "go", "build", "-o", file, from).CombinedOutput() //nolint:gosec // of this repository
	if err != nil {
		return "", fmt.Errorf("building %s: %w: %s", name, err, out)
	}
	return file, nil
}

// BuildSundry makes the Sundry that is measured, unless there is one.
func (b *Bench) BuildSundry() (err error) {
	if b.Program == "" {
		b.Program, err = b.Build("sundry", "./cmd/sundry")
	}
	return err
}

// WithLogs adds the last lines of what programs said to an error, unless they are kept.
func (b *Bench) WithLogs(err error) error {
	if err == nil || b.keep {
		return err
	}
	return errors.Join(err, b.logs())
}

// logs are the last lines of what programs said; nil if nobody said anything.
func (b *Bench) logs() error {
	files, _ := filepath.Glob(b.File("*.log"))
	var errs []error
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && len(text) > 0 { //nolint:gosec // found above
			errs = append(errs, fmt.Errorf("%s: %s", filepath.Base(file), lastLines(string(text), 3)))
		}
	}
	return errors.Join(errs...)
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n\t")
}

// Until waits for something that takes no longer than a few seconds, and fails when a
// process ends meanwhile (nil: none is concerned).
func (b *Bench) Until(what string, ready func() bool, p *Process) error {
	var ended chan struct{}
	if p != nil {
		ended = p.done
	}
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		if ready() {
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("%s: the server ended", what)
		case <-b.Context.Done():
			return b.Context.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s: not within 20 seconds", what)
}

// FreePort is a local address that nobody listened on a moment ago.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	defer func() { _ = l.Close() }() // nothing was accepted
	return l.Addr().String(), nil
}

// Reply is an answer to a single request of the bench itself.
type Reply struct {
	Status int
	Header http.Header
	Body   string
}

// Get asks for an address, without a coding unless the headers ask for one. change may
// be nil.
func (b *Bench) Get(url string, change func(*http.Request)) (*Reply, error) {
	req, err := http.NewRequestWithContext(b.Context, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "") // the load has none, and some answers depend on it
	if change != nil {
		change(req)
	}
	resp, err := b.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	return &Reply{resp.StatusCode, resp.Header, string(body)}, errors.Join(err, resp.Body.Close())
}

// WriteFile writes a file that nginx and Varnish may read, who may be other users.
func WriteFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // see above
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644) //nolint:gosec // see above
}

// WriteFiles writes files into the run's directory, by their own paths.
func (b *Bench) WriteFiles(files fs.FS) error {
	return fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return err
		}
		return WriteFile(b.File(path), string(text))
	})
}
