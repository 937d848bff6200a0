package main

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"sundry/cmd/sundry/internal/config"
	"sundry/metrics"
	"sundry/metrics/panics"
	"sundry/metrics/words"
	"sundry/proxy/admin"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/geoip"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/loop"
	"sundry/upstreams/replay"
)

// readTokenVariable holds the read-only token of the admin listener.
const readTokenVariable = "SUNDRY_ADMIN_READ_TOKEN" //nolint:gosec // the name, not the token

// tokens returns those of the admin listener; "" means none.
func (w *process) tokens() (token, readToken string) {
	token, _ = w.getenv("SUNDRY_ADMIN_TOKEN")
	if read, ok := w.getenv(readTokenVariable); ok {
		readToken = read
	}
	return token, readToken
}

// flags are what every command that loads the catalog takes. A flag beats the
// environment, which beats the file, which beats the default.
type flags struct {
	Config  string          `help:"Configuration file (default: sundry.yaml in the working directory, if it exists)." zh:"设置文件（默认为工作目录中的 sundry.yaml，如果有）。" type:"path" placeholder:"FILE"`
	Catalog string          `help:"Directory with catalog files that add endpoints or replace built-in ones." zh:"存放自己的接口文件的目录，可以增加接口，也可以取代内置的。" type:"path" placeholder:"DIR"`
	Replay  bool            `help:"Answer every upstream call from recorded exchanges, without any network." zh:"用录制的往来回答所有上游调用，完全不用网络。"`
	faults  []string        // see faultFlags
	one     *catalog.OneAPI // replaces the catalog; nil means that the catalog is read
}

// faultFlags are flags of a command that calls sources.
type faultFlags struct {
	flags
	toFlags
	ReplayFault []string `help:"Inject faults in replay: ENDPOINT[/SOURCE]= followed by error:SHARE, status:CODE, body:empty, body:html or latency:DURATION, separated by commas, such as kd=error:0.3,latency:800ms. May be given several times." zh:"在回放中注入故障：接口[/数据源]=，后接 error:比例、status:状态码、body:empty、body:html 或 latency:时长，以逗号分隔，例如 kd=error:0.3,latency:800ms。可以给出多次。" placeholder:"SPEC" sep:"none"`
}

// all are the flags, with the faults and the API without a file.
func (f *faultFlags) all() (*flags, error) {
	f.faults = f.ReplayFault
	return &f.flags, f.readAPI(&f.toFlags)
}

// readAPI reads flags about an API without a file, which must not contradict the others.
func (f *flags) readAPI(to *toFlags) (err error) {
	f.one, err = to.api()
	switch {
	case err != nil:
	case f.one != nil && f.Replay:
		err = words.NewError("--to: expected without --replay, in which there is no network", "--to：不能与 --replay 同时使用；回放时没有网络")
	case f.one != nil && f.Catalog != "":
		err = words.NewError("--to: expected without --catalog, of which nothing is served; put the API into a file of it", "--to：不能与 --catalog 同时使用，其中的接口不会提供；请在其中为 API 写一个文件")
	}
	return misused(err)
}

func (f *faultFlags) load(w *process, prepare func(*loaded)) (*loaded, error) {
	all, err := f.all()
	if err != nil {
		return &loaded{}, err
	}
	return all.load(w, prepare)
}

// loadConfig reads the settings; values are those of further flags, by their keys. With mistakes
// it still returns what could be read.
func (f *flags) loadConfig(w *process, values map[string]string) (*config.Config, error) {
	all := map[string]string{"catalog": f.Catalog}
	maps.Copy(all, values)
	c, err := config.Load(config.Source{File: f.Config, Flags: all, Getenv: w.getenv, Variables: w.variables})
	token, readToken := w.tokens()
	w.hidden.Add(token, readToken)
	w.hidden.Add(c.Secrets()...)
	if refused := admin.CheckToken(token); refused != nil {
		err = errors.Join(err, words.Errorf("SUNDRY_ADMIN_TOKEN: %s", "SUNDRY_ADMIN_TOKEN：%s", words.Failure(refused)))
	}
	if refused := admin.CheckReadToken(readToken, token); refused != nil {
		err = errors.Join(err, words.Errorf("%s: %s", "%s：%s", readTokenVariable, words.Failure(refused)))
	}
	if refused := admin.CheckAddress(c.Admin, token); refused != nil {
		err = errors.Join(err, c.Mistake("admin", words.Sayf("%q: %s", "%q：%s", c.Admin, words.Failure(refused))))
	}
	return c, misconfigured(err)
}

// loaded is what a command works with that makes a few calls and logs nothing.
type loaded struct {
	config *config.Config
	env    *upstreams.Environment // close its idle connections at the end; nil after a mistake
	set    *catalog.Catalog       // nil after a mistake
}

// load loads configuration and catalog as serve does, without metrics. prepare is called with the
// environment before sources are compiled in it; nil: there is nothing to prepare. With mistakes
// it still returns what could be loaded.
func (f *flags) load(w *process, prepare func(*loaded)) (*loaded, error) {
	l := &loaded{}
	var mistakes, err error
	l.config, mistakes = f.loadConfig(w, nil)
	l.env, err = newEnvironment(f, l.config, w, nil, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return l, misconfigured(errors.Join(mistakes, err))
	}
	if prepare != nil {
		prepare(l)
	}
	in, err := f.readInputs(l.config, l.env.Secret)
	if err == nil {
		l.set, err = in.compileAnew(l.env, nil)
	}
	return l, errors.Join(mistakes, misconfigured(err))
}

// close lets go of connections. It may be called after a mistake.
func (l *loaded) close() {
	if l.env != nil {
		l.env.CloseIdle()
	}
}

// newEnvironment makes the environment of the sources: what they share while
// they run.
func newEnvironment(f *flags, c *config.Config, w *process, reg prometheus.Registerer, log *slog.Logger, p *panics.Catcher) (*upstreams.Environment, error) {
	env := &upstreams.Environment{
		Transport: w.network.transport(), Secret: w.getenv, Hidden: w.hidden, Log: log, Panics: p, Data: catalog.Data(c.Catalog),
	}
	env.Budget.Limit = int64(c.ReplyMemory)
	env.Metrics = upstreams.NewMetrics(reg, &env.Hosts, &env.Quotas)
	refused := promauto.With(reg).NewCounter(prometheus.CounterOpts{Namespace: metrics.Namespace, Subsystem: "guard", Name: "refused_total",
		Help: "Refused connections to forbidden addresses of caller-supplied targets."})
	env.Guard = guard.New(guard.Config{Refused: refused, Panics: p})
	configure(env, c)
	var err error
	if env.GeoFile, err = openGeo(c, nil); err != nil {
		return nil, err
	}
	if f.Replay {
		network, err := newReplay(f.faults)
		if err != nil {
			return nil, err
		}
		network.Panics, env.Replay = p, network
	} else if len(f.faults) > 0 {
		return nil, words.NewError("--replay-fault requires --replay", "--replay-fault 须和 --replay 一起用")
	}
	return env, nil
}

// configure puts what the settings say of outgoing requests into force.
func configure(env *upstreams.Environment, c *config.Config) {
	env.SetOutgoing(upstreams.Outgoing{
		OwnHosts: c.OwnHosts, LoopID: loopID(c), Agents: c.Agents(version()), Proxies: c.OutgoingProxies(),
	})
	env.Guard.Allow(c.AllowTargets)
}

// loopID is that of this service, in the requests that it sends upstream.
func loopID(c *config.Config) loop.ID { return loop.NewID(c.LoopID, c.OwnHosts, c.BasePath) }

// replayed is a network that replays recorded exchanges, with faults.
type replayed struct {
	*replay.Network
	faulty []string // the endpoints and sources that the faults name
}

func newReplay(specs []string) (*replayed, error) {
	faults := map[string]replay.Fault{}
	for _, spec := range specs {
		target, f, err := replay.ParseFault(spec)
		if err != nil {
			return nil, err
		}
		faults[target] = f
	}
	return &replayed{replay.New(faults), slices.Sorted(maps.Keys(faults))}, nil
}

// unknownFaults returns an error for faults that would never occur, because their
// endpoint or source is not among those that are known.
func (r *replayed) unknownFaults(known []string) error {
	var mistakes []error
	for _, name := range r.faulty {
		if !slices.Contains(known, name) {
			mistakes = append(mistakes, words.Errorf("--replay-fault: %s: unknown endpoint or source%s", "--replay-fault: 没有接口或数据源 %s%s", name, declare.Suggestion(name, known)))
		}
	}
	return errors.Join(mistakes...)
}

// casesFor returns the operator's recorded exchanges, then the built-in ones for the
// catalog's endpoints. The error joins the mistakes of those that were left out.
func casesFor(set *catalog.Catalog, dir string) ([]*fixtures.Case, error) {
	own, mistakes := fixtures.OwnCases(dir)
	builtin, err := fixtures.BuiltinCasesFor(set)
	return append(own, builtin...), errors.Join(mistakes, err)
}

// readyCases are the recorded exchanges that a catalog has a use for, ready for replay. The
// error joins the mistakes of the others.
func readyCases(set *catalog.Catalog, dir string) ([]*fixtures.Case, error) {
	cases, unreadable := casesFor(set, dir)
	ready, refused := fixtures.ReadyFor(set, cases)
	return ready, errors.Join(unreadable, refused)
}

// inputs are everything that a catalog is compiled from, as it was read at one time: the
// configuration, the catalog's files, the keys of sources. Changed cache settings
// are compiled with the inputs in force; only a reload reads new ones.
type inputs struct {
	config *config.Config
	files  *catalog.Files
	secret func(name string) (string, bool)
	// alone: the files have one API, which is all that is served, whatever the configuration says of endpoints.
	alone bool
}

func readInputs(c *config.Config, secret func(string) (string, bool)) (*inputs, error) {
	read := catalog.ReadFiles
	if !c.Builtin {
		if c.Catalog == "" {
			return nil, c.Mistake("builtin", words.Say("false: expected with a directory of endpoints of your own, for example catalog: ./catalog", "false：应同时给出自己的接口目录，例如 catalog: ./catalog"))
		}
		read = catalog.ReadOwnFiles
	}
	files, err := read(c.Catalog)
	return &inputs{config: c, files: files, secret: memoized(secret)}, err
}

// memoized returns a lookup that asks for each name once, so that a catalog is
// compiled with the same keys again.
func memoized(secret func(string) (string, bool)) func(string) (string, bool) {
	var known sync.Map // of func() (string, bool), by name
	return func(name string) (string, bool) {
		ask, _ := known.LoadOrStore(name, sync.OnceValues(func() (string, bool) { return secret(name) }))
		return ask.(func() (string, bool))() //nolint:forcetypeassert // see above
	}
}

// compileLive makes a catalog with other cache settings than one that was compiled of
// these inputs in the same environment.
func (in *inputs) compileLive(from *catalog.Catalog, env *upstreams.Environment, changed map[string]map[string]string) (*catalog.Catalog, error) {
	env.Data, env.Secret = in.files.Data(), in.secret
	return in.files.CompileLive(from, in.options(changed), env)
}

func (in *inputs) options(changed map[string]map[string]string) catalog.Options {
	if in.alone {
		return catalog.Options{}
	}
	return catalog.Options{Overrides: in.config.Endpoints, ConfigFile: in.config.EndpointsFrom, Live: changed}
}

// compileAnew compiles what was just read, and in replay hands the environment
// its recorded exchanges. changed are the cache settings that operators changed while Sundry
// runs; nil for none. With one environment, only one catalog may be compiled at a time.
func (in *inputs) compileAnew(env *upstreams.Environment, changed map[string]map[string]string) (*catalog.Catalog, error) {
	env.Data, env.Secret = in.files.Data(), in.secret
	set, err := in.files.Compile(in.options(changed), env)
	if err != nil {
		return nil, errors.Join(err, in.config.UnknownVariables(in.files.Variables()))
	}
	if in.alone {
		return set, nil
	}
	known := subjects(set)
	err = errors.Join(in.config.UnknownVariables(sourceVariables(set)), in.config.UnknownProxies(known))
	network, replays := env.Replay.(*replayed)
	if !replays {
		return set, err
	}
	if err = errors.Join(err, network.unknownFaults(known)); err != nil {
		return set, err
	}
	cases, bad := readyCases(set, in.config.Catalog)
	for _, mistake := range each(bad) {
		env.Log.Warn("recorded exchange left out", "error", mistake)
	}
	network.Set(fixtures.Exchanges(cases))
	return set, nil
}

// each returns the errors that an error joins, those inside them included.
func each(err error) []error {
	if e, ok := err.(exit); ok { //nolint:errorlint // what it wraps may join several
		return each(e.error)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return slices.DeleteFunc([]error{err}, func(err error) bool { return err == nil })
	}
	var all []error
	for _, inner := range joined.Unwrap() {
		all = append(all, each(inner)...)
	}
	return all
}

// subjects are the names of all endpoints, and of all sources as endpoint/source.
func subjects(set *catalog.Catalog) []string {
	names := slices.Clone(set.Off)
	for _, e := range set.Endpoints {
		names = append(names, e.Name)
		for _, chain := range e.Chains {
			for _, s := range chain.Declared {
				names = append(names, e.Name+"/"+s.Declared)
			}
		}
	}
	return names
}

// openGeo opens the databases of addresses, or returns those that are open if they
// are the same; nil where none are configured.
func openGeo(c *config.Config, open geoip.DB) (geoip.DB, error) {
	if len(c.GeoFiles) == 0 {
		return nil, nil
	}
	if files, ok := open.(*geoip.Files); ok && files.Current(c.GeoFiles) {
		return open, nil
	}
	files, err := geoip.OpenFiles(c.GeoFiles)
	if err != nil {
		return nil, c.Mistake("geo_file", words.Name(err.Error()))
	}
	return files, nil
}
