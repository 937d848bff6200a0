//go:build linux

package main

import (
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"time"

	"sundry/deploy/bench/harness"
	"sundry/deploy/bench/openloop"
)

// connections of the load.
const connections = 64

// outcome is what came of a load.
type outcome struct {
	answers, failed int
	bytes           int64
	span            time.Duration
}

// load asks a server for the paths, over and over, as fast as it answers. It comes
// from wrk, unless wrk cannot make it: it waits for the bodies of answers to HEAD,
// and measures whole seconds.
func (b *bench) load(r *row, s *server, paths []string) (*outcome, error) {
	etag, err := b.etag(r, s, paths[0])
	if err != nil {
		return nil, err
	}
	key := r.name + s.name
	begin := b.answered[key] % len(paths)
	if r.once {
		begin = 0
	}
	var done *outcome
	if r.method == http.MethodHead || b.span < time.Second {
		done, err = b.ownLoad(r, s, paths, begin, etag)
	} else {
		done, err = b.wrk(r, s, append(paths[begin:len(paths):len(paths)], paths[:begin]...), etag)
	}
	if done != nil {
		b.answered[key] += done.answers
	}
	return done, err
}

// head is a request as wrk sends it.
func (r *row) head(s *server, path, etag string) []byte {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.method, path, s.address)
	for name, value := range r.headers(etag) {
		fmt.Fprintf(&text, "%s: %s\r\n", name, value)
	}
	text.WriteString("\r\n")
	return []byte(text.String())
}

func (b *bench) requests(r *row, s *server, paths []string, etag string) *openloop.Load {
	l := &openloop.Load{Address: s.address, Connections: connections, Head: r.method == http.MethodHead}
	for _, path := range paths {
		l.Requests = append(l.Requests, r.head(s, path, etag))
	}
	return l
}

func (b *bench) ownLoad(r *row, s *server, paths []string, begin int, etag string) (*outcome, error) {
	l := b.requests(r, s, paths, etag)
	l.Begin = begin
	result, err := l.Offer(openloop.AtOnce(b.span))
	if err != nil {
		return nil, err
	}
	return &outcome{answers: result.Answers(), failed: result.Answers() - result.Statuses[r.status], bytes: result.Bytes, span: result.Span}, nil
}

// script is what wrk runs: a list of paths where there are several, and a line with
// what came of it. Without a function request, wrk repeats one request by itself.
const script = `wrk.method = "METHOD"
HEADERS
if SEVERAL then
  local requests, n = {}, 0
  function init(args)
    for path in io.lines(args[1]) do requests[#requests + 1] = wrk.format(nil, path) end
  end
  function request()
    n = n %% #requests + 1
    return requests[n]
  end
end
function done(summary)
  local e = summary.errors
  io.write(string.format("\nDONE %%d %%d %%d %%d\n", summary.requests, summary.bytes, summary.duration, e.connect + e.read + e.write + e.timeout + e.status))
end
`

func (b *bench) wrk(r *row, s *server, paths []string, etag string) (*outcome, error) {
	if err := harness.WriteFile(b.File("paths.wrk"), strings.Join(paths, "\n")+"\n"); err != nil {
		return nil, err
	}
	var headers []string
	for name, value := range r.headers(etag) {
		headers = append(headers, fmt.Sprintf("wrk.headers[%q] = %q", name, value))
	}
	several := fmt.Sprint(len(paths) > 1)
	lua := strings.NewReplacer("METHOD", r.method, "HEADERS", strings.Join(headers, "\n"), "SEVERAL", several, "%%", "%").Replace(script)
	if err := harness.WriteFile(b.File("load.lua"), lua); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(b.Context, "wrk", "-t1", fmt.Sprintf("-c%d", connections), fmt.Sprintf("-d%.0fs", b.span.Seconds()), "--timeout", "30s", "-s", b.File("load.lua"), //nolint:gosec // of the bench
		s.url(paths[0]), "--", b.File("paths.wrk"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("wrk: %w: %s", err, out)
	}
	_, line, ok := strings.Cut(string(out), "\nDONE ")
	done, microseconds := &outcome{}, int64(0)
	if _, err := fmt.Sscan(line, &done.answers, &done.bytes, &microseconds, &done.failed); err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("wrk: no result in %s", out), err)
	}
	done.span = time.Duration(microseconds) * time.Microsecond
	return done, nil
}

// warmAsks is how often a key has been asked for before it is measured: caches that
// resist scans take what is asked for again as what is popular.
const warmAsks = 4

// fillKeys asks every server for all keys of zipf, until all have been answered warmAsks
// times.
func fillKeys(b *bench, r *row) error {
	for _, column := range b.present(r) {
		s := b.servers[r.servers[column]]
		l := b.requests(r, s, numbered(keyPath, 1, zipfKeys), "")
		complete, last := 0, 0
		for range warmAsks + attempts { // the first may take long
			result, err := l.Offer(openloop.Times(zipfKeys))
			if err != nil {
				return err
			}
			if last = result.Statuses[http.StatusOK]; last == zipfKeys {
				complete++
			}
			if complete == warmAsks {
				break
			}
		}
		if complete < warmAsks {
			return fmt.Errorf("%s: expected %d answers %d times, got %d the last time", column, zipfKeys, warmAsks, last)
		}
	}
	return nil
}
