package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/kinds"
)

// rendering is raised whenever this program makes other answers of the same
// file and the same replies: by its named functions, its own sources, or the
// forms. It is part of every key, so that an upgrade serves no answer that an
// older program cached. TestRendering fails when it has to be raised.
const rendering = 6

// fingerprint makes the version that is part of every key. It knows all that
// makes an answer: the file, the data that it embeds, and the program. The cache
// rule, titles, summaries and the descriptions of fields are left out, so that a changed TTL
// still finds what is cached.
func (e *Endpoint) fingerprint(d *declaration) {
	h := sha256.New()
	for i := range d.files {
		writeFile(h, &d.files[i])
	}
	for _, shared := range d.used {
		writeFile(h, &shared.declaredFile)
	}
	writeNames(h, e.Fields)
	e.embedded(d.spec, h)
	_, _ = fmt.Fprint(h, rendering, e.env.Replay != nil)
	version := hex.EncodeToString(h.Sum(nil)[:4])
	for _, c := range e.Chains {
		space := e.Name
		if e.fetchesPictures(c) {
			space = e.Pictures()
		}
		c.prefix = space + ":" + version + ":" + c.Name
	}
}

// writeFile hashes a file, without what makes no answer.
func writeFile(h io.Writer, file *declaredFile) {
	tree, err := file.Tree()
	if err != nil {
		return // it was loaded before
	}
	for _, about := range []string{"cache", "title", "summary", "keywords", "fields"} {
		delete(tree, about)
	}
	_, _ = fmt.Fprint(h, file.name) // a hash takes everything
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		node := new(tree[name])
		if name == "params" || name == "sources" {
			node = withoutSummaries(node)
		}
		_, _ = fmt.Fprintln(h, name)
		writeNode(h, node)
	}
}

// withoutSummaries is a list whose members have none.
func withoutSummaries(list *yaml.Node) *yaml.Node {
	out := *list
	out.Content = nil
	for _, one := range list.Content {
		member := *one
		for i := 0; i+1 < len(member.Content); i += 2 {
			if member.Content[i].Value == "summary" {
				member.Content = slices.Delete(slices.Clone(member.Content), i, i+2)
				break
			}
		}
		out.Content = append(out.Content, &member)
	}
	return &out
}

// writeNode hashes what a node says, however it is laid out.
func writeNode(h io.Writer, n *yaml.Node) {
	_, _ = fmt.Fprintf(h, "%d %s %s %q(", n.Kind, n.Tag, n.Anchor, n.Value)
	for _, child := range n.Content {
		writeNode(h, child)
	}
	_, _ = io.WriteString(h, ")")
}

// writeNames hashes the names of declared fields, in their order.
func writeNames(h io.Writer, fields []*Field) {
	for _, f := range fields {
		_, _ = fmt.Fprintf(h, "%q(", f.Name)
		writeNames(h, f.Fields)
		_, _ = fmt.Fprint(h, ")")
	}
}

// embedded hashes the files that sources answer from.
func (e *Endpoint) embedded(s *endpointSpec, h io.Writer) {
	sources := s.allSources()
	for i := range sources {
		name := kinds.DataFile(&sources[i])
		if name == "" {
			continue
		}
		b, err := fs.ReadFile(e.env.Data, "data/"+name)
		if err != nil {
			b = []byte(err.Error()) // a mistake that was reported when it was compiled
		}
		_, _ = fmt.Fprintf(h, "%s\n%s", name, b)
	}
}
