package declare

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
)

// Kind is what a value in a file is made of.
type Kind int

// The kinds of values.
const (
	// Scalar is a text, a number, or true or false.
	Scalar Kind = iota
	// Mapping has keys with values.
	Mapping
	// List has items.
	List
	// Union is any of several shapes.
	Union
	// Anything is not looked into.
	Anything
)

// Shape says what a value in a file may be. It is derived from the Go type that
// the value is decoded into, so that messages, JSON Schema and reference say what
// is really read.
type Shape struct {
	Kind Kind
	// Type is the Go type; nil for a part of a type that reads itself.
	Type reflect.Type
	// What names it in messages, as in "a duration"; "" for a mapping, list or union
	// without a name of its own.
	What string
	// Example is a value as a file has it; "" for none. That of a key comes first.
	Example string
	// Pattern that the text of a scalar matches; "" for any.
	Pattern string
	// Texts: a scalar that may be a text, a number, or true or false alike.
	Texts bool
	// Keys are those of a mapping, in the order of the declaration.
	Keys []Key
	// Values are those of a mapping whose keys the file chooses; nil: it has Keys.
	Values *Shape
	// Items are those of a list.
	Items *Shape
	// Of are the shapes of a union.
	Of []*Shape
	// Nullable: null is a value.
	Nullable bool
}

// Key is a key of a mapping.
type Key struct {
	Name  string
	Shape *Shape
	// Field and Owner are the Go field that it is decoded into; Owner is nil where
	// it is not a field.
	Field string
	Owner reflect.Type
	// Required: without it, the file is not accepted.
	Required bool
	// Enum lists the values that are allowed; empty: others are.
	Enum []string
	// Least and Most bound a number; "" for no bound.
	Least, Most string
	// Example is a value as a file has it; "" where any value explains itself.
	Example string
	// One and Any name groups of keys of a mapping: it has exactly one of the keys
	// of a group, or at least one.
	One, Any string
}

// admits reports whether a value is within the bounds of the key, unless it is a text. What is no number (.nan) is
// within none.
func (k *Key) admits(n *yaml.Node) bool {
	var v float64
	if n.Load(&v) != nil { // in whichever of YAML's notations: 0x9 and .inf are numbers, too
		return true
	}
	least, noLeast := strconv.ParseFloat(k.Least, 64)
	most, noMost := strconv.ParseFloat(k.Most, 64)
	return (noLeast != nil || v >= least) && (noMost != nil || v <= most)
}

// bounds says between which numbers a value is.
func (k *Key) bounds() words.Text {
	switch {
	case k.Most == "":
		return Say("at least %s", k.Least)
	case k.Least == "":
		return Say("at most %s", k.Most)
	}
	return Say("%s to %s", k.Least, k.Most)
}

// Shaped is implemented by types that read themselves (yaml.Unmarshaler): they say
// what they read. of returns the shape of the type of a value.
type Shaped interface {
	Shape(of func(value any) *Shape) *Shape
}

// Keyed is implemented by structs with keys whose values are decoded later, by
// other code: the shape of each is that of the value's type.
type Keyed interface {
	KeyShapes() []KeyShape
}

// KeyShape is a key that has no field, of which a mapping has exactly one, or else
// that of a field, with a value of the type that it is decoded into.
type KeyShape struct {
	Name  string
	Value any
}

// ShapeOf is the shape of what is decoded into a value of this type. A struct's keys
// are its yaml tags; the tags required, enum, least, most, example, one and any say more about a key.
func ShapeOf(t reflect.Type) *Shape { return shapes{}.of(t) }

// shapes are those of types that were met, so that a type may contain itself.
type shapes map[reflect.Type]*Shape

func (s shapes) of(t reflect.Type) *Shape {
	if known := s[t]; known != nil {
		return known
	}
	if t.Kind() == reflect.Pointer {
		return nullable(s.of(t.Elem()))
	}
	out := &Shape{Type: t}
	s[t] = out
	s.fill(out, t)
	out.Type = t
	return out
}

func (s shapes) fill(out *Shape, t reflect.Type) {
	if shaped, ok := reflect.TypeAssert[Shaped](reflect.Zero(t)); ok {
		*out = *shaped.Shape(func(v any) *Shape { return s.of(reflect.TypeOf(v)) })
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		s.fillStruct(out, t)
	case reflect.Map:
		out.Kind, out.Values = Mapping, s.of(t.Elem())
	case reflect.Slice:
		out.Kind, out.Items = List, s.of(t.Elem())
	case reflect.Interface:
		out.Kind = Anything
	default:
		out.What = scalarName(t.Kind())
	}
}

// nullable is a shape that has null as a value too. Mappings and lists have it anyway.
func nullable(s *Shape) *Shape {
	if s.Kind != Scalar || s.What == "" {
		return s
	}
	out := *s
	out.Nullable = true
	return &out
}

// fillStruct makes a mapping of a struct. One that reads itself without saying what
// is not looked into.
func (s shapes) fillStruct(out *Shape, t reflect.Type) {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]()) || t.PkgPath() == "time" || t == reflect.TypeFor[yaml.Node]() {
		out.Kind = Anything
		return
	}
	out.Kind = Mapping
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == "" || name == "-" || options == "inline" {
			continue
		}
		out.Keys = append(out.Keys, Key{
			Name: name, Shape: s.of(field.Type), Field: field.Name, Owner: t, Required: field.Tag.Get("required") == "true",
			Enum: enumOf(field.Tag.Get("enum")), Least: field.Tag.Get("least"), Most: field.Tag.Get("most"), Example: field.Tag.Get("example"),
			One: field.Tag.Get("one"), Any: field.Tag.Get("any"),
		})
	}
	if keyed, ok := reflect.TypeAssert[Keyed](reflect.Zero(t)); ok {
		s.addKeys(out, keyed)
	}
}

// addKeys adds the keys that other code decodes, or says what a field holds that is
// not looked into itself.
func (s shapes) addKeys(out *Shape, keyed Keyed) {
	for _, k := range keyed.KeyShapes() {
		shape := s.of(reflect.TypeOf(k.Value))
		if known := out.key(k.Name); known != nil {
			known.Shape = shape
			continue
		}
		out.Keys = append(out.Keys, Key{Name: k.Name, Shape: shape, One: "kind"})
	}
}

func enumOf(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, ",")
}

// scalarName names what a file must have where a Go type is decoded.
func scalarName(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	}
	return "a whole number"
}

// name says in a message what the shape expects.
func (s *Shape) name() words.Text {
	switch {
	case s.What != "":
	case s.Kind == Mapping:
		return Say("a mapping")
	case s.Kind == List:
		return Say("a list")
	case s.Kind == Union:
		name := s.Of[0].name()
		for _, one := range s.Of[1:] {
			name = words.Say(name.EN()+" or "+one.name().EN(), words.Join(name.ZH(), "或", one.name().ZH()))
		}
		return name
	}
	return words.Say(s.What, cmp.Or(chinese()[s.What], s.What))
}

// key finds a key of a mapping; nil where it has none of this name.
func (s *Shape) key(name string) *Key {
	for i := range s.Keys {
		if s.Keys[i].Name == name {
			return &s.Keys[i]
		}
	}
	return nil
}

// names are those of the keys.
func (s *Shape) names() []string {
	names := make([]string, len(s.Keys))
	for i := range s.Keys {
		names[i] = s.Keys[i].Name
	}
	return names
}
