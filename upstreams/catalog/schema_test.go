package catalog

import (
	"maps"
	"slices"
	"testing"

	"sundry/upstreams/declare"
)

// TestTypesOfParametersAreListed: the schema knows the types that there are.
func TestTypesOfParametersAreListed(t *testing.T) {
	want := append(slices.Collect(maps.Keys(canonicalTypes())), "string", "int", "digits", "date")
	got := slices.Clone(enumOf(t, "params", "type"))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// enumOf are the values of a key of the items of a list of a file.
func enumOf(t *testing.T, list, key string) []string {
	t.Helper()
	for _, k := range Shape().Keys {
		if k.Name != list {
			continue
		}
		for _, inner := range k.Shape.Items.Keys {
			if inner.Name == key {
				return inner.Enum
			}
		}
	}
	t.Fatalf("no key %s.%s", list, key)
	return nil
}

// Every key says what it accepts: but for the time of an exchange, nothing is left to
// the YAML library and its words.
func TestEveryKeyHasAShape(t *testing.T) {
	seen := map[*declare.Shape]bool{}
	var visit func(path string, s *declare.Shape)
	visit = func(path string, s *declare.Shape) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		if s.Kind == declare.Anything {
			t.Errorf("%s: its type %s reads itself, and has no method Shape", path, s.Type)
		}
		for _, k := range s.Keys {
			visit(path+"."+k.Name, k.Shape)
		}
		visit(path+".*", s.Values)
		visit(path+"[]", s.Items)
		for _, one := range s.Of {
			visit(path, one)
		}
	}
	visit("", Shape())
}
