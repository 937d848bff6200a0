package main

import (
	"errors"
	"fmt"
	"io/fs"
	stdlog "log"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache"
	"sundry/cache/advise"
	"sundry/cache/far"
	"sundry/cache/near"
	"sundry/cache/policy"
	"sundry/cache/web"
	"sundry/cmd/sundry/internal/config"
	"sundry/metrics"
	"sundry/metrics/panics"
	"sundry/proxy"
	"sundry/proxy/admin"
	"sundry/proxy/autopilot"
	"sundry/proxy/express"
	"sundry/proxy/listener"
	"sundry/proxy/live"
	"sundry/proxy/logwriter"
	"sundry/proxy/secure"
	"sundry/proxy/site/i18n"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/host"
	"sundry/upstreams/lib/redact"
)

type serveCmd struct {
	faultFlags
	Listen    string `help:"Address of the public listener (default :8080)." zh:"公开端口的地址（默认 :8080）。" placeholder:"ADDR"`
	Admin     string `help:"Address of the admin listener (default 127.0.0.1:9090)." zh:"管理端口的地址（默认 127.0.0.1:9090）。" placeholder:"ADDR"`
	Data      string `help:"Directory for what outlives a restart, such as the changes that operators make in the console, and the cache." zh:"目录，保存重启后仍要保留的内容，例如控制台里的更改和缓存。" type:"path" placeholder:"DIR"`
	Redis     string `help:"Redis for the far tier: redis://, unix:// or redis+cluster://; rediss for TLS." zh:"作为远层的 Redis：redis://、unix:// 或 redis+cluster://；用 TLS 时写 rediss。" placeholder:"URL"`
	LogFormat string `help:"Format of the log: text or json." zh:"日志的格式：text 或 json。" placeholder:"FORMAT" complete:"text,json"`
	LogLevel  string `help:"Lowest level that is logged: debug, info, warn or error." zh:"记录哪一级以上的日志：debug、info、warn 或 error。" placeholder:"LEVEL" complete:"debug,info,warn,error"`
}

func (s *serveCmd) config(w *process) (*config.Config, error) {
	return s.loadConfig(w, map[string]string{
		"listen": s.Listen, "admin": s.Admin, "redis": s.Redis, "data": s.Data, "log_format": s.LogFormat, "log_level": s.LogLevel,
	})
}

// server is what serve runs, wired together.
type server struct {
	cmd        *serveCmd
	config     *config.Config
	process    *process
	log        *slog.Logger
	level      *slog.LevelVar
	panics     *panics.Catcher
	env        *upstreams.Environment
	cache      *cache.Cache
	store      *web.Store // of APIs that are served as they are
	observer   *advise.Observer
	far        *far.Tier
	snapshot   *snapshotFile // nil: none is kept
	front      *proxy.Server
	lane       *express.Lane // nil: turned off
	listener   *listener.Listener
	plain      *public                     // redirects to HTTPS; nil means that there is no such listener
	pair       atomic.Pointer[secure.Pair] // the certificate from files; nil means that there is none
	authority  *secure.Authority           // issues the certificates; nil means that acme.hosts is empty
	reload     *metrics.Reload
	replicator *live.Replicator
	autopilot  *autopilot.Pilot

	mu     sync.Mutex // guards what reloads and operators' changes write
	loaded *inputs    // what the catalog in force was compiled from
	// changed are the cache settings that operators changed, by endpoint.
	changed  map[string]map[string]string
	compiled compiled                // of what was checked, until it is in force
	held     map[string]host.Force   // breakers that operators hold, by host
	purged   map[string]policy.Purge // those that the store has heard of
	failed   *admin.ReloadFailure    // nil: the last reload succeeded
}

// Run serves until the context ends.
func (s *serveCmd) Run(w *process) error {
	c, err := s.config(w)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // a log that nobody reads any more is no reason to end
	log, level, lines := newLogger(c, w)
	defer lines.End()
	stdlog.SetOutput(libraryLog{log}) // that of transports, which have no log of their own
	if !w.light {
		limitMemory(memlimit.FromCgroup, log)
		defer ballast(int64(c.Cache.Memory))()
	}
	srv := &server{cmd: s, config: c, process: w, log: log, level: level}
	all := metrics.New(version())
	srv.panics = panics.New(all, log)
	reg := srv.panics.Registerer(all)
	reg.MustRegister(lines.Lost())
	if err := makeDirectory(c.Data); err != nil {
		return misconfigured(err)
	}
	if err := srv.build(reg); err != nil {
		return err
	}
	system := srv.newSystem(reg)
	token, readToken := w.tokens()
	private := admin.New(admin.Config{
		Token: token, ReadToken: readToken, Metrics: metrics.Handler(all, w.hidden.Text), Ready: srv.front.Ready, System: system, Languages: languages(srv.config), Registerer: reg, Log: log,
	})
	return srv.run(w.ctx, private)
}

// makeDirectory makes the data directory, unless it exists or none is set.
func makeDirectory(data string) error {
	if data == "" {
		return nil
	}
	if err := os.Mkdir(data, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the data directory: %w", err)
	}
	return nil
}

// newLogger also returns the level, which a reload may change, and what writes the lines:
// call its End when the process ends.
func newLogger(c *config.Config, w *process) (*slog.Logger, *slog.LevelVar, *logwriter.Writer) {
	level := &slog.LevelVar{}
	level.Set(logLevel(c))
	logTo := logwriter.New
	if w.inJournal() {
		logTo = logwriter.NewForJournal
	}
	plain, lines := logTo(unscreened(w.stderr), c.LogFormat, level, proxy.RequestMessage, proxy.FillMessage)
	return slog.New(redact.NewHandler(plain.Handler(), w.hidden)), level, lines
}

func logLevel(c *config.Config) slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // the setting allows valid levels only
	return level
}

// build makes the parts of the server, from the environment of the sources up to the
// front.
func (s *server) build(reg prometheus.Registerer) error {
	all, err := s.cmd.all()
	if err != nil {
		return err
	}
	if s.env, err = newEnvironment(all, s.config, s.process, reg, s.log, s.panics); err != nil {
		return misconfigured(err)
	}
	if s.process.onEnvironment != nil {
		s.process.onEnvironment(s.env)
	}
	s.observer = advise.NewObserver()
	if s.loaded, err = s.readInputs(s.config); err != nil {
		return err
	}
	near, kept := s.shareMemory()
	cfg := cache.Config{
		Memory: near, Fills: s.config.Fills, Registerer: reg, Log: s.log, Panics: s.panics, Observer: s.observer, Describe: describeFailure, Restore: restoreFailure,
	}
	if s.config.Redis != "" {
		if s.far, err = far.Open(far.Config{URL: s.config.Redis, Dial: s.process.network.dialer(), Panics: s.panics}, reg, s.log); err != nil {
			return err
		}
		cfg.Far, s.env.Quotas.Fleet = inSyncOnly{s.far, s.inSync}, s.far
	}
	if s.store, err = s.newStore(kept, reg); err != nil {
		return err
	}
	if s.cache, err = cache.New(cfg); err != nil {
		return err
	}
	s.cache.OnFill(s.observer.Filled)
	s.snapshot = s.newSnapshot(reg)
	s.env.StepCache = catalog.StepCache{Cache: s.cache}
	set, err := s.loaded.compileAnew(s.env, nil)
	if err != nil {
		return misconfigured(err)
	}
	s.logLeftOut(nil, set)
	for _, line := range uncacheablePictures(set, s.config.Cache.Memory) {
		s.log.Warn("pictures are too large to cache", "which", line.Error())
	}
	s.front, err = proxy.New(proxy.Config{
		Transfers: listener.Origins(), Unsent: express.NewUnsent(s.memory()), Ended: func(conn net.Conn) { s.listener.Ended(conn) },
		Status: s.statusStore(), Cache: s.cache, Store: s.store, Dial: s.dialOrigin, Calls: s.callsOf, BasePath: s.config.BasePath, Languages: languages(s.config), Replay: s.cmd.Replay, Log: s.log, Panics: s.panics, Registerer: reg, Version: version(),
		Recorded: func(of *catalog.Catalog) []*fixtures.Case {
			cases, _ := casesFor(of, s.config.Catalog) // what is wrong with the others, check says
			return cases
		},
	})
	if err != nil {
		return err
	}
	if s.config.Express {
		if s.lane, err = s.front.Lane(reg); err != nil {
			return err
		}
	}
	s.listener = listener.New(s.front.ClientOf, reg, s.log)
	if err := s.openCertificates(); err != nil {
		return err
	}
	reg.MustRegister(s.observer.Collector())
	s.reload = metrics.NewReload(reg)
	s.reload.Success.Set(1)
	s.reload.Time.SetToCurrentTime()
	if err := s.front.Reload(set, frontSettings(s.config)); err != nil {
		return err
	}
	s.observer.Rules(s.rules(), time.Now())
	return nil
}

// languages is the rule by which pages and messages are in Chinese or English.
func languages(c *config.Config) i18n.Rule {
	return i18n.Rule{English: c.Language == i18n.English.String()}
}

// frontSettings are the settings of the front that a reload applies.
func frontSettings(c *config.Config) proxy.Settings {
	f := proxy.Settings{
		Trusted: c.Trusted, Forwarded: proxy.Forwarded(c.Forwarded), Limits: c.Limits, HitSample: c.LogHits, RefusalSample: c.LogRefusals,
		LogKeys: c.LogKeys, PublicURL: c.PublicURL, Contact: c.Contact, LoopID: loopID(c),
	}
	if c.MCP {
		f.MCP = &proxy.MCP{Origins: c.MCPOrigins}
	}
	return f
}

// warms reports whether endpoints are filled ahead of requests: by default yes, but
// not in replay, where that would hide the first miss from whoever watches.
func (s *server) warms() bool {
	switch {
	case s.cmd.To != "":
		return false // nobody can ask for the endpoints
	case s.config.Cache.Warm != "":
		return s.config.Cache.Warm == "true"
	}
	return !s.cmd.Replay
}

// describeFailure returns the failure record that other instances read: the kind of
// the failure alone. "" is not shared: a mistake in one caller's input, whose message
// the record would lack, a source that was skipped, and that this instance is busy,
// which says nothing about the others.
func describeFailure(err error) string {
	switch k := upstreams.KindOf(err); k {
	case upstreams.Invalid, upstreams.Forbidden, upstreams.Skipped, upstreams.Busy:
		return ""
	default:
		return k.String()
	}
}

// restoreFailure makes an error of another instance's failure record; nil for a kind
// that is not shared.
func restoreFailure(text string) error {
	k, ok := upstreams.ParseErrorKind(text)
	if err := (&upstreams.Error{Kind: k, Err: errElsewhere}); ok && describeFailure(err) != "" {
		return err
	}
	return nil
}

var errElsewhere = errors.New("failed on another instance a moment ago")

// ballast keeps the garbage collector from running every few milliseconds while
// the heap is small: a collection starts when the heap has doubled, which with
// 15 MiB is soon. A block that is never touched counts as live heap without
// taking memory, so collections start later. It allows the same amount of garbage
// however full the cache is, where a higher GOGC would allow a multiple of it.
// The returned function must be called at the end; GOGC and GOMEMLIMIT keep their
// meaning.
func ballast(memory int64) (keep func()) {
	if memory == 0 {
		memory = near.DefaultMemory
	}
	block := make([]byte, memory/4)
	return func() { runtime.KeepAlive(block) }
}
