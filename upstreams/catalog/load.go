package catalog

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"sundry/upstreams"
	"sundry/upstreams/declare"
)

// Catalog is a compiled set of endpoints.
type Catalog struct {
	// Endpoints by group, each in the order of the specification.
	Endpoints []*Endpoint
	// Warnings are about files that can be used as they are.
	Warnings  []Mistake
	byName    map[string]*Endpoint
	groups    []Group
	variables map[string]upstreams.Variable
}

// Get finds an endpoint.
func (c *Catalog) Get(name string) (*Endpoint, bool) {
	e, ok := c.byName[name]
	return e, ok
}

// Options of a catalog.
type Options struct {
	// Dir holds files of the operator's own: one of a name that exists
	// replaces ours, another adds an endpoint. "" for none. Only Load reads it.
	Dir string
	// Overrides are the operator's settings, by endpoint, from ConfigFile.
	Overrides  map[string]Overrides
	ConfigFile string
	// Live are settings made while the service runs, by endpoint and name: they
	// override everything else. Those of unknown endpoints are ignored.
	Live map[string]map[string]string
}

var endpointName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)

// Compile makes a catalog of the files, and reads none of them again. The error
// joins all Mistakes.
func (f *Files) Compile(opts Options, env *upstreams.Environment) (*Catalog, error) {
	files := f.specs
	c := &Catalog{byName: map[string]*Endpoint{}}
	var failed []error
	c.variables, failed = compileVariables(f.variables)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		e, mistakes := c.compileFile(name, files[name], opts, env)
		failed = append(failed, mistakes...)
		c.byName[name] = e
		c.Endpoints = append(c.Endpoints, e)
	}
	failed = append(failed, c.unknownOverrides(&opts)...)
	failed = append(failed, c.addGroups()...)
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	c.order()
	return c, nil
}

// unknownOverrides lists settings of endpoints that the catalog does not have.
func (c *Catalog) unknownOverrides(opts *Options) []error {
	var failed []error
	known := slices.Sorted(maps.Keys(c.byName))
	for _, name := range slices.Sorted(maps.Keys(opts.Overrides)) {
		if !slices.Contains(known, name) {
			failed = append(failed, Mistake{opts.ConfigFile, opts.Overrides[name].Line, fmt.Sprintf("endpoints: %s: not an endpoint%s", name, declare.Expected(name, known))})
		}
	}
	return failed
}

// compileFile decodes and compiles one file.
func (c *Catalog) compileFile(name string, from catalogFile, opts Options, env *upstreams.Environment) (*Endpoint, []error) {
	var problems, settings declare.Problems
	var spec endpointSpec
	if !declare.Read(from.data, &spec, &problems) {
		return nil, Mistakes(from.path, problems)
	}
	if o, ok := opts.Overrides[name]; ok && !o.Cache.IsZero() {
		spec.overridden = true
		spec.Cache.override(&o.Cache, &settings)
	}
	if o := opts.Overrides[name]; o.Through != nil && !*o.Through {
		spec.overridden = true
		spec.redirectOnly()
	}
	base := spec.Cache.policy(&declare.Problems{})
	spec.Cache.live(opts.Live[name], &settings)
	e := compile(name, &spec, c.variables, env, &problems)
	e.File, e.Base = from.path, base
	if undescribed := spec.undescribed(c.variables); from.own {
		c.warn(from.path, undescribed)
	} else {
		problems = append(problems, undescribed...)
	}
	if len(problems) == 0 && len(settings) == 0 {
		e.fingerprint(&spec, from.data)
	}
	return e, append(Mistakes(from.path, problems), Mistakes(opts.ConfigFile, settings)...)
}

func (c *Catalog) warn(file string, problems declare.Problems) {
	for _, p := range problems {
		c.Warnings = append(c.Warnings, Mistake{file, p.Line, p.Msg})
	}
}

// Mistake is one mistake in one file.
type Mistake struct {
	File string
	Line int // 0 when it is about the file as a whole
	Msg  string
}

func (m Mistake) Error() string {
	if m.Line == 0 {
		return m.File + ": " + m.Msg
	}
	return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.Msg)
}

// Mistakes are those of a file, by their lines.
func Mistakes(file string, problems declare.Problems) []error {
	slices.SortStableFunc(problems, func(a, b declare.Problem) int { return a.Line - b.Line })
	var out []error
	for _, p := range problems {
		out = append(out, Mistake{file, p.Line, p.Msg})
	}
	return out
}
