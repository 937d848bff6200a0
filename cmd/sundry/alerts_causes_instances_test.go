//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"sundry/upstreams"
)

// causesOfInstances are those of the alerts about processes.
func causesOfInstances() []*cause {
	return []*cause{
		{
			alert: "SundryDown", fires: 2 * time.Minute, resolves: 0,
			stage: func(s *scene) act {
				m := s.program(nil)
				return provoked(nil, m.kill, func() { s.again(m, nil) })
			},
		},
		{
			alert: "SundryInstanceDown", fires: 2 * time.Minute, resolves: 0,
			stage: func(s *scene) act {
				s.launch(unwarmed)
				s.launch(unwarmed)
				m := s.program(nil)
				return provoked(nil, m.kill, func() { s.again(m, nil) })
			},
		},
		{alert: "SundryRestarts", fires: 20 * time.Minute, resolves: 20 * time.Minute, stage: crashes},
		{alert: "SundryMemory", fires: 10 * time.Minute, resolves: 0, stage: littleMemory},
		{
			alert: "SundryAdminLoginsFail", fires: 10 * time.Minute, resolves: 10 * time.Minute,
			stage: func(s *scene) act {
				p := s.launch(unwarmed)
				var stop func()
				return provoked(nil, func() { stop = s.guess(p) }, func() { stop() })
			},
		},
		{alert: "SundryReloadFailed", fires: time.Minute, resolves: 0, stage: brokenConfiguration},
		{alert: "SundryAcceptFailures", fires: 5 * time.Minute, resolves: 5 * time.Minute, stage: noDescriptors},
		{alert: "SundryConnectionsFull", fires: 5 * time.Minute, resolves: 0, stage: manyConnections},
		{alert: "SundryPanics", fires: 15 * time.Minute, resolves: 15 * time.Minute, stage: panickingSource},
		{alert: "SundryLogLost", fires: 15 * time.Minute, resolves: 15 * time.Minute, takes: 10 * time.Second, stage: unreadLog},
	}
}

// again starts a program again, where it was, with these variables.
func (s *scene) again(m *sibling, env []string) *sibling {
	m.kill()
	_ = m.cmd.Wait()
	return s.program(env, "--admin", strings.TrimPrefix(m.admin, "http://"))
}

// crashes has a program killed and started again, once it has been scraped.
func crashes(s *scene) act {
	m, last, crashed := s.program(nil), time.Now(), 0
	during := func() {
		if time.Since(last) > 4*s.watch.pace && crashed < 4 {
			m, last = s.again(m, nil), time.Now()
			crashed++
		}
	}
	return act{begin: func() {}, during: during, end: func() {}}
}

// littleMemory has a program whose limit is little more than what it holds.
func littleMemory(s *scene) act {
	m := s.program(nil)
	var live float64
	ready := func() (ok bool) {
		live, ok = s.watch.number(fmt.Sprintf(`go_gc_heap_live_bytes{job=%q} > 0`, s.job))
		return ok
	}
	return provoked(ready, func() { m = s.again(m, []string{fmt.Sprintf("GOMEMLIMIT=%d", int(live/0.95))}) }, func() { m = s.again(m, nil) })
}

// guess tries wrong tokens, from an address that is not Prometheus': after some, requests of that address are refused.
func (s *scene) guess(p *instance) (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(oneOf(0))}, Timeout: 5 * time.Second}
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true, DialContext: dialer.DialContext}}
	s.busy.Go(func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.admin+"/metrics", nil)
			if err != nil {
				return
			}
			r.Header.Set("Authorization", "Bearer not-"+adminToken)
			if resp, err := client.Do(r); err == nil {
				_ = resp.Body.Close()
			}
			select {
			case <-ctx.Done():
			case <-tick.C:
			}
		}
	})
	return cancel
}

// brokenConfiguration is reloaded.
func brokenConfiguration(s *scene) act {
	dir := s.t.TempDir()
	file := write(s.t, dir, "sundry.yaml", unwarmed+only())
	p := s.launchFile(&process{}, file)
	reload := func(text string) func() {
		return func() {
			write(s.t, dir, "sundry.yaml", text)
			s.order(p, http.MethodPost, "reload", "")
		}
	}
	return provoked(nil, reload("limits: {rate: many}\n"), reload(unwarmed+only()))
}

// noDescriptors lowers the limit of open files of a process to what it has open.
func noDescriptors(s *scene) act {
	m := s.program(nil)
	pid := m.cmd.Process.Pid
	var before unix.Rlimit
	var conns []net.Conn
	limit := func(next, was *unix.Rlimit) {
		if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, next, was); err != nil {
			s.t.Errorf("%s: %v", s.cause.alert, err)
		}
	}
	begin := func() {
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			s.t.Error(err)
		}
		limit(nil, &before)
		limit(&unix.Rlimit{Cur: uint64(len(open) + 1), Max: before.Max}, nil)
		for range 10 {
			if c, err := net.DialTimeout("tcp", strings.TrimPrefix(m.public, "http://"), 5*time.Second); err == nil {
				conns = append(conns, c)
			}
		}
	}
	end := func() {
		limit(&before, nil)
		for _, c := range conns {
			_ = c.Close()
		}
	}
	return provoked(nil, begin, end)
}

// manyConnections opens as many connections as a process with few descriptors may have.
func manyConnections(s *scene) act {
	m := s.program([]string{fmt.Sprintf("%s=%d", fileLimit, descriptors)})
	var conns []kept
	begin := func() {
		for i := range 80 {
			c := dialFrom(s.t, oneOf(i), m.public)
			c.ask("/healthz")
			conns = append(conns, c)
		}
	}
	return provoked(nil, begin, func() {
		for _, c := range conns {
			_ = c.Close()
		}
	})
}

// panicsWhen panics while it is told to.
type panicsWhen struct {
	next http.RoundTripper
	on   *atomic.Bool
}

func (p panicsWhen) RoundTrip(r *http.Request) (*http.Response, error) {
	if p.on.Load() {
		panic("it failed")
	}
	return p.next.RoundTrip(r)
}

// panickingSource has one call of a source panic, among so many requests that nobody else notices.
func panickingSource(s *scene) act {
	var on atomic.Bool
	w := &process{onEnvironment: func(env *upstreams.Environment) {
		next := env.Transport
		if next == nil {
			next = http.DefaultTransport
		}
		env.Transport = panicsWhen{next, &on}
	}}
	p := s.launchWith(w, unwarmed, "--catalog", s.catalog("ttl: 1h", newOrigin(s.t).source("up", "")))
	p.panics = true
	s.load(20*time.Millisecond, oneID(p))
	begin := func() {
		on.Store(true)
		s.busy.Go(func() { fetchWith(s.ctx, http.DefaultClient, p.public+"/api/own?id=2") })
	}
	return provoked(s.requests(500), begin, func() { on.Store(false) })
}

// unreadLog has nobody read the log of a process, which logs each of many requests.
func unreadLog(s *scene) act {
	var reading sync.WaitGroup
	s.t.Cleanup(reading.Wait) // after the end of the program
	p := newPiped(s.t)
	s.scrapes(p.admin)
	s.load(10*time.Millisecond, func(int) string { return p.public + "/api/none" })
	n := 0
	during := func() { p.refused(n, n+1000); n += 1000 }
	return act{begin: func() {}, during: during, end: func() { reading.Go(func() { _, _ = io.Copy(io.Discard, p.lines) }) }}
}
