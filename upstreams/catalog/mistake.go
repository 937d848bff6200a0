package catalog

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
)

// Mistake is one mistake in one file.
type Mistake struct {
	File string
	Line int // 0 when it is about the file as a whole
	Msg  string
}

func (m Mistake) Error() string {
	if m.Line == 0 {
		return m.File + ": " + m.Msg
	}
	return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.Msg)
}

func mistakes(file string, problems declare.Problems) []error {
	slices.SortStableFunc(problems, func(a, b declare.Problem) int { return a.Line - b.Line })
	var out []error
	for _, p := range problems {
		out = append(out, Mistake{file, p.Line, p.Msg})
	}
	return out
}

// addYAML takes the lines out of the YAML library's errors.
func addYAML(err error, problems *declare.Problems) {
	if many, ok := errors.AsType[*yaml.LoadErrors](err); ok {
		for _, one := range many.Errors {
			problems.Add(one.Mark.Line, "%s", one.Message)
		}
		return
	}
	if one, ok := errors.AsType[*yaml.LoadError](err); ok {
		problems.Add(one.Mark.Line, "%s", one.Message)
		return
	}
	problems.Add(0, "%v", err)
}
