package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"sundry/cache"
	"sundry/cache/far"
	"sundry/metrics"
	"sundry/proxy"
	"sundry/proxy/admin"
	"sundry/upstreams"
)

type serveCmd struct {
	flags
	Listen    string `help:"Public address (default :8080)." placeholder:"ADDR"`
	Admin     string `help:"Private address (default 127.0.0.1:9090)." placeholder:"ADDR"`
	Redis     string `help:"Redis for the far tier: redis://, rediss://, redis+sentinel:// or redis+cluster://." placeholder:"URL"`
	LogFormat string `help:"text or json." placeholder:"FORMAT"`
	LogLevel  string `help:"debug, info, warn or error." placeholder:"LEVEL"`
}

// drainTime is how long requests under way may take after SIGTERM.
const drainTime = 20 * time.Second

func (s *serveCmd) config(getenv func(string) (string, bool)) (*config, error) {
	c, err := s.loadConfig(getenv)
	if err != nil {
		return nil, err
	}
	for flag, into := range map[*string]*string{
		&s.Listen: &c.Listen, &s.Admin: &c.Admin, &s.Redis: &c.Redis, &s.LogFormat: &c.LogFormat, &s.LogLevel: &c.LogLevel,
	} {
		if *flag != "" {
			*into = *flag
		}
	}
	return c, nil
}

// server is everything that runs.
type server struct {
	cmd    *serveCmd
	config *config
	world  *world
	log    *slog.Logger
	env    *upstreams.Environment
	cache  *cache.Cache
	far    *far.Tier
	front  *proxy.Server
	reload *metrics.Reload
}

// Run serves until the context ends.
func (s *serveCmd) Run(w *world) error {
	c, err := s.config(w.getenv)
	if err != nil {
		return err
	}
	log, err := newLogger(c, w)
	if err != nil {
		return err
	}
	token, _ := w.getenv("SUNDRY_ADMIN_TOKEN")
	if err := admin.CheckAddress(c.Admin, token); err != nil {
		return err
	}
	srv := &server{cmd: s, config: c, world: w, log: log}
	reg := metrics.New(version())
	if err := srv.build(reg); err != nil {
		return err
	}
	private := admin.New(admin.Config{Token: token, Metrics: metrics.Handler(reg), Ready: srv.front.Ready})
	return srv.run(w.ctx, private)
}

// build makes the parts, from the far tier up to the front.
func (s *server) build(reg *prometheus.Registry) error {
	var err error
	if s.env, err = newEnvironment(&s.cmd.flags, s.config, s.world.getenv, reg, s.log); err != nil {
		return err
	}
	set, err := loadCatalog(s.config, s.env)
	if err != nil {
		return err
	}
	settings := cache.Config{Memory: int64(s.config.Cache.Memory), Registerer: reg, Log: s.log}
	if s.config.Redis != "" {
		if s.far, err = far.Open(far.Config{URL: s.config.Redis}, reg, s.log); err != nil {
			return err
		}
		settings.Far = s.far
	}
	if s.cache, err = cache.New(settings); err != nil {
		return err
	}
	s.front, err = proxy.New(proxy.Config{
		Cache: s.cache, BasePath: s.config.BasePath, Trusted: prefixes(s.config.Trusted),
		Limits: s.config.limits(), Log: s.log, HitSample: s.config.LogHits, Registerer: reg,
	})
	if err != nil {
		return err
	}
	s.reload = metrics.NewReload(reg)
	s.reload.Success.Set(1)
	s.reload.Time.SetToCurrentTime()
	return s.front.Swap(set)
}

// run listens, serves and, when ctx ends, drains.
func (s *server) run(ctx context.Context, private http.Handler) error {
	defer s.close()
	public, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.Listen)
	if err != nil {
		return fmt.Errorf("public listener: %w", err)
	}
	closed, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.Admin)
	if err != nil {
		_ = public.Close()
		return fmt.Errorf("admin listener: %w", err)
	}
	front, back := newHTTPServer(s.front, s.log), newHTTPServer(private, s.log)
	back.WriteTimeout = 2 * time.Minute // profiles take their time
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return ignoreClosed(front.Serve(public)) })
	group.Go(func() error { return ignoreClosed(back.Serve(closed)) })
	group.Go(func() error { s.watch(ctx); return nil })
	if s.warms() {
		group.Go(func() error { s.front.Warm(ctx); return nil })
	}
	s.front.SetReady(true)
	s.log.Info("serving", "public", public.Addr().String(), "admin", closed.Addr().String(),
		"replay", s.cmd.Replay, "redis", s.far != nil, "version", version())
	group.Go(func() error {
		<-ctx.Done()
		return s.drain(front, back)
	})
	return group.Wait()
}

// warms is yes unless the operator says no; in replay it would hide the first
// miss from who watches.
func (s *server) warms() bool {
	if s.config.Cache.Warm != nil {
		return *s.config.Cache.Warm
	}
	return !s.cmd.Replay
}

// drain stops taking connections and lets requests under way end well.
func (s *server) drain(servers ...*http.Server) error {
	s.front.SetReady(false)
	s.log.Info("draining")
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	var failed []error
	for _, srv := range servers {
		failed = append(failed, srv.Shutdown(ctx))
	}
	return errors.Join(failed...)
}

// close ends what outlives requests: fills, then writes to Redis.
func (s *server) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if err := errors.Join(s.cache.Close(), s.far.Close(ctx)); err != nil {
		s.log.Warn("close", "error", err)
	}
	s.env.CloseIdle()
	s.log.Info("stopped")
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

// watch reloads configuration and catalog on SIGHUP. A mistake keeps the old
// set.
func (s *server) watch(ctx context.Context) {
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
	for {
		select {
		case <-ctx.Done():
			return
		case <-hup:
			s.reloadOnce()
		}
	}
}

func (s *server) reloadOnce() {
	err := func() error {
		c, err := s.cmd.config(s.world.getenv)
		if err != nil {
			return err
		}
		set, err := loadCatalog(c, s.env)
		if err != nil {
			return err
		}
		return s.front.Swap(set)
	}()
	if err != nil {
		s.reload.Success.Set(0)
		s.log.Error("reload failed; the set before it stays", "error", err)
		return
	}
	s.reload.Success.Set(1)
	s.reload.Time.SetToCurrentTime()
	s.log.Info("reloaded")
}
