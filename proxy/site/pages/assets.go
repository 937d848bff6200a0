package pages

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"sundry/proxy/site/i18n"
)

//go:embed assets
var assetFiles embed.FS

// assetsPath is where the assets are, below the base path.
const assetsPath, iconPath = "/assets/", "/favicon.ico"

const (
	typeCSS    = "text/css; charset=utf-8"
	typeScript = "text/javascript; charset=utf-8"
	typeSVG    = "image/svg+xml"
	typeIcon   = "image/x-icon"
)

// asset is a file that pages load. Its public name holds a hash of its content, so that it may
// be kept for good.
type asset struct {
	public string // site.0123456789abcdef0123.css
	typ    string
	body   []byte
}

// assets are all assets, by their names without the hash, such as site.css.
type assets struct {
	base string
	all  map[string]asset
}

// newAssets reads the embedded files. The style sheets are joined to one, as are the
// scripts, each in the order of their names: the first of each is what the others
// build upon.
func newAssets(base string) assets {
	a := assets{base: base, all: map[string]asset{}}
	a.add("site.css", typeCSS, joined("assets/*.css"))
	// In a block of its own: what the files declare is theirs, and not the window's.
	a.add("site.js", typeScript, append(append([]byte("\"use strict\";\n{\n"), joined("assets/*.js")...), "}\n"...))
	a.add("logo.svg", typeSVG, joined("assets/logo.svg"))
	return a
}

func (a *assets) add(name, typ string, body []byte) {
	ext := path.Ext(name)
	a.all[name] = asset{public: strings.TrimSuffix(name, ext) + "." + hashOf(body) + ext, typ: typ, body: body}
}

// joined are the embedded files that match the pattern, one after the other.
func joined(pattern string) []byte {
	names, err := fs.Glob(assetFiles, pattern)
	if err != nil || len(names) == 0 {
		panic("no embedded files match " + pattern) // the folder is embedded above
	}
	var all bytes.Buffer
	for _, name := range names {
		content, err := assetFiles.ReadFile(name)
		if err != nil {
			panic(err) // it was listed just now
		}
		all.Write(content)
	}
	return all.Bytes()
}

// url is the address of an asset for links in pages.
func (a *assets) url(name string) (string, error) {
	one, ok := a.all[name]
	if !ok {
		return "", fmt.Errorf("no asset %s", name)
	}
	return a.base + assetsPath + one.public, nil
}

// plain is the name of the asset in a path such as /assets/site.0123.css, whatever the
// hash; "" for another path.
func plain(at string) string {
	public, ok := strings.CutPrefix(at, assetsPath)
	stem, rest, hashed := strings.Cut(public, ".")
	_, ext, dotted := strings.Cut(rest, ".")
	if !ok || !hashed || !dotted {
		return ""
	}
	return stem + "." + ext
}

// addAssets adds each asset under its public name, and the icon that browsers ask for
// without having been told.
func (s *Set) addAssets() {
	for _, one := range s.assets.all {
		s.addFile(assetsPath+one.public, func() *Document {
			d := newDocument(one.typ, one.body)
			d.Immutable = true
			return d
		})
	}
	s.addFile(iconPath, func() *Document { return newDocument(typeIcon, joined("assets/favicon.ico")) })
}

// outdatedAsset answers for a hash that another version of this program gave: while a fleet
// is upgraded, a page may come of one instance and its style sheet of another. It gets
// what there is, to be kept for a moment only.
func (s *Set) outdatedAsset(at string) Place {
	one, ok := s.assets.all[plain(at)]
	if !ok {
		return Place{}
	}
	return Place{File, func(l i18n.Language) (*Document, error) {
		d, err := s.places[assetsPath+one.public].Make(l)
		if err != nil {
			return nil, err
		}
		passing := *d
		passing.Immutable = false
		return &passing, nil
	}}
}
