package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

// readFile reads the settings of the file.
func (c *Config) readFile(all []setting) error {
	b, err := os.ReadFile(c.File)
	if err != nil {
		return words.Translated(fmt.Errorf("configuration: %w", err), "设置文件 "+words.Failure(err).ZH())
	}
	var doc yaml.Node
	if err := yaml.Load(b, &doc); err != nil {
		if blank(string(b)) {
			return nil
		}
		var problems declare.Problems
		problems.AddYAML(err)
		return errors.Join(catalog.Mistakes(c.File, problems)...)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil // nothing but comments
	}
	r := &fileReader{config: c, all: all}
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
	config   *Config
	all      []setting
	mistakes []error
}

// wrong adds a mistake in the line of a node.
func (r *fileReader) wrong(n *yaml.Node, format string, args ...any) {
	r.mistakes = append(r.mistakes, catalog.Mistake{File: r.config.File, Line: n.Line, Msg: declare.Say(format, args...)})
}

func (r *fileReader) at(n *yaml.Node) place { return place{file: r.config.File, line: n.Line} }

// mapping reads the keys of a section, such as "limits."; "" is the whole document.
func (r *fileReader) mapping(section string, n *yaml.Node) {
	n = resolved(n)
	if absent(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		label := strings.TrimSuffix(section, ".")
		r.wrong(n, "%sexpected keys with values", strings.TrimPrefix(label+": ", ": "))
		return
	}
	r.merged(section, n)
	seen := map[string]bool{}
	for name, value := range pairs(n) {
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
	for name, from := range pairs(n) {
		switch {
		case name.Tag != "!!merge":
		case from.Kind == yaml.SequenceNode:
			for _, one := range from.Content {
				r.mapping(section, one)
			}
		default:
			r.mapping(section, from)
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
		r.wrong(name, "unknown key %s%s", key, declare.SuggestionOrNewer(key, r.keys()))
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
	switch {
	case absent(n):
	case s.pairs && n.Kind == yaml.MappingNode:
		r.list(s, n, r.assignments(s, n))
	case s.items != nil && n.Kind == yaml.SequenceNode:
		r.list(s, n, n.Content)
	case n.Kind != yaml.ScalarNode:
		r.wrong(n, "%s: %s", s.key, s.wants())
	default:
		r.single(s, n)
	}
}

func (r *fileReader) single(s *setting, n *yaml.Node) {
	err := errInvalid
	if n.Value != "" || s.empty {
		err = s.read(r.config, n.Value)
	}
	if err != nil {
		r.wrong(n, "%s: %s", s.key, s.mistake(n.Value, err))
		return
	}
	r.config.places[s.key] = r.at(n)
}

// assignments makes a list of name=value of a mapping.
func (r *fileReader) assignments(s *setting, n *yaml.Node) (items []*yaml.Node) {
	seen := map[string]bool{}
	for name, value := range pairs(n) {
		if seen[name.Value] {
			r.wrong(name, "%s: %s: set twice", s.key, name.Value)
		}
		seen[name.Value] = true
		items = append(items, &yaml.Node{Kind: yaml.ScalarNode, Value: name.Value + "=" + value.Value, Line: value.Line})
	}
	return items
}

// list reads a setting of several values, each with its own line.
func (r *fileReader) list(s *setting, n *yaml.Node, items []*yaml.Node) {
	texts, before := make([]string, len(items)), len(r.mistakes)
	for i, item := range items {
		texts[i] = resolved(item).Value
		if err := s.items(&Config{}, texts[i:i+1]); err != nil {
			r.wrong(item, "%s: %s", s.key, s.mistake(texts[i], err))
		}
	}
	if len(r.mistakes) == before {
		_ = s.items(r.config, texts) // each was read above
		r.config.places[s.key] = r.at(n)
	}
}

// endpoints reads the section of that name. Where it cannot be read, its names are kept, so that
// unknown ones are reported too.
func (r *fileReader) endpoints(n *yaml.Node) {
	if absent(n) {
		return
	}
	var over map[string]catalog.Overrides
	var problems declare.Problems
	readable := declare.Decode(n, "endpoints", &over, &problems)
	if !readable {
		over = map[string]catalog.Overrides{}
	}
	for name := range pairs(n) {
		if o, ok := over[name.Value]; ok || !readable {
			o.Line = name.Line
			over[name.Value] = o
		}
	}
	r.mistakes = append(r.mistakes, catalog.Mistakes(r.config.File, problems)...)
	r.config.Endpoints, r.config.EndpointsFrom = over, r.config.File
}

// pairs are the keys of a mapping with their values; none of another node.
func pairs(n *yaml.Node) func(yield func(name, value *yaml.Node) bool) {
	return func(yield func(name, value *yaml.Node) bool) {
		if n.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !yield(n.Content[i], resolved(n.Content[i+1])) {
				return
			}
		}
	}
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
