package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics"
	"sundry/metrics/panics"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/geoip"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/replay"
)

// newEnvironment makes the environment of the sources: what they share while
// they run.
func newEnvironment(f *flags, c *config, getenv func(string) (string, bool), reg prometheus.Registerer, log *slog.Logger, p *panics.Catcher) (*upstreams.Environment, error) {
	env := &upstreams.Environment{
		Transport: upstreams.NewTransport(), Secret: getenv, Log: log, Panics: p, Data: catalog.Data(c.Catalog),
	}
	env.Budget.Limit = int64(c.ReplyMemory)
	env.SetOwnHosts(c.OwnHosts)
	env.SetLoopMark(c.mark())
	env.SetAgents(c.agents())
	env.SetProxies(c.proxies())
	var err error
	if env.Metrics, err = upstreams.NewMetrics(reg, &env.Hosts, &env.Quotas); err != nil {
		return nil, fmt.Errorf("upstreams: metrics: %w", err)
	}
	refused := prometheus.NewCounter(prometheus.CounterOpts{Namespace: metrics.Namespace, Subsystem: "guard", Name: "refused_total",
		Help: "Refused connections to forbidden addresses of caller-supplied targets."})
	if reg != nil {
		if err := reg.Register(refused); err != nil {
			return nil, err
		}
	}
	env.Guard = guard.New(guard.Config{Allow: c.AllowTargets, Refused: refused, Panics: p})
	if env.GeoFile, err = c.openGeo(nil); err != nil {
		return nil, err
	}
	if f.Replay {
		var network *replay.Network
		if network, c.faults, err = newReplay(f.ReplayFault); err == nil {
			network.Panics, env.Replay = p, network
		}
	} else if len(f.ReplayFault) > 0 {
		err = errors.New("--replay-fault requires --replay")
	}
	return env, err
}

// newReplay returns the network that replays recorded exchanges, and the endpoints and
// sources that the faults name.
func newReplay(specs []string) (*replay.Network, []string, error) {
	faults := map[string]replay.Fault{}
	for _, spec := range specs {
		target, f, err := replay.ParseFault(spec)
		if err != nil {
			return nil, nil, err
		}
		faults[target] = f
	}
	return replay.New(faults), slices.Sorted(maps.Keys(faults)), nil
}

// allCases returns the operator's recorded exchanges, then the built-in ones. The
// error joins the mistakes of those that were left out.
func allCases(dir string) ([]*fixtures.Case, error) {
	own, mistakes := fixtures.OwnCases(dir)
	builtin, err := fixtures.BuiltinCases()
	return append(own, builtin...), errors.Join(mistakes, err)
}

// exchangesFor returns the recorded exchanges that a catalog has a use for. The error
// joins the mistakes of the others.
func exchangesFor(set *catalog.Catalog, dir string) ([]*fixtures.Case, []*replay.Exchange, error) {
	cases, unreadable := allCases(dir)
	exchanges, refused := fixtures.Exchanges(set, cases)
	return cases, exchanges, errors.Join(unreadable, refused)
}

// inputs are everything that a catalog is compiled from, as it was read at one time: the
// configuration, the catalog's files, the keys of sources. Changed cache settings
// are compiled with the inputs in force; only a reload reads new ones.
type inputs struct {
	config *config
	files  *catalog.Files
	secret func(name string) (string, bool)
}

func readInputs(c *config, secret func(string) (string, bool)) (*inputs, error) {
	files, err := catalog.ReadFiles(c.Catalog)
	return &inputs{c, files, memoized(secret)}, err
}

// memoized returns a lookup that asks for each name once, so that a catalog is
// compiled with the same keys again.
func memoized(secret func(string) (string, bool)) func(string) (string, bool) {
	type answer struct {
		value string
		ok    bool
	}
	var mu sync.Mutex
	known := map[string]answer{}
	return func(name string) (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		a, asked := known[name]
		if !asked {
			a.value, a.ok = secret(name)
			known[name] = a
		}
		return a.value, a.ok
	}
}

// compile makes a catalog of the inputs. changed are the cache settings that
// operators changed while Sundry runs; nil for none. With one environment, only one catalog
// may be compiled at a time.
func (in *inputs) compile(env *upstreams.Environment, changed map[string]map[string]string) (*catalog.Catalog, error) {
	env.Data, env.Secret = in.files.Data(), in.secret
	return in.files.Compile(in.options(changed), env)
}

// compileLive makes a catalog with other cache settings than one that was compiled of
// these inputs in the same environment.
func (in *inputs) compileLive(from *catalog.Catalog, env *upstreams.Environment, changed map[string]map[string]string) (*catalog.Catalog, error) {
	env.Data, env.Secret = in.files.Data(), in.secret
	return in.files.CompileLive(from, in.options(changed), env)
}

func (in *inputs) options(changed map[string]map[string]string) catalog.Options {
	return catalog.Options{Overrides: in.config.Endpoints, ConfigFile: in.config.endpointsFrom, Live: changed}
}

// compileAnew compiles what was just read, and in replay hands the environment
// its recorded exchanges.
func (in *inputs) compileAnew(env *upstreams.Environment, changed map[string]map[string]string) (*catalog.Catalog, error) {
	set, err := in.compile(env, changed)
	if err == nil {
		err = errors.Join(in.config.unknownVariables(set), in.config.unknownFaults(set), in.config.unknownProxies(set))
	}
	network, replays := env.Replay.(*replay.Network)
	if err != nil || !replays {
		return set, err
	}
	_, exchanges, bad := exchangesFor(set, in.config.Catalog)
	for _, mistake := range each(bad) {
		env.Log.Warn("recorded exchange left out", "error", mistake)
	}
	network.Set(exchanges)
	return set, nil
}

// each returns the errors that an error joins, those inside them included.
func each(err error) []error {
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

// loadCatalog reads and compiles everything, for commands that do so once.
func loadCatalog(c *config, env *upstreams.Environment) (*catalog.Catalog, error) {
	in, err := readInputs(c, env.Secret)
	if err != nil {
		return nil, misconfigured(err)
	}
	set, err := in.compileAnew(env, nil)
	return set, misconfigured(err)
}

// loadForOnce loads the catalog for a command that makes one call and logs nothing.
// Close the idle connections of the environment at the end.
func (f *flags) loadForOnce(w *process) (*catalog.Catalog, *upstreams.Environment, error) {
	cfg, err := f.loadConfig(w, nil)
	if err != nil {
		return nil, nil, err
	}
	env, err := newEnvironment(f, cfg, w.getenv, nil, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return nil, nil, misconfigured(err)
	}
	set, err := loadCatalog(cfg, env)
	return set, env, err
}

// unknownFaults returns an error for faults that would never occur, because their
// endpoint or source is unknown.
func (c *config) unknownFaults(set *catalog.Catalog) error {
	known := subjects(set)
	var mistakes []error
	for _, subject := range c.faults {
		if !slices.Contains(known, subject) {
			mistakes = append(mistakes, fmt.Errorf("--replay-fault: %s: unknown endpoint or source%s", subject, declare.Suggestion(subject, known)))
		}
	}
	return errors.Join(mistakes...)
}

// subjects are the names of all endpoints, and of all sources as endpoint/source.
func subjects(set *catalog.Catalog) []string {
	names := set.Off()
	for _, e := range set.Endpoints {
		names = append(names, e.Name)
		for _, chain := range e.Chains {
			for _, s := range chain.Declared() {
				names = append(names, e.Name+"/"+s.Declared)
			}
		}
	}
	return names
}

// openGeo opens the databases of addresses, or returns those that are open if they
// are the same; nil where none are configured.
func (c *config) openGeo(open geoip.DB) (geoip.DB, error) {
	if len(c.GeoFiles) == 0 {
		return nil, nil
	}
	if files, ok := open.(*geoip.Files); ok && files.Current(c.GeoFiles) {
		return open, nil
	}
	files, err := geoip.OpenFiles(c.GeoFiles)
	if err != nil {
		return nil, c.places["geo_file"].mistake("geo_file: " + err.Error())
	}
	return files, nil
}
