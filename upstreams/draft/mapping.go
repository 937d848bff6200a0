package draft

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// mapping is a program with the fields that it makes.
type mapping struct {
	program string
	fields  []field
	parts   bool // it calls the def part
	moments bool // it calls the def moment
}

// field is one of an answer.
type field struct {
	name, is string
	list     bool
	fields   []field
}

// Bounds of what is mapped: more than that a human has to choose.
const (
	maxFields = 24
	maxNested = 3
)

var (
	plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	moment   = regexp.MustCompile(`(?i)(time|date|created|updated|published|stamp|_at)$`)
	epoch    = regexp.MustCompile(`^1[0-9]{9}([0-9]{3})?$`)
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
	case object:
		body, fields := m.object(data, 1)
		m.program, m.fields = prefix+body, fields
	case []any:
		body, item := m.items(data, 1)
		m.program = prefix + "{count: length, items: " + body + "}"
		m.fields = []field{{name: "count"}, {name: "items", list: true, fields: item.fields, is: item.is}}
	default:
		m.program, m.fields = "{value: "+path+"}", []field{{name: "value"}}
	}
	return m
}

// object maps an object; depth is how deep it is.
func (m *mapping) object(o object, depth int) (program string, fields []field) {
	indent := strings.Repeat("  ", depth)
	var lines []string
	seen := map[string]int{}
	for _, key := range o {
		if len(fields) == maxFields {
			break
		}
		name := snake(key.key)
		if seen[name]++; seen[name] > 1 {
			name = fmt.Sprintf("%s_%d", name, seen[name])
		}
		text, f := m.value(access(key.key), name, key.value, depth)
		lines, fields = append(lines, indent+name+": "+text), append(fields, f)
	}
	return "{\n" + strings.Join(lines, ",\n") + "\n" + strings.Repeat("  ", depth-1) + "}", fields
}

func (m *mapping) value(from, name string, v any, depth int) (program string, f field) {
	f = field{name: name}
	switch v := v.(type) {
	case object:
		if len(v) == 0 || depth == maxNested {
			return from, f
		}
		body, fields := m.object(v, depth+1)
		m.parts, f.fields = true, fields
		return "(" + from + " | part(" + body + "))", f
	case []any:
		body, item := m.items(v, depth)
		f.list, f.fields, f.is = true, item.fields, item.is
		return "(" + from + " // [] | " + body + ")", f
	case json.Number:
		if moment.MatchString(name) && epoch.MatchString(v.String()) {
			m.moments, f.is = true, "time"
			return "(" + from + " | moment)", f
		}
	case string:
		f.is = meaning(v)
	}
	return from, f
}

// items maps a list by its first item.
func (m *mapping) items(list []any, depth int) (program string, item field) {
	if len(list) == 0 {
		return ".", field{}
	}
	first, ok := list[0].(object)
	if !ok || len(first) == 0 || depth == maxNested {
		text, _ := list[0].(string)
		return ".", field{is: meaning(text)}
	}
	body, fields := m.object(first, depth+1)
	return "[.[] | objects | " + body + "]", field{fields: fields}
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
