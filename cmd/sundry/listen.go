package main

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"sundry/metrics/panics"
	"sundry/metrics/words"
	"sundry/proxy"
	"sundry/proxy/express"
	"sundry/proxy/listener"
)

// run listens, serves and, when ctx ends, drains.
func (s *server) run(ctx context.Context, adminHandler http.Handler) error {
	serving := false
	defer func() {
		s.close()
		if serving { // else nothing had started that has stopped
			s.log.Info("stopped")
		}
	}()
	if err := s.listen(ctx); err != nil { // first, so that a mistake shows at once
		return err
	}
	private, err := s.listenAdmin(ctx)
	if err != nil {
		_ = errors.Join(s.listener.Close(), s.plain.close())
		return s.cannotListen(ctx, "admin", "--admin", s.config.Admin, err)
	}
	s.catchUp(ctx)
	adminServer := newHTTPServer(adminHandler, s.log)
	adminServer.WriteTimeout = 2 * time.Minute // a CPU profile is long
	var loops sync.WaitGroup
	defer loops.Wait() // behind cancel, also after a panic
	lives, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(s.process.urgent, s.panics.Func(panics.Stop, end))()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	group, ctx := errgroup.WithContext(ctx)
	s.panics.Server(adminServer)
	group.Go(s.panics.FuncErr(panics.Listener, func() error {
		return ignoreClosed(adminServer.Serve(s.panics.Listener(express.Follow(adminServer, listener.Reserve(private)))))
	}))
	loops.Go(s.panics.Loop(ctx, panics.History, s.front.KeepStatus)) // early: the page shows what was before
	loops.Go(s.panics.Loop(ctx, panics.Snapshot, s.readSnapshot))
	if s.far != nil {
		loops.Go(s.panics.Loop(lives, panics.FarListen, func(ctx context.Context) { s.far.Listen(ctx, s.store.Marked, s.hears) }))
	}
	s.startMarks(ctx, &loops)
	s.readSeen()
	loops.Go(s.panics.Loop(ctx, panics.Advice, s.keepSeen))
	s.awaitSnapshot(ctx)
	publicServer := newPublic(newHTTPServer(s.front, s.log), s.listener, s.lane, s.secured())
	s.panics.Server(publicServer.Server)
	publicServer.accepts = s.panics.Listener(publicServer.accepts)
	group.Go(s.panics.FuncErr(panics.Listener, publicServer.run))
	if s.plain != nil {
		group.Go(s.panics.FuncErr(panics.Listener, s.plain.run))
	}
	s.begin(ctx, lives, &loops)
	s.front.SetReady(true)
	serving = true
	pages := s.addresses(s.listener.Addr(), private.Addr())
	s.log.Info("serving", "public", s.listener.Addr().String(), "admin", private.Addr().String(),
		"replay", s.cmd.Replay, "redis", s.far != nil, "version", version(), "home", pages[0].url, "console", pages[len(pages)-1].url)
	s.logAPIs(pages[0].url)
	s.announce(pages)
	s.notify("READY=1")
	group.Go(s.panics.FuncErr(panics.Stop, func() error {
		<-ctx.Done()
		defer func() { _ = errors.Join(publicServer.Close(), s.plain.close(), adminServer.Close()) }() // should the drain panic
		return s.drain(publicServer, adminServer)
	}))
	return group.Wait()
}

// begin starts what goes on beside requests until ctx ends. The exchange of settings goes on until lives ends, after the drain: requests
// are answered until then.
func (s *server) begin(ctx, lives context.Context, loops *sync.WaitGroup) {
	watching := make(chan struct{})
	watches := sync.OnceFunc(func() { close(watching) })
	loops.Go(s.panics.Loop(ctx, panics.Reload, func(ctx context.Context) {
		defer watches() // a panic of it does not keep the service from serving
		s.watch(ctx, watches)
	}))
	select { // what is changed once it says that it serves is taken over
	case <-watching:
	case <-ctx.Done():
	}
	s.obtainCertificates(ctx, loops)
	loops.Go(s.panics.Loop(lives, panics.Settings, s.replicator.Run))
	loops.Go(s.panics.Loop(ctx, panics.Autopilot, s.autopilot.Run))
	loops.Go(s.panics.Loop(ctx, panics.History, s.front.KeepHistory))
	if s.warms() {
		loops.Go(s.panics.Loop(ctx, panics.WarmUp, s.front.Warm))
	}
}

// listen opens the public listener, and the one that redirects to HTTPS, unless systemd has opened them already.
func (s *server) listen(ctx context.Context) error {
	sockets := 1
	if s.config.Redirect != "" {
		sockets = 2
	}
	inherited, err := listener.Inherited(s.process.getenv, sockets)
	switch {
	case err != nil:
	case len(inherited) > 0:
		s.listener.Use(inherited[0])
		inherited = inherited[1:]
	default:
		err = s.listenPublic(ctx)
	}
	if err != nil {
		return s.cannotListen(ctx, "public", "--listen", s.config.Listen, err)
	}
	return s.listenPlainly(ctx, inherited)
}

// windowsInUse is the number that Windows has for an address in use (WSAEADDRINUSE).
const windowsInUse = syscall.Errno(10048)

// cannotListen says what to do if another process listens on the address.
func (s *server) cannotListen(ctx context.Context, listener, flag, address string, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) && !errors.Is(err, windowsInUse) {
		return words.Translated(fmt.Errorf("%s listener: %w", listener, err), fmt.Sprintf("%s %s：无法监听：%s", flag, address, words.Failure(err).ZH()))
	}
	example := words.Say(" with "+flag, "（"+flag+"）")
	if other := nextTo(func(a string) bool { return isFree(ctx, a) }, address, s.config.Listen, s.config.Admin); other != "" {
		example = words.Sayf(", for example %s %s", "，例如 %s %s", flag, other)
	}
	cause := fmt.Errorf("%s listener: %w: another process listens there; choose another address%s", listener, err, example)
	return words.Translated(cause, fmt.Sprintf("%s %s：已有别的进程在这个地址监听；请换一个地址%s", flag, address, example.ZH()))
}

// isFree reports whether this process may listen on an address.
func isFree(ctx context.Context, address string) bool {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

// nearPorts is how many ports are tried near one that is taken.
const nearPorts = 100

// nextTo is a free address with a port near that of another one, which the listeners at these addresses do not want; ""
// where there is none.
func nextTo(free func(address string) bool, address string, listeners ...string) string {
	host, port, _ := net.SplitHostPort(address)
	n, err := strconv.Atoi(port)
	if err != nil {
		n = 8080 // the port has a name
	}
	wanted := []int{n}
	for _, l := range listeners {
		wanted = append(wanted, portOf(l))
	}
	step := 1
	if n+nearPorts > 65535 {
		step = -1
	}
	for range nearPorts {
		other := net.JoinHostPort(host, strconv.Itoa(n))
		if !slices.Contains(wanted, n) && free(other) {
			return other
		}
		n += step
	}
	return ""
}

// portOf is the number of the port of an address; 0 where there is none.
func portOf(address string) int {
	_, port, _ := net.SplitHostPort(address)
	n, _ := net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	return n
}

// notify tells systemd the state of this process.
func (s *server) notify(state string) {
	if err := listener.Notify(s.process.getenv, state); err != nil {
		s.log.Warn("systemd could not be notified", "state", state, "error", err)
	}
}

func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: proxy.WriteTimeout, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: stdlog.New(libraryLog{log}, "", 0),
	}
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
