package scaffold

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sundry/metrics/words"
	"sundry/upstreams/lib/plainjson"
)

// body is what a POST sends: JSON, whose texts may be {placeholders} of parameters, or
// secrets.
type body struct {
	value any
	of    map[string]*param // by the placeholder, or the name of the secret
}

var wholePlaceholder = regexp.MustCompile(`^\{([a-z][a-z0-9_]*)\}$`)

// ReadCall reads an address with the body of a POST, as ReadAddress does without one. A text
// of the body that is a {placeholder} as a whole is a parameter, if it has a value.
func ReadCall(name, address, text string, values map[string]string) (*Address, error) {
	if text == "" {
		return ReadAddress(name, address, values)
	}
	v, err := decodeOrdered([]byte(text))
	if err != nil || scalar(v) {
		return nil, words.Errorf("--json: expected a JSON object or list, for example {\"query\": \"{ word }\"}, got %.40q", "--json：应为 JSON 对象或列表，例如 {\"query\": \"{ word }\"}，而不是%.40q", text)
	}
	rest := maps.Clone(values)
	names := placeholdersIn(v, values)
	for _, name := range names {
		if !strings.Contains(address, "{"+name+"}") {
			delete(rest, name)
		}
	}
	a, err := ReadAddress(name, address, rest)
	if err != nil {
		return nil, err
	}
	a.sends = &body{v, map[string]*param{}}
	for _, name := range names {
		a.sends.of[name] = a.paramOf(name, values[name])
	}
	a.readSecrets(v)
	return a, nil
}

// paramOf is the parameter of the address with a name and value, or a new one of the body.
func (a *Address) paramOf(name, value string) *param {
	i := slices.IndexFunc(a.params, func(p *param) bool { return p.name == name && p.value == value })
	if i >= 0 {
		return a.params[i]
	}
	p := &param{name: a.free(name), value: value, inBody: true}
	a.params = append(a.params, p)
	return p
}

// placeholdersIn are the names of placeholders with values, in the order of the body.
func placeholdersIn(v any, values map[string]string) (names []string) {
	each(v, func(_ string, text string) {
		if m := wholePlaceholder.FindStringSubmatch(text); m != nil && values[m[1]] != "" && !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	})
	return names
}

// readSecrets finds the texts of the body whose names say that they are keys.
func (a *Address) readSecrets(v any) {
	each(v, func(key, text string) {
		if secretName.MatchString(key) && text != "" && a.sends.of[key] == nil && !wholePlaceholder.MatchString(text) {
			p := a.newSecret(key, text)
			p.inBody = true
			a.secret = append(a.secret, p)
			a.sends.of[key] = p
		}
	})
}

// each calls yield with the texts of a document and the keys that they stand at.
func each(v any, yield func(key, text string)) {
	switch v := v.(type) {
	case plainjson.Object:
		for _, m := range v {
			if text, ok := m.Value.(string); ok {
				yield(m.Name, text)
			} else {
				each(m.Value, yield)
			}
		}
	case []any:
		for _, item := range v {
			if text, ok := item.(string); ok {
				yield("", text)
			} else {
				each(item, yield)
			}
		}
	}
}

// paramAt is the parameter or secret that stands at a key; nil: the text is itself.
func (b *body) paramAt(key, text string) *param {
	if m := wholePlaceholder.FindStringSubmatch(text); m != nil && b.of[m[1]] != nil {
		return b.of[m[1]]
	}
	if p := b.of[key]; p != nil && p.variable != "" && p.value == text {
		return p
	}
	return nil
}

// Sent is the body to send; nil: nothing is sent.
func (a *Address) Sent() []byte { return a.sentWith(func(p *param) string { return p.value }) }

// sentInReplay is the body as the recorded exchange has it, without secrets.
func (a *Address) sentInReplay() []byte { return a.sentWith((*param).recorded) }

func (a *Address) sentWith(value func(*param) string) []byte {
	if a.sends == nil {
		return nil
	}
	b, err := plainjson.Marshal(a.sends.fill("", a.sends.value, value))
	if err != nil {
		return nil // it was decoded of JSON
	}
	return b
}

// fill is the document with the values of its parameters, as $params has them.
func (b *body) fill(key string, v any, value func(*param) string) any {
	switch v := v.(type) {
	case plainjson.Object:
		out := map[string]any{}
		for _, m := range v {
			out[m.Name] = b.fill(m.Name, m.Value, value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = b.fill("", v[i], value)
		}
		return out
	case string:
		p := b.paramAt(key, v)
		switch {
		case p == nil:
		case p.variable == "" && p.kind() == "int":
			return json.Number(p.value)
		default:
			return value(p)
		}
	}
	return v
}

// program makes the body in a catalog file.
func (b *body) program(key string, v any, indent string) string {
	inner := indent + "  "
	switch v := v.(type) {
	case plainjson.Object:
		var members []string
		for _, m := range v {
			members = append(members, inner+quote(m.Name)+": "+b.program(m.Name, m.Value, inner))
		}
		return "{\n" + strings.Join(members, ",\n") + "\n" + indent + "}"
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, b.program("", item, inner))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case string:
		switch p := b.paramAt(key, v); {
		case p == nil:
			return quote(v)
		case p.variable != "":
			return "$secrets." + p.name
		default:
			return "$params." + p.name
		}
	}
	text, _ := json.Marshal(v) // a scalar of JSON
	return string(text)
}
