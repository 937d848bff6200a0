package config

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestSchemaGoldenFile: the schema says what the settings read.
func TestSchemaGoldenFile(t *testing.T) {
	golden(t, "../../sundry.schema.json", asJSON(t, settingsSchema(t, NewComments("../../../..", "sundry"))))
}

// golden compares a generated file with what is in the repository, or writes it.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(text, readFile(t, file)); diff != "" {
		t.Errorf("%s: make golden, then read the diff (-want +got):\n%s", file, diff)
	}
}

// settingsSchema is the schema of sundry.yaml.
func settingsSchema(t *testing.T, comments *Comments) Object {
	t.Helper()
	s, all := NewSchemas(comments), settings()
	about := settingDescriptions(t)
	root := Object{}
	for i := range all {
		into, name := root, all[i].key
		if section, rest, ok := strings.Cut(name, "."); ok {
			if root[section] == nil {
				root[section] = sectionSchema(Object{})
			}
			into, name = root[section].(Object)["properties"].(Object), rest
		}
		schema := all[i].schema()
		if schema["description"] = about[all[i].key]; about[all[i].key] == "" {
			t.Errorf("settings.md: no row for %s", all[i].key)
		}
		into[name] = schema
	}
	overrides := s.Of(declare.ShapeOf(reflect.TypeFor[catalog.Overrides]()))
	root["endpoints"] = Object{"type": []any{"object", "null"}, "description": about["endpoints"], "additionalProperties": overrides}
	out, err := s.Document("sundry.yaml", "The settings of Sundry.", sectionSchema(root))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sectionSchema is the schema of a section with these keys. Without any value, each keeps
// its default.
func sectionSchema(properties Object) Object {
	return Object{"type": []any{"object", "null"}, "properties": properties, "additionalProperties": false}
}

var settingRow = regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| (.+?) \\| .+? \\| (.+?) \\| .+ \\|$")

// settingDescriptions are those of the reference of settings.
func settingDescriptions(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, row := range settingRow.FindAllStringSubmatch(readFile(t, samples+"/settings.md"), -1) {
		about := strings.ToUpper(row[3][:1]) + row[3][1:] + ". Variable: " + strings.ReplaceAll(row[2], "`", "") + "."
		out[row[1]] = strings.ReplaceAll(about, "..", ".")
	}
	return out
}

// reads reports whether a text is a value of the setting.
func (s *setting) reads(text string) bool { return s.read(&Config{}, text) == nil }

var bounds = regexp.MustCompile(`from ([0-9.]+) to ([0-9.]+)`)

// schema finds out what the setting reads.
func (s *setting) schema() Object {
	one := s.valueSchema()
	if s.items == nil {
		if s.empty {
			return Object{"anyOf": []any{one, Object{"enum": []any{"", nil}}}}
		}
		return Object{"anyOf": []any{one, Object{"type": "null"}}}
	}
	many := []any{Object{"type": "array", "items": one}}
	if s.pairs {
		many = append(many, Object{"type": "object", "additionalProperties": Object{"type": "string"}})
	}
	return Object{"anyOf": append(many, Object{"type": []any{"string", "null"}})}
}

func (s *setting) valueSchema() Object {
	if values := s.values(); values != nil {
		return Object{"enum": values}
	}
	var number float64
	_, noDuration := time.ParseDuration(s.example)
	switch err := json.Unmarshal([]byte(s.example), &number); {
	case err == nil && s.reads(s.example) && !s.reads("x"):
		out := Object{"type": "integer"}
		if s.reads("0.5") {
			out["type"] = "number"
		}
		if m := bounds.FindStringSubmatch(s.expected.EN()); m != nil {
			out["minimum"], out["maximum"] = json.Number(m[1]), json.Number(m[2])
		}
		if s.reads("0") {
			out["minimum"] = 0
		}
		return out
	case strings.HasSuffix(s.example, "MiB"):
		return Object{"anyOf": []any{Object{"type": "string", "pattern": `^[0-9.]+ *(KiB|MiB|GiB)?$`}, Object{"type": "integer"}}}
	case noDuration == nil && !s.reads("x"):
		return Object{"anyOf": []any{Object{"type": "string", "pattern": `^(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+$`}, Object{"const": 0}}}
	}
	return Object{"type": []any{"string", "number"}}
}

// values are those that the setting's text lists, if each is read and nothing else.
func (s *setting) values() []any {
	var out []any
	for text := range strings.SplitSeq(strings.NewReplacer("one of ", "", " or ", ", ", " and ", ", ").Replace(s.expected.EN()), ", ") {
		if !s.reads(text) || s.reads("not "+text) {
			return nil
		}
		switch text {
		case "true", "false":
			out = append(out, text == "true")
		default:
			out = append(out, text)
		}
	}
	return out
}
