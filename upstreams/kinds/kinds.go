// Package kinds compiles what a catalog file declares of a source. It has the
// table of all kinds, and each kind but HTTP in a file of its own: a new one is
// one file and one row.
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

// table holds every kind of source there is.
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

// compileKind compiles the one section that says of which kind a source is.
func compileKind(sections map[string]declare.Section, c *upstreams.Compiler) (out upstreams.Compiled) {
	var names []string
	given := 0
	rest := maps.Clone(sections)
	for _, k := range table() {
		names = append(names, k.name)
		section := sections[k.name]
		delete(rest, k.name)
		if section.Node == nil {
			continue
		}
		if given++; given == 1 {
			out = k.compile(c, section.Node)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rest)) {
		c.Problems.Add(rest[name].Line, "source %q: unknown field %q; a source has one section of %s beside its own fields", c.Source, name, strings.Join(names, ", "))
	}
	switch {
	case given > 1:
		c.Add("source %q: of two kinds; want one", c.Source)
	case given == 0 && len(rest) == 0:
		c.Add("source %q: of no kind; want one of %s", c.Source, strings.Join(names, ", "))
	}
	return out
}
