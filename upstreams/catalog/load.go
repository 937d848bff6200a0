package catalog

import (
	"errors"
	"maps"
	"regexp"
	"slices"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/declare"
)

// Catalog is a compiled set of endpoints.
type Catalog struct {
	// Endpoints by group, each in the order of the specification.
	Endpoints []*Endpoint
	// APIs that are served as they are, by name.
	APIs []*API
	// Groups are the built-in ones in the order of the specification, then those of the
	// operator's own by name.
	Groups []Group
	// Off are the names of the endpoints that the operator has turned off.
	Off []string
	// Warnings are about files that can be used as they are.
	Warnings  []Mistake
	byName    map[string]*Endpoint
	variables map[string]upstreams.Variable
	live      map[string]map[string]string // the settings that it was compiled with
	shared    map[string]*sharedPart
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
	c := &Catalog{byName: map[string]*Endpoint{}, live: opts.Live, Warnings: slices.Clone(f.stray)}
	var failed, unreadable []error
	c.variables, failed = compileVariables(f.variables)
	if c.shared, unreadable = readShared(f.shared); len(unreadable) > 0 {
		return nil, errors.Join(append(failed, unreadable...)...)
	}
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if opts.Overrides[name].Off {
			c.Off = append(c.Off, name)
			continue
		}
		if from := files[name]; from.isAPI() {
			a, mistakes := c.compileAPI(name, &from, env)
			failed, c.APIs = append(failed, mistakes...), append(c.APIs, a)
			continue
		}
		e, mistakes := c.compileFile(name, files[name], opts, env)
		failed = append(failed, mistakes...)
		c.byName[name] = e
		c.Endpoints = append(c.Endpoints, e)
	}
	failed = append(failed, c.unknownOverrides(&opts, names)...)
	failed = append(append(failed, c.addGroups()...), c.checkHosts()...)
	if len(failed) > 0 {
		return nil, errors.Join(Once(failed)...)
	}
	c.order()
	return c, nil
}

// CompileLive is Compile with other Live settings than those of a catalog that was made
// of the same files, with the same other options and environment. It takes over the
// endpoints whose settings are the same, and so takes a fraction of the time.
func (f *Files) CompileLive(from *Catalog, opts Options, env *upstreams.Environment) (*Catalog, error) {
	c := &Catalog{
		Endpoints: slices.Clone(from.Endpoints), APIs: from.APIs, byName: maps.Clone(from.byName),
		Groups: from.Groups, variables: from.variables, live: opts.Live, Off: from.Off, shared: from.shared,
	}
	var failed []error
	for i, e := range c.Endpoints {
		if maps.Equal(from.live[e.Name], opts.Live[e.Name]) {
			continue
		}
		changed, mistakes := c.compileFile(e.Name, f.specs[e.Name], opts, env)
		failed = append(failed, mistakes...)
		c.Endpoints[i], c.byName[e.Name] = changed, changed
	}
	if len(failed) > 0 {
		return nil, errors.Join(Once(failed)...)
	}
	return c, nil
}

// Once leaves out the mistakes that were told before: one in a shared file is found in each
// endpoint that uses it.
func Once(mistakes []error) []error {
	told := map[error]bool{}
	return slices.DeleteFunc(mistakes, func(err error) bool {
		again := told[err]
		told[err] = true
		return again
	})
}

// unknownOverrides lists settings of endpoints that no file declares.
func (c *Catalog) unknownOverrides(opts *Options, known []string) []error {
	var failed []error
	for _, a := range c.APIs {
		if o := opts.Overrides[a.Name]; o.Line > 0 {
			failed = append(failed, Mistake{opts.ConfigFile, o.Line, declare.Say("endpoints: %s: expected off: true alone; all else of an API stands in its own file, %s", a.Name, a.File)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(opts.Overrides)) {
		if !slices.Contains(known, name) {
			failed = append(failed, Mistake{opts.ConfigFile, opts.Overrides[name].Line, declare.Say("endpoints: %s: not an endpoint%s", name, declare.Expected(name, known))})
		}
	}
	return failed
}

// compileFile decodes and compiles the file of an endpoint, or those of its folder. They are not compiled if a value
// cannot be read.
func (c *Catalog) compileFile(name string, from catalogFile, opts Options, env *upstreams.Environment) (*Endpoint, []error) {
	var unread, problems, settings declare.Problems
	d := newDeclaration(from, c.shared)
	var e *Endpoint
	if d.read(&unread) {
		if e = c.compileSpec(name, d, opts, env, &problems, &settings); len(unread)+len(problems)+len(settings) == 0 {
			e.fingerprint(d)
		}
	}
	failed := mistakesOf(unread, d.mistake) // first: others may follow from an unknown key
	return e, append(append(failed, mistakesOf(problems, d.mistake)...), Mistakes(opts.ConfigFile, settings)...)
}

// compileSpec compiles a declaration, with the operator's settings.
func (c *Catalog) compileSpec(name string, d *declaration, opts Options, env *upstreams.Environment, problems, settings *declare.Problems) *Endpoint {
	spec := d.together(problems)
	if o, ok := opts.Overrides[name]; ok && !o.Cache.IsZero() {
		spec.overridden = true
		spec.Cache.override(&o.Cache, settings)
	}
	if o := opts.Overrides[name]; o.Through != nil && !*o.Through {
		spec.overridden = true
		spec.redirectOnly()
	}
	base := spec.Cache.policy(&declare.Problems{})
	spec.Cache.live(opts.Live[name], settings)
	e := compile(name, d, c.variables, env, problems)
	e.File, e.Base = d.files[0].path, base
	o := opts.Overrides[name]
	e.Autopilot = e.pilot(&o.Autopilot, opts.Live[name][settingAutopilot], settings)
	e.Target = e.target(spec.Cache.Target, opts.Live[name][settingTarget], problems)
	if hints := append(spec.undescribed(c.variables), d.hints...); d.own {
		for _, p := range hints {
			c.Warnings = append(c.Warnings, d.mistake(p))
		}
	} else {
		*problems = append(append(*problems, hints...), spec.undescribedFields()...)
	}
	return e
}

// Mistake is one mistake in one file.
type Mistake struct {
	File string
	Line int // 0 when it is about the file as a whole
	Msg  words.Text
}

func (m Mistake) Error() string { return m.Told().EN() }

// Told is where it is and what is wrong.
func (m Mistake) Told() words.Text {
	if m.Line == 0 {
		return words.Sayf("%s: %s", "%s: %s", m.File, m.Msg)
	}
	return words.Sayf("%s:%d: %s", "%s:%d: %s", m.File, m.Line, m.Msg)
}

// Mistakes are those of a file, by their lines.
func Mistakes(file string, problems declare.Problems) []error {
	return mistakesOf(problems, func(p declare.Problem) Mistake { return Mistake{file, p.Line, p.Msg} })
}

// mistakesOf are the problems by their lines, each where it is.
func mistakesOf(problems declare.Problems, where func(declare.Problem) Mistake) []error {
	slices.SortStableFunc(problems, func(a, b declare.Problem) int { return a.Line - b.Line })
	var out []error
	for _, p := range problems {
		out = append(out, where(p))
	}
	return out
}
