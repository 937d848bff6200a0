package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"sundry/metrics"
	"sundry/metrics/panics"
)

// run listens, serves and, when ctx ends, drains.
func (s *server) run(ctx context.Context, adminHandler http.Handler) error {
	defer s.close()
	// Beside another process, the public address is opened last: from then on the kernel
	// gives this process its part of the connections. Else it is opened first, so that a
	// mistake shows at once.
	var public *gate
	if !s.config.ReusePort {
		var err error
		if public, err = s.listen(ctx); err != nil {
			return err
		}
	}
	private, err := s.listenConfig().Listen(ctx, "tcp", s.config.Admin)
	if err != nil {
		if public != nil {
			_ = public.Close()
		}
		return cannotListen("admin", "--admin", s.config.Admin, err)
	}
	s.catchUp(ctx)
	adminServer := newHTTPServer(adminHandler, s.log)
	adminServer.WriteTimeout = 2 * time.Minute // a CPU profile is long
	var loops sync.WaitGroup
	defer loops.Wait() // behind cancel, also after a panic
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	s.panics.Server(adminServer)
	group.Go(s.panics.FuncErr(panics.Listener, func() error { return ignoreClosed(adminServer.Serve(s.panics.Listener(private))) }))
	loops.Go(s.panics.Loop(ctx, panics.Snapshot, s.keepSnapshot))
	s.startMarks(ctx, &loops)
	s.readAdvice()
	loops.Go(s.panics.Loop(ctx, panics.Advice, s.keepAdvice))
	s.awaitSnapshot(ctx)
	if public == nil {
		if public, err = s.listen(ctx); err != nil {
			cancel()
			return errors.Join(err, adminServer.Close(), group.Wait())
		}
	}
	publicServer := newPublic(newHTTPServer(s.front, s.log), public, s.lane)
	s.panics.Server(publicServer.Server)
	publicServer.listener = s.panics.Listener(publicServer.listener)
	group.Go(s.panics.FuncErr(panics.Listener, publicServer.run))
	s.begin(ctx, &loops)
	s.front.SetReady(true)
	pages := s.addresses(public.Addr(), private.Addr())
	s.log.Info("serving", "public", public.Addr().String(), "admin", private.Addr().String(),
		"replay", s.cmd.Replay, "redis", s.far != nil, "version", version(), "home", pages[0].url, "console", pages[len(pages)-1].url)
	s.announce(pages)
	s.notify("READY=1")
	group.Go(s.panics.FuncErr(panics.Stop, func() error {
		<-ctx.Done()
		defer func() { _ = errors.Join(publicServer.Close(), adminServer.Close()) }() // should the drain panic
		return s.drain(publicServer, adminServer)
	}))
	return group.Wait()
}

// begin starts what goes on beside requests until ctx ends.
func (s *server) begin(ctx context.Context, loops *sync.WaitGroup) {
	loops.Go(s.panics.Loop(ctx, panics.Reload, s.watch))
	loops.Go(s.panics.Loop(ctx, panics.Settings, s.replicator.Run))
	loops.Go(s.panics.Loop(ctx, panics.Autopilot, s.autopilot.Run))
	loops.Go(s.panics.Loop(ctx, panics.Rates, s.front.ShareRates))
	loops.Go(s.panics.Loop(ctx, panics.History, s.front.KeepHistory))
	if s.warms() {
		loops.Go(s.panics.Loop(ctx, panics.WarmUp, s.front.Warm))
	}
}

// listen opens the public address, unless systemd has opened it already.
func (s *server) listen(ctx context.Context) (*gate, error) {
	g, err := s.openPublic(ctx)
	if err != nil {
		return nil, cannotListen("public", "--listen", s.config.Listen, err)
	}
	g.acceptFailures, g.connections = s.acceptFailures, s.connections
	return g, nil
}

// windowsInUse is the number that Windows has for an address in use (WSAEADDRINUSE).
const windowsInUse = syscall.Errno(10048)

// cannotListen says what to do if another process listens on the address.
func cannotListen(listener, flag, address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, windowsInUse) {
		return fmt.Errorf("%s listener: %w: another process listens there; choose another address, for example %s %s", listener, err, flag, nextTo(address))
	}
	return fmt.Errorf("%s listener: %w", listener, err)
}

// nextTo is an address with a port next to that of another one.
func nextTo(address string) string {
	host, port, _ := net.SplitHostPort(address)
	n, err := strconv.Atoi(port)
	switch {
	case err != nil:
		n = 8081 // the port has a name
	case n == 65535:
		n--
	default:
		n++
	}
	return net.JoinHostPort(host, strconv.Itoa(n))
}

func (s *server) openPublic(ctx context.Context) (*gate, error) {
	if l, err := inherited(s.process.getenv); l != nil || err != nil {
		return &gate{Listener: l}, err
	}
	return openGate(ctx, s.listenConfig(), s.config.Listen)
}

// listenConfig opens sockets that others may be opened beside, if the settings say so.
func (s *server) listenConfig() *net.ListenConfig {
	c := &net.ListenConfig{}
	if s.config.ReusePort {
		c.Control = reusePort
	}
	return c
}

// notify tells systemd the state of this process.
func (s *server) notify(state string) {
	if err := notify(s.process.getenv, state); err != nil {
		s.log.Warn("systemd could not be notified", "state", state, "error", err)
	}
}

func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// acceptFailures counts and logs connections that could not be accepted, for
// example because this process has no file descriptor left: callers wait then,
// and nothing else says why. The server tries again by itself.
type acceptFailures struct {
	total prometheus.Counter
	log   *slog.Logger
	until atomic.Int64 // unix nanoseconds: until then failures are counted, not logged
}

// acceptLogInterval is the least time between two lines in the log.
const acceptLogInterval = 10 * time.Second

func newAcceptFailures(reg prometheus.Registerer, log *slog.Logger) (*acceptFailures, error) {
	a := &acceptFailures{log: log, total: prometheus.NewCounter(prometheus.CounterOpts{Namespace: metrics.Namespace, Name: "accept_failures_total",
		Help: "Failed attempts to accept a public connection, for example for lack of file descriptors."})}
	return a, reg.Register(a.total)
}

// note counts a failure, and logs it unless one was logged a moment ago. On a nil
// acceptFailures it does nothing.
func (a *acceptFailures) note(err error, now time.Time) {
	if a == nil {
		return
	}
	a.total.Inc()
	until := a.until.Load()
	if now.UnixNano() < until || !a.until.CompareAndSwap(until, now.Add(acceptLogInterval).UnixNano()) {
		return
	}
	a.log.Error("connections cannot be accepted", "error", err, "advice", "raise the limit of open files (ulimit -n, LimitNOFILE) or lower limits.in_flight")
}
