// Package kinds compiles the declaration of a source. It has the table of all
// kinds of source, and each kind but http in a file of its own: a new kind is one
// file and one row.
package kinds

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/httpsource"
)

// kind is a kind of source: the name of its section, and how that is compiled.
type kind struct {
	name    string
	compile func(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled
}

// table lists every kind of source.
func table() []kind {
	return []kind{
		{"http", httpsource.Compile},
		{"minecraft", compileMinecraft},
		{"qrcode", compileQRCode},
		{"geoip", compileGeoIP},
		{"embedded", compileEmbedded},
		{"computed", compileComputed},
		{"idcard", compileIDCard},
		{"ipcard", compileIPCard},
		{"favicon", compileFavicon},
		{"shortlink", compileShortlink},
	}
}

// compileKind compiles the section of the source's kind. It reports sections of
// several kinds, of none, and of unknown ones.
func compileKind(sections map[string]declare.Section, c *upstreams.Compiler) (out upstreams.Compiled) {
	var kinds, declared []string
	unknown := maps.Clone(sections)
	for _, k := range table() {
		kinds = append(kinds, k.name)
		section := sections[k.name]
		delete(unknown, k.name)
		if section.Node == nil {
			continue
		}
		if declared = append(declared, k.name); len(declared) == 1 {
			out = k.compile(c, section.Node)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		c.Problems.Add(unknown[name].Line, "source %q: unknown field %q; expected the fields of every source, and the section of one kind: %s", c.Source, name, strings.Join(kinds, ", "))
	}
	switch {
	case len(declared) > 1:
		c.Add("source %q: expected the section of one kind, got %s", c.Source, strings.Join(declared, ", "))
	case len(declared) == 0 && len(unknown) == 0:
		c.Add("source %q: it has no kind; expected one of %s, for example computed: {}", c.Source, strings.Join(kinds, ", "))
	}
	return out
}
