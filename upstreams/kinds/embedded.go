package kinds

import (
	"context"
	"io/fs"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/httpsource"
)

// EmbeddedSpec declares a source that answers from a JSON file of the catalog.
type EmbeddedSpec struct {
	// File is its name below data/.
	File declare.Text `yaml:"file" required:"true" example:"holidays.json"`
}

func compileEmbedded(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec EmbeddedSpec
	c.Decode(section, &spec)
	line := max(c.Line, spec.File.Line)
	b, err := fs.ReadFile(c.Env.Data, "data/"+spec.File.Value)
	if err != nil {
		c.Problems.Add(line, "embedded: file: expected a file in data/ of the catalog, for example file: holidays.json, got %q", spec.File.Value)
		return upstreams.Compiled{}
	}
	v, err := httpsource.DecodeJSON(b)
	if err != nil {
		c.Problems.Add(line, "embedded: file %q: %v", spec.File.Value, err)
	}
	return upstreams.Compiled{Fetch: func(context.Context, *upstreams.Attempt) (*upstreams.Reply, error) {
		return &upstreams.Reply{Body: v}, nil
	}}
}

// DataFile is the name of the file that an embedded source answers from; "" for a
// source of another kind.
func DataFile(spec *SourceSpec) string {
	section, ok := spec.Sections["embedded"]
	if !ok {
		return ""
	}
	var embedded EmbeddedSpec
	declare.Load(section.Node, &embedded, &declare.Problems{}) // Compile reports the mistakes
	return embedded.File.Value
}
