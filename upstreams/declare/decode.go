package declare

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
)

// Read decodes the text of a file. Mistakes are added to problems, all of them:
// unknown keys, keys that are there twice, values of the wrong type. It reports
// whether every value could be read; unknown keys do not keep it from that.
func Read(text []byte, into any, problems *Problems) bool {
	return (&File{Text: text}).Read(into, problems)
}

// File is the text of a file that may be one of several that belong together.
type File struct {
	Text []byte
	// Before is how many lines the others before it have: its own are counted on from
	// there, in what is read and in mistakes.
	Before int
	// Shape is that of what it is read into, for who reads many of its kind; nil: it is worked out.
	Shape *Shape
	doc   yaml.Node // what Read made of it
}

// Read is Read of the text.
func (f *File) Read(into any, problems *Problems) bool {
	var own Problems
	if f.Shape == nil {
		f.Shape = shapeFor(into)
	}
	defer func() { *problems = append(*problems, own...) }()
	if err := yaml.Load(f.Text, &f.doc); err != nil {
		if blank(f.Text) {
			own.Add(0, "there is nothing in it; expected %s", f.Shape.name())
		} else if line := wideIndentation(f.Text, err); line > 0 {
			own.Add(line, indentedWide)
		} else {
			own.AddYAML(err)
		}
		own.shift(f.Before)
		return false
	}
	readable := check(&f.doc, "", f.Shape, &own)
	own.shift(f.Before)
	f.place(&f.doc)
	return readable && Load(&f.doc, into, &own)
}

// Tree is what a file that was read has at its top, by key.
func (f *File) Tree() (tree map[string]yaml.Node, err error) {
	err = f.doc.Load(&tree)
	return tree, err
}

// place counts the lines of a node of the file, and of all in it, on from Before.
func (f *File) place(n *yaml.Node) {
	n.Line += f.Before
	for _, child := range n.Content { // an alias has none: what it stands for is elsewhere in the file
		f.place(child)
	}
}

// blank reports whether a text has nothing but blank lines and comments.
func blank(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// Decode is Read for a node, whose path in the file is that of all its mistakes.
func Decode(n *yaml.Node, path string, into any, problems *Problems) bool {
	return check(n, path, shapeFor(into), problems) && Load(n, into, problems)
}

// shapeFor is that of what a pointer points to.
func shapeFor(into any) *Shape { return ShapeOf(reflect.TypeOf(into).Elem()) }

// check compares a node with the shape of what it is to be decoded into, and reports
// whether every value can be read.
func check(n *yaml.Node, path string, s *Shape, problems *Problems) bool {
	c := checker{problems: problems, seen: map[visit]bool{}}
	c.value(path, n, s, "")
	return c.unreadable == 0
}

// Load decodes a node that was checked with the rest of its file.
func Load(n *yaml.Node, into any, problems *Problems) bool {
	err := n.Load(into)
	if err != nil {
		problems.AddYAML(err)
	}
	return err == nil
}

// AddYAML appends an error of the YAML library: each mistake in it with its line.
func (p *Problems) AddYAML(err error) {
	if many, ok := errors.AsType[*yaml.LoadErrors](err); ok {
		for _, one := range many.Errors {
			p.Add(one.Mark.Line, "%s", messageOf(one))
		}
		return
	}
	if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		p.Add(one.Mark.Line, "%s", messageOf(one))
		return
	}
	p.Add(0, "%v", err)
}

// messageOf is that of the type that was decoded into, else that of the library.
func messageOf(err *yaml.LoadError) words.Text {
	return words.Of(err.Unwrap(), syntax(err.Message))
}

// visit is a node that was compared with a shape. An anchored one is met again
// wherever it is used, and may contain itself.
type visit struct {
	node  *yaml.Node
	shape *Shape
}

// checker compares nodes with shapes.
type checker struct {
	problems   *Problems
	seen       map[visit]bool
	unreadable int
}

// wrong adds a mistake that keeps the value from being read.
func (c *checker) wrong(n *yaml.Node, path, format string, args ...any) {
	c.unreadable++
	if what := Say(format, args...); path == "" {
		c.problems.Add(n.Line, "%s", what)
	} else {
		c.problems.Add(n.Line, "%s: %s", path, what)
	}
}

// value compares a node with a shape. example is a value as a file has it; "" for
// none.
func (c *checker) value(path string, n *yaml.Node, s *Shape, example string) {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	if c.seen[visit{n, s}] || s.Kind == Anything {
		return
	}
	c.seen[visit{n, s}] = true
	if example == "" {
		example = s.exampleAt(path)
	}
	switch null := isNull(n); {
	case null && (s.Nullable || s.Kind != Scalar):
	case s.Kind == Union:
		c.union(path, n, s, example)
	case s.Kind == Mapping && n.Kind == yaml.MappingNode:
		c.mapping(path, n, s)
	case s.Kind == List && n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			c.value(path+"["+strconv.Itoa(i)+"]", item, s.Items, "")
		}
	case s.Kind == Scalar && n.Kind == yaml.ScalarNode && !null:
		c.scalar(path, n, s, example)
	default:
		c.wrong(n, path, "%s", mismatch(n, s, example))
	}
}

// union compares a node with the shape of its kind.
func (c *checker) union(path string, n *yaml.Node, s *Shape, example string) {
	for _, one := range s.Of {
		if one.Kind == Anything || one.Kind == Scalar && n.Kind == yaml.ScalarNode || one.Kind == Mapping && n.Kind == yaml.MappingNode || one.Kind == List && n.Kind == yaml.SequenceNode {
			c.value(path, n, one, example)
			return
		}
	}
	c.wrong(n, path, "%s", mismatch(n, s, example))
}

// mapping compares keys and their values.
func (c *checker) mapping(path string, n *yaml.Node, s *Shape) {
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if name.Tag == "!!merge" {
			c.merged(path, value, s)
			continue
		}
		if first, twice := lines[name.Value]; twice {
			c.wrong(name, path, "key %s: set twice, first in line %d", name.Value, first)
			continue
		}
		lines[name.Value] = name.Line
		if s.Values == nil && s.key(name.Value) == nil && !c.unknown(path, name, n, s) {
			continue
		}
		c.key(path, name, value, s)
	}
}

// merged compares the mappings under <<, whose keys are the mapping's own.
func (c *checker) merged(path string, n *yaml.Node, s *Shape) {
	if n.Kind != yaml.SequenceNode {
		c.value(path, n, s, "")
		return
	}
	for _, one := range n.Content {
		c.value(path, one, s, "")
	}
}

// unknown adds a key of a mapping that the shape does not have. A misspelt one is read as what is meant, so that nothing is told
// that only follows from it; ok is false where nothing is, or the mapping has that as well.
func (c *checker) unknown(path string, name, of *yaml.Node, s *Shape) (ok bool) {
	if strings.Contains(name.Value, "：") {
		c.problems.Add(name.Line, "unknown key %s%s; expected an ASCII colon and a space after a key, such as ttl: 1h", name.Value, in(path))
		return
	}
	if wideSpaces.MatchString(name.Value) {
		c.problems.Add(name.Line, indentedWide)
		return
	}
	meant, hint := Nearest(name.Value, s.names()), Expected(name.Value, s.names())
	if meant == "" {
		hint = Say("%s%s", hint, newer())
	}
	c.problems.Add(name.Line, "unknown key %s%s%s", name.Value, in(path), hint)
	for i := 0; i < len(of.Content); i += 2 {
		if meant == "" || of.Content[i].Value == meant {
			return false
		}
	}
	name.Value = meant
	return true
}

func (c *checker) key(path string, name, value *yaml.Node, s *Shape) {
	at := name.Value
	if path != "" {
		at = path + "." + name.Value
	}
	if s.Values != nil {
		c.value(at, value, s.Values, "")
		return
	}
	k := s.key(name.Value)
	example := k.Example
	if example != "" {
		example = k.Name + ": " + example
	}
	before := c.unreadable
	if c.value(at, value, k.Shape, example); c.unreadable == before {
		c.allowed(at, value, k)
	}
}

// allowed compares a value with those that the key allows. One that is not among them can be read all the same.
func (c *checker) allowed(path string, n *yaml.Node, k *Key) {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode || n.Value == "" || isNull(n) {
		return
	}
	switch {
	case len(k.Enum) > 0 && !slices.Contains(k.Enum, n.Value):
		c.problems.Add(n.Line, "%s: expected %s, got %q", path, either(k.Enum), n.Value)
	case k.Least+k.Most != "" && !k.admits(n):
		c.problems.Add(n.Line, "%s: expected %s, got %s", path, k.bounds(), n.Value)
	}
}

// either names values, of which one is expected.
func either(values []string) words.Text {
	last := len(values) - 1
	if last == 0 {
		return words.Name(values[0])
	}
	return Say("%s or %s", words.Names(values[:last]...), values[last])
}

// scalar tries to read the value.
func (c *checker) scalar(path string, n *yaml.Node, s *Shape, example string) {
	if s.Type == nil {
		return
	}
	var problems Problems
	err := n.Load(reflect.New(s.Type).Interface())
	if err == nil {
		return
	}
	if problems.AddYAML(err); len(problems) == 1 && !strings.HasPrefix(problems[0].Msg.EN(), "cannot construct ") {
		c.wrong(n, path, "%s", problems[0].Msg)
		return
	}
	c.wrong(n, path, "%s", mismatch(n, s, example))
}

// mismatch says what is expected in the place of a node.
func mismatch(n *yaml.Node, s *Shape, example string) words.Text {
	expected, got, hint := s.name(), found(n), forExample(example)
	return words.Say(fmt.Sprintf("expected %s, got %s%s", expected, got, hint), words.Join("应为", expected.ZH(), "，而不是", got.ZH(), hint.ZH()))
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// found names what a file has.
func found(n *yaml.Node) words.Text {
	switch {
	case n.Kind == yaml.MappingNode:
		return Say("a mapping")
	case n.Kind == yaml.SequenceNode:
		return Say("a list")
	case isNull(n):
		return Say("nothing")
	case n.Tag == "!!str":
		return Say("the text %q", cut(n.Value, 40))
	}
	return words.Name(n.Value)
}

// cut shortens a text for a message, to so many runes.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

func in(path string) (where words.Text) {
	if path == "" {
		return where
	}
	return Say(" in %s", path)
}

// exampleAt is an example of the shape as the value of the last key of a path.
func (s *Shape) exampleAt(path string) string {
	key := path[strings.LastIndexByte(path, '.')+1:]
	if s.Example == "" || key == "" || strings.HasSuffix(key, "]") {
		return s.Example
	}
	return key + ": " + s.Example
}

func forExample(example string) (hint words.Text) {
	if example == "" {
		return hint
	}
	return Say("; for example %s", example)
}
