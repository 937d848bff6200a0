package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"sundry/metrics"
)

// run listens, serves and, when ctx ends, drains.
func (s *server) run(ctx context.Context, adminHandler http.Handler) error {
	defer s.close()
	public, err := s.listen(ctx)
	if err != nil {
		return fmt.Errorf("public listener: %w", err)
	}
	public.acceptFailures = s.acceptFailures
	private, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.Admin)
	if err != nil {
		_ = public.Close()
		return fmt.Errorf("admin listener: %w", err)
	}
	s.catchUp(ctx)
	publicServer, adminServer := newPublic(newHTTPServer(s.front, s.log), public, s.lane), newHTTPServer(adminHandler, s.log)
	adminServer.WriteTimeout = 2 * time.Minute // a CPU profile is long
	group, ctx := errgroup.WithContext(ctx)
	group.Go(publicServer.run)
	group.Go(func() error { return ignoreClosed(adminServer.Serve(private)) })
	group.Go(func() error { s.watch(ctx); return nil })
	group.Go(func() error { s.replicator.Run(ctx); return nil })
	if s.warms() {
		group.Go(func() error { s.front.Warm(ctx); return nil })
	}
	s.front.SetReady(true)
	s.log.Info("serving", "public", public.Addr().String(), "admin", private.Addr().String(),
		"replay", s.cmd.Replay, "redis", s.far != nil, "version", version())
	s.notify("READY=1")
	group.Go(func() error {
		<-ctx.Done()
		return s.drain(publicServer, adminServer)
	})
	return group.Wait()
}

// listen opens the public address, unless systemd has opened it already.
func (s *server) listen(ctx context.Context) (*gate, error) {
	if l, err := inherited(s.process.getenv); l != nil || err != nil {
		return &gate{Listener: l}, err
	}
	return openGate(ctx, s.config.Listen)
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
