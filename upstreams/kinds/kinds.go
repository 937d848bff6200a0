// Package kinds compiles the declaration of a source. It has the table of all
// kinds of source, and each kind but http in a file of its own: a new kind is one
// file and one row.
package kinds

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/jq"
)

// kind is a kind of source: the name of its section, and how that is compiled.
type kind struct {
	name string
	// section is what the section is decoded into.
	section any
	compile func(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled
}

// table lists every kind of source.
func table() []kind {
	return []kind{
		{"http", httpsource.Spec{}, httpsource.Compile},
		{"minecraft", MinecraftSpec{}, compileMinecraft},
		{"qrcode", QRCodeSpec{}, compileQRCode},
		{"geoip", GeoIPSpec{}, compileGeoIP},
		{"embedded", EmbeddedSpec{}, compileEmbedded},
		{"computed", ComputedSpec{}, compileComputed},
		{"idcard", IDCardSpec{}, compileIDCard},
		{"ipcard", IPCardSpec{}, compileIPCard},
		{"favicon", FaviconSpec{}, compileFavicon},
		{"shortlink", ShortlinkSpec{}, compileShortlink},
	}
}

// KeyShapes implements declare.Keyed: a source has the section of its kind.
func (SourceSpec) KeyShapes() []declare.KeyShape {
	var out []declare.KeyShape
	for _, k := range table() {
		out = append(out, declare.KeyShape{Name: k.name, Value: k.section})
	}
	return out
}

// targetSlot takes a slot for a call of the target that a parameter names: a host, or a link to
// one. Only that host has a bound of its own; those that it leads to count towards that of all
// targets.
func targetSlot(env *upstreams.Environment, parameter string) func(context.Context, *upstreams.Attempt) (func(), error) {
	return func(ctx context.Context, a *upstreams.Attempt) (func(), error) {
		target := jq.AsText(a.Call.Params[parameter])
		if u, err := url.Parse(target); err == nil && u.Host != "" {
			target = u.Hostname()
		}
		return env.Work.EnterTarget(ctx, target)
	}
}

// compileKind compiles the section of the source's kind. It reports sections of
// several kinds and of none. Unknown ones were reported when the file was read.
func compileKind(sections map[string]declare.Section, c *upstreams.Compiler) (out upstreams.Compiled) {
	var kinds, declared []string
	known := true
	for _, k := range table() {
		kinds = append(kinds, k.name)
		section := sections[k.name]
		if section.Node == nil {
			continue
		}
		if declared = append(declared, k.name); len(declared) == 1 {
			out = k.compile(c, section.Node)
		}
	}
	for name := range sections {
		known = known && slices.Contains(kinds, name)
	}
	switch {
	case len(declared) > 1:
		c.Add("source %q: expected the section of one kind, got %s", c.Source, strings.Join(declared, ", "))
	case len(declared) == 0 && known:
		c.Add("source %q: it has no kind; expected one of %s, for example computed: {}", c.Source, strings.Join(kinds, ", "))
	}
	return out
}
