package catalog

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"sundry/upstreams/declare"
	"sundry/upstreams/kinds"
)

// declaration is what the files of an endpoint declare together. Their lines are counted
// through, those of shared files from afterOwn on.
type declaration struct {
	own   bool
	files []declaredFile // the endpoint's first
	// What was read of them.
	head   *endpointSpec
	parts  []*partSpec // of the other files
	shared map[string]*sharedPart
	// The last that together made of it, and the shared files in that.
	spec *endpointSpec
	used []*sharedPart
	// What is allowed in it, but defeats its purpose.
	hints declare.Problems
}

// declaredFile is a file whose first line is counted as the line after before.
type declaredFile struct {
	path string
	name string // of a part, without .yaml
	declare.File
}

// sharedPart is a file of the folder shared.
type sharedPart struct {
	declaredFile
	partSpec
}

// afterOwn is more than the lines that an endpoint's own files have.
const afterOwn = 1 << 24

// readShared reads the files of the folder shared.
func readShared(files map[string]catalogFile) (map[string]*sharedPart, []error) {
	out, before := map[string]*sharedPart{}, afterOwn
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := files[name]
		p := &sharedPart{declaredFile: declaredFile{path: file.path, name: name}}
		p.Text, p.Shape = file.data, PartShape()
		var problems declare.Problems
		p.Read(&p.partSpec, &problems)
		if len(p.Sources)+len(p.Uses) > 0 {
			problems.Add(0, "expected no sources and no uses, which belong to an endpoint; the keys of a shared file are defs, steps and rules")
		}
		failed = append(failed, Mistakes(p.path, problems)...)
		// Once more, with the lines that the endpoints know.
		p.Before, p.partSpec = before, partSpec{}
		p.Read(&p.partSpec, &declare.Problems{})
		before += 1 + bytes.Count(file.data, []byte("\n"))
		out[name] = p
	}
	return out, failed
}

func newDeclaration(from catalogFile, shared map[string]*sharedPart) *declaration {
	d := &declaration{own: from.own, shared: shared}
	before := 0
	add := func(name string, file catalogFile, shape *declare.Shape) {
		d.files = append(d.files, declaredFile{file.path, name, declare.File{Text: file.data, Before: before, Shape: shape}})
		before += 1 + bytes.Count(file.data, []byte("\n"))
	}
	add("", from, Shape())
	for _, name := range slices.Sorted(maps.Keys(from.parts)) {
		add(name, from.parts[name], PartShape())
	}
	return d
}

// read decodes the files, and reports whether every value in them could be read.
func (d *declaration) read(problems *declare.Problems) bool {
	readable := true
	for i := range d.files {
		var into any
		if i == 0 {
			d.head = &endpointSpec{}
			into = d.head
		} else {
			d.parts = append(d.parts, &partSpec{})
			into = d.parts[i-1]
		}
		readable = d.files[i].Read(into, problems) && readable
	}
	return readable
}

// together is the endpoint as a single file would declare it: with the sources of all
// files, and with what names stand for in their place.
func (d *declaration) together(problems *declare.Problems) *endpointSpec {
	spec := *d.head
	spec.Sources = slices.Clone(spec.Sources)
	uses := slices.Clone(spec.Uses)
	if len(d.parts) > 0 && spec.Serves == nil {
		problems.Add(spec.Name.Line, "serves: expected a program that emits the name of the file whose sources are asked, for example serves: $params.site")
	}
	if len(d.parts) == 0 && spec.Serves != nil {
		problems.Add(spec.Serves.Line, "serves: expected files beside %s, for its values", headFile)
	}
	for i, part := range d.parts {
		uses = append(uses, part.Uses...)
		spec.add(part, part.served(spec.Serves, d.files[i+1].name))
	}
	d.used = d.use(uses, problems)
	var defs declare.Defs
	for _, shared := range d.used {
		defs = append(defs, shared.Defs...)
	}
	for i := range defs {
		defs[i].Shared = true
	}
	spec.Defs = append(defs, spec.Defs...)
	spec.resolveNames(d.used, problems)
	d.spec = &spec
	return d.spec
}

// add takes over what a part declares, with these sources.
func (s *endpointSpec) add(part *partSpec, sources []kinds.SourceSpec) {
	s.Defs = slices.Concat(s.Defs, part.Defs)
	s.Steps = slices.Concat(s.Steps, part.Steps)
	s.Rules = slices.Concat(s.Rules, part.Rules)
	s.Sources = append(s.Sources, sources...)
}

// served are the sources with the condition that serves emits the name of their file.
func (p *partSpec) served(serves *declare.Expr, name string) []kinds.SourceSpec {
	sources := slices.Clone(p.Sources)
	for i := range sources {
		if serves == nil {
			continue
		}
		when := fmt.Sprintf("(%s\n) == %s", serves.Text, strconv.Quote(name)) // whose mistakes are the same in each file
		line := serves.Line
		if own := sources[i].When; own != nil {
			when, line = fmt.Sprintf("(%s\n) and %s", own.Text, when), own.Line
		}
		sources[i].When = &declare.Expr{Text: when, Line: line}
	}
	return sources
}

// use finds shared files, each once.
func (d *declaration) use(names []declare.Text, problems *declare.Problems) []*sharedPart {
	var used []*sharedPart
	for _, name := range names {
		shared := d.shared[name.Value]
		switch {
		case shared == nil:
			problems.Add(name.Line, "uses: there is no shared/%s.yaml%s", name.Value, declare.Expected(name.Value, slices.Sorted(maps.Keys(d.shared))))
		case !slices.Contains(used, shared):
			used = append(used, shared)
		}
	}
	return used
}

// fileOf is the file that has a line, and its number there.
func (d *declaration) fileOf(line int) (path string, number int) {
	in := d.files[0]
	for _, file := range d.files {
		if line > file.Before {
			in = file
		}
	}
	for _, shared := range d.shared {
		if line > shared.Before && (in.Before < shared.Before) {
			in = shared.declaredFile
		}
	}
	return in.path, max(line-in.Before, 0)
}

// mistake is a problem in the file that it is in.
func (d *declaration) mistake(p declare.Problem) Mistake {
	path, line := d.fileOf(p.Line)
	return Mistake{path, line, p.Msg}
}

// place is where a line is: in an endpoint of several files with the file.
func (d *declaration) place(line int) string {
	path, number := d.fileOf(line)
	if path == d.files[0].path {
		return fmt.Sprintf("line %d", number)
	}
	return fmt.Sprintf("%s:%d", path, number)
}
