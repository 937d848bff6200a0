package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"sundry/cache"
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

// unkept says of which endpoints the near tier cannot keep the largest pictures
// that their sources may bring: each of those is asked for again every time.
func unkept(set *catalog.Catalog, memory size) []string {
	most := cache.LargestEntry(int64(memory))
	var out []string
	for _, e := range set.Endpoints {
		largest, source := largestPicture(e)
		if e.Policy.Stores() && largest > most {
			out = append(out, fmt.Sprintf("%s: source %s: its pictures may have %d KiB (max_kib); of more than %d KiB none is kept with cache.memory: %s; want %s",
				e.Name, source, largest>>10, most>>10, memory, enough(largest)))
		}
	}
	return out
}

// largestPicture of an endpoint, and the source that may bring it.
func largestPicture(e *catalog.Endpoint) (most int64, source string) {
	for _, c := range e.Chains {
		for _, s := range slices.Concat(c.Sources, c.LeftOut) {
			if n := s.LargestPicture(); n > most {
				most, source = n, s.Name
			}
		}
	}
	return most, source
}

// enough is the least memory, in steps of 8 MiB, that keeps a picture of so many
// bytes.
func enough(picture int64) size {
	for memory := int64(cache.MinMemory); memory < maxMemory; memory += 8 << 20 {
		if cache.LargestEntry(memory) >= picture {
			return size(memory)
		}
	}
	return maxMemory
}
