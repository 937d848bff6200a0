// Command pictures takes the pictures of the README: of the pages and the console of a
// service that replays recorded exchanges, in headless Chromium. It promises pictures of
// real runs, small enough for a page that is read on a phone. No network is used.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	binary := flag.String("sundry", "bin/sundry", "program to take pictures of")
	out := flag.String("out", "deploy/pictures", "directory for the pictures")
	chromium := flag.String("chromium", "chromium", "browser to take them with")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *binary, *out, *chromium); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, binary, out, chromium string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	s, err := start(ctx, binary)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.visit(ctx); err != nil {
		return err
	}
	b, closeBrowser := newBrowser(ctx, chromium, s.public)
	defer closeBrowser()
	for _, p := range pictures(s) {
		png, err := b.take(&p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if png, err = compressed(png); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := os.WriteFile(filepath.Join(out, p.name+".png"), png, 0o644); err != nil { //nolint:gosec // for others to see
			return err
		}
		fmt.Printf("%s.png: %d KiB\n", p.name, len(png)>>10)
	}
	return nil
}

// service is a running sundry.
type service struct {
	cmd             *exec.Cmd
	public, private string // addresses of its listeners
}

// serving finds the addresses in the log.
var serving = regexp.MustCompile(`msg=serving public=(\S+) admin=(\S+)`)

func start(ctx context.Context, binary string) (*service, error) {
	cmd := exec.CommandContext(ctx, binary, "serve", "--replay", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if m := serving.FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return &service{cmd, m[1], m[2]}, nil
		}
	}
	return nil, errors.Join(errors.New("the service did not start"), cmd.Wait())
}

func (s *service) stop() {
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

// visits are requests with which the console has something to show: each path, and how
// often.
var visits = [...]struct {
	path  string
	times int
}{
	{"/api/60s", 40}, {"/api/yiyan", 60}, {"/api/ip?ip=8.8.8.8", 25}, {"/api/ip?ip=nonsense", 3}, {"/api/dailywp?type=json", 20},
	{"/api/qrcode?text=hello", 15}, {"/api/lishi", 12}, {"/api/music?type=json", 10}, {"/api/kd?id=YT0000000000001", 8}, {"/api/sfz?card=110101199001010015", 6},
}

func (s *service) visit(ctx context.Context) error {
	for _, v := range visits {
		for range v.times {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.public+v.path, http.NoBody)
			if err != nil {
				return err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return err
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}
	return nil
}
