package declare

import (
	"reflect"
	"slices"

	"go.yaml.in/yaml/v4"
)

// Others are the mistakes that check finds in a file that Read could not
// read, beside those that Read found: mistakes that are there without the unreadable
// values, and with small and with large ones in their place. What only follows from such a value is not
// among them. There are none where no value could stand in, as for a list in the place
// of a mapping.
func Others[T any](f File, check func(*T) Problems) Problems {
	var doc yaml.Node
	if yaml.Load(f.Text, &doc) != nil {
		return nil
	}
	f.place(&doc)
	c := checker{problems: &Problems{}, seen: map[visit]bool{}}
	c.value("", &doc, ShapeOf(reflect.TypeFor[T]()), "")
	if c.unreadable > len(c.scalars) {
		return nil
	}
	found, ok := checkedWith(&doc, c.scalars, misread.blank, check)
	for _, change := range []func(misread){misread.small, misread.large} {
		again, readable := checkedWith(&doc, c.scalars, change, check)
		found, ok = slices.DeleteFunc(found, func(p Problem) bool { return !slices.Contains(again, p) }), ok && readable
	}
	if !ok {
		return nil
	}
	return found
}

// checkedWith checks a file whose unreadable values were changed.
func checkedWith[T any](doc *yaml.Node, unreadable []misread, change func(misread), check func(*T) Problems) (problems Problems, ok bool) {
	for _, m := range unreadable {
		change(m)
	}
	var into T
	if doc.Load(&into) != nil {
		return nil, false
	}
	return check(&into), true
}

// misread is a scalar that could not be read, and what can stand in for it.
type misread struct {
	node *yaml.Node
	standIn
}

// standIn is a small and a large value with a tag.
type standIn struct{ tag, less, more string }

// standIns are tried in this order.
func standIns() []standIn {
	return []standIn{{"!!int", "1", "100"}, {"!!float", "0.1", "0.9"}, {"!!bool", "false", "true"}, {"!!str", "1s", "1000h"}, {"!!str", "1/1h", "1000/1s"}, {"!!str", "x", "text"}}
}

// misread notes a scalar that could not be read, if something can stand in for it.
func (c *checker) misread(n *yaml.Node, s *Shape) {
	if n.Kind != yaml.ScalarNode || s.Kind != Scalar || s.Type == nil {
		return
	}
	for _, in := range standIns() {
		if in.fits(s) {
			c.scalars = append(c.scalars, misread{n, in})
			return
		}
	}
}

// fits reports whether both values can be read.
func (in standIn) fits(s *Shape) bool {
	for _, value := range []string{in.less, in.more} {
		n := yaml.Node{Kind: yaml.ScalarNode, Tag: in.tag, Value: value}
		if n.Load(reflect.New(s.Type).Interface()) != nil {
			return false
		}
	}
	return true
}

// blank makes the value as good as absent.
func (m misread) blank() { m.set("!!null", "null") }

// small and large put one that can be read in its place.
func (m misread) small() { m.set(m.tag, m.less) }
func (m misread) large() { m.set(m.tag, m.more) }

func (m misread) set(tag, value string) { m.node.Tag, m.node.Value, m.node.Style = tag, value, 0 }
