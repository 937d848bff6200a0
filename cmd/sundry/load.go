package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/geoip"
	"sundry/upstreams/guard"
)

// newEnvironment makes what sources are compiled into.
func newEnvironment(f *flags, c *config, getenv func(string) (string, bool), reg prometheus.Registerer, log *slog.Logger) (*upstreams.Environment, error) {
	env := &upstreams.Environment{
		Transport: upstreams.NewTransport(), Secret: getenv, Log: log, Data: catalog.Data(c.Catalog),
	}
	env.Budget.Limit = int64(c.ReplyMemory)
	env.SetOwnHosts(c.OwnHosts)
	env.SetLoopMark(c.mark())
	var err error
	if env.Metrics, err = upstreams.NewMetrics(reg, &env.Hosts); err != nil {
		return nil, fmt.Errorf("upstreams: metrics: %w", err)
	}
	refused := prometheus.NewCounter(prometheus.CounterOpts{Namespace: "sundry", Subsystem: "guard", Name: "refused_total",
		Help: "Connections to addresses named by callers that were refused."})
	if reg != nil {
		if err := reg.Register(refused); err != nil {
			return nil, err
		}
	}
	env.Guard = guard.New(guard.Config{Allow: c.AllowTargets, Refused: refused})
	if c.GeoFile != "" {
		if env.GeoFile, err = geoip.Open(c.GeoFile); err != nil {
			return nil, fmt.Errorf("geo_file: %w", err)
		}
	}
	if f.Replay {
		env.Replay, c.faults, err = newReplay(f.ReplayFault)
	} else if len(f.ReplayFault) > 0 {
		err = errors.New("--replay-fault works with --replay only")
	}
	return env, err
}

// newReplay also lists what the faults are about.
func newReplay(specs []string) (*upstreams.Replay, []string, error) {
	faults := map[string]upstreams.Fault{}
	for _, spec := range specs {
		subject, f, err := upstreams.ParseFault(spec)
		if err != nil {
			return nil, nil, err
		}
		faults[subject] = f
	}
	return upstreams.NewReplay(faults), slices.Sorted(maps.Keys(faults)), nil
}

// allCases are the operator's recorded exchanges, then ours.
func allCases(dir string) ([]*catalog.Case, error) {
	var all []*catalog.Case
	if dir != "" {
		if _, err := fs.Stat(os.DirFS(dir), "testdata"); err == nil {
			own, err := catalog.Cases(os.DirFS(dir), "testdata")
			if err != nil {
				return nil, err
			}
			all = own
		}
	}
	ours, err := catalog.Cases(catalog.Builtin(), "testdata")
	return append(all, ours...), err
}

// newLogger also gives the level, which may change.
func newLogger(c *config, w *world) (*slog.Logger, *slog.LevelVar) {
	level := &slog.LevelVar{}
	level.Set(c.level())
	opts := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w.stderr, opts)), level
	}
	return slog.New(slog.NewTextHandler(w.stderr, opts)), level
}

func (c *config) level() slog.Level {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // the setting allows only what can be read
	return level
}
