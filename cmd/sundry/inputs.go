package main

import (
	"errors"
	"sync"

	"sundry/upstreams"
	"sundry/upstreams/catalog"
)

// inputs are all that a set is compiled from, as it was read at one time: the
// configuration, the catalog's files, the keys of sources. A setting made while
// it runs compiles from those in force; only a reload reads anew.
type inputs struct {
	config *config
	files  *catalog.Files
	secret func(name string) (string, bool)
}

func readInputs(c *config, secret func(string) (string, bool)) (*inputs, error) {
	files, err := catalog.ReadFiles(c.Catalog)
	return &inputs{c, files, remembered(secret)}, err
}

// remembered asks for each name once.
func remembered(secret func(string) (string, bool)) func(string) (string, bool) {
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

// compile makes a set of them. live are settings made while it runs; nil for
// none. Of one environment, one set is compiled at a time.
func (in *inputs) compile(env *upstreams.Environment, live map[string]map[string]string) (*catalog.Catalog, error) {
	env.Data, env.Secret = in.files.Data(), in.secret
	return in.files.Compile(catalog.Options{Overrides: in.config.Endpoints, ConfigFile: in.config.endpointsFrom, Live: live}, env)
}

// compileAnew compiles what was just read, and in replay gives the environment
// its exchanges.
func (in *inputs) compileAnew(env *upstreams.Environment, live map[string]map[string]string) (*catalog.Catalog, error) {
	set, err := in.compile(env, live)
	if err == nil {
		err = errors.Join(in.config.unknownVariables(set), in.config.unknownFaults(set))
	}
	if err != nil || env.Replay == nil {
		return set, err
	}
	cases, err := allCases(in.config.Catalog)
	if err != nil {
		return nil, err
	}
	exchanges, err := set.Exchanges(cases)
	if err != nil {
		return nil, err
	}
	env.Replay.Set(exchanges)
	return set, nil
}

// loadCatalog reads and compiles everything, for commands that do so once.
func loadCatalog(c *config, env *upstreams.Environment) (*catalog.Catalog, error) {
	in, err := readInputs(c, env.Secret)
	if err != nil {
		return nil, err
	}
	return in.compileAnew(env, nil)
}
