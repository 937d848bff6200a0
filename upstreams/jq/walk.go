package jq

import (
	"reflect"

	"github.com/itchyny/gojq"
)

// walk visits a node of a syntax tree and every one below it, of whichever type: none can be
// forgotten. Nodes are pointers, such as *gojq.Func. It does not look below a node of which
// visit returns false.
func walk(node any, visit func(node any) bool) { walkFrom(reflect.ValueOf(node), visit) }

func walkFrom(v reflect.Value, visit func(node any) bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walkFrom(v.Elem(), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walkFrom(v.Index(i), visit)
		}
	case reflect.Struct:
		if !visit(v.Addr().Interface()) {
			return
		}
		for _, i := range edges[v.Type()] {
			walkFrom(v.Field(i), visit)
		}
	}
}

// edges are the fields of each type of node that lead to others. They are found once:
// a catalog has thousands of programs, and to ask each node for all its fields was a
// third of the time that it took to load.
var edges = edgesFrom(reflect.TypeFor[gojq.Query](), map[reflect.Type][]int{})

// edgesFrom adds the type, and those that it leads to, to what is known.
func edgesFrom(node reflect.Type, known map[reflect.Type][]int) map[reflect.Type][]int {
	if _, ok := known[node]; ok {
		return known
	}
	known[node] = nil
	for i := range node.NumField() {
		if to := nodeType(node.Field(i).Type); to != nil {
			known[node] = append(known[node], i)
			edgesFrom(to, known)
		}
	}
	return known
}

// nodeType is the type of the nodes in a field: itself, or what it points to or lists;
// nil for one that has none, such as a text.
func nodeType(field reflect.Type) reflect.Type {
	switch field.Kind() {
	case reflect.Pointer, reflect.Slice:
		return nodeType(field.Elem())
	case reflect.Struct:
		return field
	default:
		return nil
	}
}
