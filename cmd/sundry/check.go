package main

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"sundry/upstreams/catalog"
)

type checkCmd struct{ flags }

// Run compiles everything and prints every mistake, and what is allowed but
// will not work as well as it may seem.
func (c *checkCmd) Run(w *world) error {
	set, cfg, err := c.load(w)
	if err != nil {
		_, _ = fmt.Fprintln(w.stderr, err)
		return errors.New("check failed")
	}
	sources := 0
	for _, e := range set.Endpoints {
		sources += len(e.Sources())
	}
	for _, line := range unkept(set, cfg.Cache.Memory) {
		_, _ = fmt.Fprintln(w.stderr, "warning:", line)
	}
	_, err = fmt.Fprintf(w.stdout, "ok: %d endpoints, %d sources\n", len(set.Endpoints), sources)
	return err
}

// compile loads as serve would, metrics and connections aside.
func (f *flags) compile(w *world) (*catalog.Catalog, error) {
	set, _, err := f.load(w)
	return set, err
}

// load is compile with the configuration.
func (f *flags) load(w *world) (*catalog.Catalog, *config, error) {
	cfg, mistakes := f.loadConfig(w, nil)
	env, err := newEnvironment(f, cfg, w.getenv, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, cfg, errors.Join(mistakes, err)
	}
	defer env.CloseIdle()
	set, err := loadCatalog(cfg, env)
	return set, cfg, errors.Join(mistakes, err)
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(w *world) error {
	_, err := fmt.Fprintln(w.stdout, "sundry", version())
	return err
}

// version is the module's, or the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value[:min(12, len(s.Value))]
		}
	}
	return info.Main.Version
}
