package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"

	"sundry/cache"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/host"
	"sundry/upstreams/replay"
)

type checkCmd struct{ flags }

// Run compiles everything and prints every mistake, warnings about what is allowed
// but defeats its purpose, and which variables of sources are set.
func (c *checkCmd) Run(w *process) error {
	set, cfg, err := c.load(w)
	var hints []error
	if err == nil {
		hints, err = c.review(w, set, cfg)
	} else if cfg != nil {
		_, unreadable := fixtures.OwnCases(cfg.Catalog)
		err = errors.Join(err, unreadable)
	}
	warning := w.paletteOf(w.stderr).paint(yellow, "warning:")
	if set != nil {
		for _, mistake := range set.Warnings {
			_, _ = fmt.Fprintln(w.stderr, warning, mistake)
		}
	}
	for _, hint := range hints {
		_, _ = fmt.Fprintln(w.stderr, warning, hint)
	}
	if err != nil {
		_, _ = fmt.Fprintln(w.stderr, err)
		return misconfigured(errors.New("check failed"))
	}
	sources := 0
	for _, e := range set.Endpoints {
		sources += len(e.Sources())
	}
	for _, line := range uncacheablePictures(set, cfg.Cache.Memory) {
		_, _ = fmt.Fprintln(w.stderr, warning, line)
	}
	_, err = fmt.Fprintf(w.stdout, "%s %d endpoints, %d sources\n%s", w.paletteOf(w.stdout).paint(green, "ok:"), len(set.Endpoints), sources, variableStates(set.Variables(), w.getenv))
	return err
}

// review plays the operator's own exchanges through their endpoints. The error joins the
// mistakes of those that cannot be used, or do not come out as they say.
func (c *checkCmd) review(w *process, set *catalog.Catalog, cfg *config) (hints []error, err error) {
	cases, _, err := exchangesFor(set, cfg.Catalog)
	if err != nil || !slices.ContainsFunc(set.Endpoints, (*catalog.Endpoint).IsOwn) {
		return nil, err
	}
	replayed := c.flags
	replayed.Replay, replayed.ReplayFault = true, nil
	env, err := newEnvironment(&replayed, cfg, w.getenv, nil, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return nil, err
	}
	defer env.CloseIdle()
	env.Hosts.Config = host.Config{Failures: math.MaxInt32, Ratio: 2} // an exchange that fails stops no other
	if set, err = loadCatalog(cfg, env); err != nil {
		return nil, err
	}
	if _, err := fixtures.Exchanges(set, cases); err != nil {
		return nil, err
	}
	mistakes, hints := fixtures.Review(w.ctx, set, cases, env.Replay.(*replay.Network)) //nolint:forcetypeassert // see newEnvironment
	return hints, errors.Join(mistakes...)
}

// compile loads configuration and catalog as serve does, without metrics and
// connections.
func (f *flags) compile(w *process) (*catalog.Catalog, error) {
	set, _, err := f.load(w)
	return set, err
}

// load is compile, but returns the configuration as well.
func (f *flags) load(w *process) (*catalog.Catalog, *config, error) {
	cfg, mistakes := f.loadConfig(w, nil)
	env, err := newEnvironment(f, cfg, w.getenv, nil, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return nil, cfg, misconfigured(errors.Join(mistakes, err))
	}
	defer env.CloseIdle()
	set, err := loadCatalog(cfg, env)
	return set, cfg, errors.Join(mistakes, err)
}

// uncacheablePictures warns of endpoints whose largest pictures do not fit into
// the near tier: those are fetched again for every request.
func uncacheablePictures(set *catalog.Catalog, memory size) []string {
	most := cache.LargestEntry(int64(memory))
	var out []string
	for _, e := range set.Endpoints {
		largest, source := largestPicture(e)
		if e.Policy.Stores() && largest > most {
			out = append(out, fmt.Sprintf("%s: source %s: its pictures may have up to %d KiB (max_kib), but with cache.memory: %s pictures of more than %d KiB are not cached; set cache.memory to %s or more",
				e.Name, source, largest>>10, memory, most>>10, memoryFor(largest)))
		}
	}
	return out
}

// largestPicture returns the most bytes that a picture of the endpoint may have, and
// the source that may deliver it.
func largestPicture(e *catalog.Endpoint) (most int64, source string) {
	for _, c := range e.Chains {
		for _, s := range c.Declared() {
			if n := s.LargestPicture(); n > most {
				most, source = n, s.Name
			}
		}
	}
	return most, source
}

// memoryFor returns the least cache.memory, in steps of 8 MiB, with which a picture of
// so many bytes is cached.
func memoryFor(picture int64) size {
	for memory := int64(cache.MinMemory); memory < maxMemory; memory += 8 << 20 {
		if cache.LargestEntry(memory) >= picture {
			return size(memory)
		}
	}
	return maxMemory
}
