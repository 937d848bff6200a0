package scaffold

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"sundry/upstreams/lib/chinatime"
	"sundry/upstreams/lib/plainjson"
)

// mapping is a program with the fields that it makes.
type mapping struct {
	Program string
	Parts   bool // it calls the def part
	fields  []*field
}

// field is one of an answer.
type field struct {
	name, is string
	list     bool
	fields   []*field
	must     bool   // it has a value in the reply, and says most of it
	atLeast  int    // items of a list
	counts   string // the list beside it whose items it counts
	filled   bool   // it has a value in the reply
}

// plain reports whether it is neither a list nor an object.
func (f *field) plain() bool { return !f.list && len(f.fields) == 0 }

// Bounds of what is mapped: more than that a human has to choose.
const (
	maxFields = 24
	maxNested = 3
)

var (
	plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	moment   = regexp.MustCompile(`(?i)(time|date|created|updated|published|stamp|_at)$`)
	epoch    = regexp.MustCompile(`^1[0-9]{9}([0-9]{3})?$`)
	bare     = regexp.MustCompile(`^[0-9]+$`)
	day      = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}$`)
	address  = regexp.MustCompile(`^https?://[^\s/]+`)
)

// access is how a program reads a key.
func access(key string) string {
	if plainKey.MatchString(key) {
		return "." + key
	}
	return "." + quote(key)
}

// mappingOf maps the data at a path.
func mappingOf(path string, data any) *mapping {
	m := &mapping{}
	prefix := ""
	if path != "." {
		prefix = path + "\n| "
	}
	switch data := data.(type) {
	case plainjson.Object:
		body, fields := m.object(data, 1)
		m.Program, m.fields = prefix+body, demand(fields)
	case []any:
		body, item := m.items(data, 1)
		m.Program = prefix + "{items: " + body + "}"
		items := &field{name: "items", list: true, fields: item.fields, is: item.is}
		if len(data) > 0 {
			items.atLeast = 1
		}
		m.fields = []*field{{name: "count", counts: "items"}, items}
	default:
		m.Program, m.fields = "{value: "+path+"}", []*field{{name: "value", must: true}}
	}
	return m
}

// demand says which of the fields must have a value: the one that says most, or else a list
// of objects that is not empty.
func demand(fields []*field) []*field {
	if f := said(fields); f != nil {
		f.must = true
		return fields
	}
	for _, f := range fields {
		if f.list && f.filled && len(f.fields) > 0 {
			f.atLeast = 1
			return fields
		}
	}
	if i := slices.IndexFunc(fields, func(f *field) bool { return f.filled && f.plain() }); i >= 0 {
		fields[i].must = true
	}
	return fields
}

// telling are the names of fields that say most, the best first.
func telling() []string {
	return []string{"title", "name", "text", "content", "headline", "word", "summary", "description", "value", "city", "url", "link", "price", "id"}
}

// said is the field that says most and has a value; nil: none is known by its name.
func said(fields []*field) *field {
	for _, name := range telling() {
		for _, f := range fields {
			if f.name == name && f.filled && f.plain() {
				return f
			}
		}
	}
	return nil
}

// object maps an object; depth is how deep it is. What is null is left out: nothing says
// what it would be.
func (m *mapping) object(o plainjson.Object, depth int) (program string, fields []*field) {
	indent := strings.Repeat("  ", depth)
	var lines []string
	seen := map[string]int{}
	for _, key := range o {
		if len(fields) == maxFields {
			break
		}
		if key.Value == nil {
			continue
		}
		name := snake(key.Name)
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s_%d", name, seen[name])
		}
		text, f := m.value(access(key.Name), name, key.Value, depth)
		lines, fields = append(lines, indent+name+": "+text), append(fields, f)
	}
	if len(lines) == 0 {
		return ".", nil
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n" + strings.Repeat("  ", depth-1) + "}", fields
}

func (m *mapping) value(from, name string, v any, depth int) (program string, f *field) {
	f = &field{name: name, filled: true}
	switch v := v.(type) {
	case plainjson.Object:
		if len(v) == 0 || depth == maxNested {
			return from, f
		}
		body, fields := m.object(v, depth+1)
		if fields == nil {
			return from, f
		}
		m.Parts, f.fields = true, fields
		return "(" + from + " | part(" + body + "))", f
	case []any:
		body, item := m.items(v, depth)
		f.list, f.filled, f.fields, f.is = true, len(v) > 0, item.fields, item.is
		return "(" + from + " // [] | " + body + ")", f
	case json.Number:
		if moment.MatchString(name) && epoch.MatchString(v.String()) {
			f.is = "time"
			return "(" + from + " | china_time)", f
		}
	case string:
		f.filled = strings.TrimSpace(v) != ""
		program, f.is = spelled(from, name, v)
		return program, f
	}
	return from, f
}

// spelled reads a text that is a time or a day in one of the ways in which services write
// them.
func spelled(from, name, text string) (program, is string) {
	if is = meaning(text); is != "" {
		return from, is
	}
	if bare.MatchString(text) && !moment.MatchString(name) {
		return from, "" // a number of another kind
	}
	if _, ok := chinatime.Parse(text); ok {
		return "(" + from + " | china_time)", "time"
	}
	if _, ok := chinatime.ParseDay(text); ok {
		return "(" + from + " | china_date)", "date"
	}
	return from, ""
}

// items maps a list by all of its items: what one lacks another may have.
func (m *mapping) items(list []any, depth int) (program string, item *field) {
	if len(list) == 0 {
		return ".", &field{}
	}
	whole := merged(list)
	if len(whole) == 0 || depth == maxNested {
		text, _ := list[0].(string)
		return ".", &field{is: meaning(text)}
	}
	body, fields := m.object(whole, depth+1)
	if fields == nil {
		return ".", &field{}
	}
	return "[.[] | objects | " + body + "]", &field{fields: demand(fields)}
}

// merged is an object with the keys of all objects in a list, and the first value of each
// that is none of null and blank.
func merged(list []any) plainjson.Object {
	var out plainjson.Object
	at := map[string]int{}
	for _, item := range list {
		o, _ := item.(plainjson.Object)
		for _, m := range o {
			i, known := at[m.Name]
			switch {
			case !known:
				at[m.Name] = len(out)
				out = append(out, m)
			case out[i].Value == nil || out[i].Value == "" || empty(out[i].Value):
				out[i].Value = m.Value
			}
		}
	}
	return out
}

// meaning is what a text holds: a link, a time or a date; "" for any text.
func meaning(text string) string {
	_, notTime := time.Parse(time.RFC3339, text)
	_, notDay := time.Parse(time.DateOnly, text)
	switch {
	case address.MatchString(text):
		return "link"
	case notTime == nil:
		return "time"
	case day.MatchString(text) && notDay == nil:
		return "date"
	}
	return ""
}
