package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

// read reads the settings of the file.
func (c *config) read(all []setting, file string) error {
	b, err := os.ReadFile(file) //nolint:gosec // the operator names the file
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	var doc yaml.Node
	if err := yaml.Load(b, &doc); err != nil {
		if blank(string(b)) {
			return nil
		}
		var problems declare.Problems
		problems.AddYAML(err)
		return errors.Join(catalog.Mistakes(file, problems)...)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil // nothing but comments
	}
	r := &fileReader{config: c, all: all, file: file}
	r.mapping("", doc.Content[0])
	return errors.Join(r.mistakes...)
}

// blank reports whether the file has nothing but blank lines and comments.
func blank(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

// fileReader reads a document by the keys of the settings.
type fileReader struct {
	config   *config
	all      []setting
	file     string
	mistakes []error
}

// wrong adds a mistake in the line of a node.
func (r *fileReader) wrong(n *yaml.Node, format string, args ...any) {
	r.mistakes = append(r.mistakes, catalog.Mistake{File: r.file, Line: n.Line, Msg: fmt.Sprintf(format, args...)})
}

// mapping reads the keys of a section; "" is the whole document.
func (r *fileReader) mapping(section string, n *yaml.Node) {
	n = resolved(n)
	if absent(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "%sexpected keys with values", labelled(section))
		return
	}
	r.merged(section, n)
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], resolved(n.Content[i+1])
		if name.Tag == "!!merge" {
			continue
		}
		if seen[name.Value] {
			r.wrong(name, "%s%s: set twice", section, name.Value)
			continue
		}
		seen[name.Value] = true
		r.key(section+name.Value, name, value)
	}
}

// merged reads the mappings under << first: the mapping's own keys override them.
func (r *fileReader) merged(section string, n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag != "!!merge" {
			continue
		}
		from := resolved(n.Content[i+1])
		if from.Kind != yaml.SequenceNode {
			r.mapping(section, from)
			continue
		}
		for _, one := range from.Content {
			r.mapping(section, one)
		}
	}
}

// key reads one key, which may be a section.
func (r *fileReader) key(key string, name, value *yaml.Node) {
	switch s := find(r.all, key); {
	case s != nil:
		r.setting(s, value)
	case key == "endpoints":
		r.endpoints(value)
	case r.section(key):
		r.mapping(key+".", value)
	default:
		r.wrong(name, "unknown key %s%s", key, declare.Suggestion(key, r.keys()))
	}
}

// section reports whether the key is that of a section.
func (r *fileReader) section(key string) bool {
	for i := range r.all {
		if strings.HasPrefix(r.all[i].key, key+".") {
			return true
		}
	}
	return false
}

func (r *fileReader) keys() []string {
	keys := []string{"endpoints"}
	for i := range r.all {
		section, _, _ := strings.Cut(r.all[i].key, ".")
		keys = append(keys, r.all[i].key, section)
	}
	return keys
}

func (r *fileReader) setting(s *setting, n *yaml.Node) {
	if absent(n) {
		return
	}
	var err error
	text := n.Value
	switch {
	case s.pairs && n.Kind == yaml.MappingNode:
		r.pairs(s, n)
		return
	case s.items != nil && n.Kind == yaml.SequenceNode:
		r.list(s, n)
		return
	case n.Kind != yaml.ScalarNode:
		r.wrong(n, "%s: expected %s, such as %s", s.key, s.expected, s.example)
		return
	case text == "" && !s.empty:
		err = errInvalid
	default:
		err = s.read(r.config, text)
	}
	if err != nil {
		r.wrong(n, "%s", s.mistake(text, err))
		return
	}
	r.config.places[s.key] = place{file: r.file, line: n.Line}
}

// pairs reads a setting of values by name.
func (r *fileReader) pairs(s *setting, n *yaml.Node) {
	var items []*yaml.Node
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := n.Content[i], resolved(n.Content[i+1])
		if seen[name.Value] {
			r.wrong(name, "%s: %s: set twice", s.key, name.Value)
		}
		seen[name.Value] = true
		items = append(items, &yaml.Node{Kind: yaml.ScalarNode, Value: name.Value + "=" + value.Value, Line: value.Line})
	}
	r.items(s, items, n)
}

// list reads a setting of several values, each with its own line.
func (r *fileReader) list(s *setting, n *yaml.Node) { r.items(s, n.Content, n) }

func (r *fileReader) items(s *setting, items []*yaml.Node, n *yaml.Node) {
	texts, before := make([]string, len(items)), len(r.mistakes)
	for i, item := range items {
		texts[i] = resolved(item).Value
		if err := s.items(&config{}, texts[i:i+1]); err != nil {
			r.wrong(item, "%s", s.mistake(texts[i], err))
		}
	}
	if len(r.mistakes) > before {
		return
	}
	_ = s.items(r.config, texts) // each was read above
	r.config.places[s.key] = place{file: r.file, line: n.Line}
}

func (r *fileReader) endpoints(n *yaml.Node) {
	if absent(n) {
		return
	}
	var over map[string]catalog.Overrides
	var problems declare.Problems
	if !declare.Decode(n, "endpoints", &over, &problems) {
		over = namesOnly(n)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if o, ok := over[n.Content[i].Value]; ok {
			o.Line = n.Content[i].Line
			over[n.Content[i].Value] = o
		}
	}
	r.mistakes = append(r.mistakes, catalog.Mistakes(r.file, problems)...)
	r.config.Endpoints, r.config.endpointsFrom = over, r.file
}

// namesOnly has the endpoints of a section that cannot be read, so that names of
// unknown ones are reported too.
func namesOnly(n *yaml.Node) map[string]catalog.Overrides {
	names := map[string]catalog.Overrides{}
	if n.Kind != yaml.MappingNode {
		return names
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		names[n.Content[i].Value] = catalog.Overrides{}
	}
	return names
}

// resolved returns the node that an alias stands for, or the node itself.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// absent reports whether a key has no value, and so keeps its default.
func absent(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// labelled returns the name of a section as the beginning of a message; "" for the
// whole document.
func labelled(section string) string {
	if section == "" {
		return ""
	}
	return strings.TrimSuffix(section, ".") + ": "
}
