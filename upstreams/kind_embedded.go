package upstreams

import (
	"context"
	"io/fs"

	"sundry/upstreams/declare"
)

// EmbeddedSpec answers from a JSON file that comes with the catalog.
type EmbeddedSpec struct {
	File declare.Text `yaml:"file"`
}

type embedded struct{ body any }

func compileEmbedded(spec *EmbeddedSpec, line int, env *Environment, problems *declare.Problems) fetcher {
	line = max(line, spec.File.Line)
	b, err := fs.ReadFile(env.Data, "data/"+spec.File.Value)
	if err != nil {
		problems.Add(line, "embedded: file %q: not among the catalog's data", spec.File.Value)
		return nil
	}
	v, err := decodeJSON(b)
	if err != nil {
		problems.Add(line, "embedded: file %q: %v", spec.File.Value, err)
	}
	return embedded{v}
}

// fetch implements fetcher.
func (e embedded) fetch(context.Context, *input) (*reply, error) { return &reply{body: e.body}, nil }
