package config

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sundry/upstreams/declare"
)

// outerSpec is an example of a file.
type outerSpec struct {
	// Name is the path segment. Name and Limit are explained beside Inner.
	Name declare.Text `yaml:"name" required:"true" example:"joke"`
	// Limit bounds For | and <that>.
	Limit int `yaml:"limit" least:"1" most:"9" example:"3"`
	// For is how long.
	For declare.Duration `yaml:"for" example:"1h"`
	// Size is how large.
	Size declare.Size `yaml:"size" example:"100MiB"`
	// Inner of the file.
	Inner []innerSpec `yaml:"inner" one:"what" example:"[{a: b}]"`
	// Mode is fast or slow.
	Mode *string `yaml:"mode" enum:"fast,slow" one:"what"`
}

// innerSpec contains itself.
type innerSpec struct {
	// Of is the same again.
	Of *innerSpec `yaml:"of"`
}

// own describes the types above.
func own(t *testing.T) (*Comments, *declare.Shape) {
	t.Helper()
	return NewComments("../../../..", "sundry"), declare.ShapeOf(reflect.TypeFor[outerSpec]())
}

func TestDescriptions(t *testing.T) {
	c, s := own(t)
	want := map[string]string{
		"name": "The path segment. `name` and `limit` are explained beside `inner`.", "limit": "`limit` bounds `for` | and <that>.", "for": "How long.", "size": "How large.",
		"inner": "Inner of the file.", "mode": "Fast or slow.",
	}
	for i := range s.Keys {
		if got, err := c.Key(&s.Keys[i], s); err != nil || got != want[s.Keys[i].Name] {
			t.Errorf("%s: %q %v, want %q", s.Keys[i].Name, got, err, want[s.Keys[i].Name])
		}
	}
	if got, err := c.Type(s); got != "An example of a file." || err != nil {
		t.Error(got, err)
	}
}

func TestSchemaOfAType(t *testing.T) {
	c, s := own(t)
	schemas := NewSchemas(c)
	doc, err := schemas.Document("title", "text", schemas.Of(s))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(doc["$defs"].(Object)["outer"])
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	_ = json.Unmarshal(b, &got)
	_ = json.Unmarshal([]byte(`{"type": "object", "additionalProperties": false, "description": "An example of a file.", "required": ["name"],
		"oneOf": [{"required": ["inner"]}, {"required": ["mode"]}], "properties": {
			"name": {"type": ["string", "number", "boolean"], "description": "The path segment. `+"`name` and `limit` are explained beside `inner`"+`."},
			"limit": {"type": "integer", "minimum": 1, "maximum": 9, "description": "`+"`limit` bounds `for`"+` | and <that>."},
			"for": {"anyOf": [{"type": "string", "pattern": "P"}, {"const": 0}], "description": "How long."},
			"size": {"anyOf": [{"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)? *(KiB|MiB|GiB)?$"}, {"type": "integer", "minimum": 1}], "description": "How large."},
			"inner": {"type": ["array", "null"], "items": {"$ref": "#/$defs/inner"}, "description": "Inner of the file."},
			"mode": {"enum": ["fast", "slow"], "description": "Fast or slow."}}}`), &want)
	pattern := got.(map[string]any)["properties"].(map[string]any)["for"].(map[string]any)["anyOf"].([]any)[0].(map[string]any)
	if pattern["pattern"] == "" {
		t.Error("a duration without a pattern")
	}
	pattern["pattern"] = "P"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReferenceOfAType(t *testing.T) {
	c, s := own(t)
	got, err := Sections(c, s)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## outer\n\nAn example of a file.\n", "| `name` (required) | text |", "| `limit` | whole number from 1 to 9 | `limit` bounds `for` \\| and \\<that>. | `limit: 3` |",
		"| `for` | duration | How long. | `for: 1h` |", "| `inner` | list of [inner](#inner) | Inner of the file. Not with `mode`. |", "| `mode` | `fast`, `slow` | Fast or slow. Not with `inner`. | `mode: fast` |",
		"## inner\n\nIt contains itself.\n", "| `of` | [inner](#inner) | The same again. |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

// What has no comment cannot be described.
func TestCommentsAreRequired(t *testing.T) {
	type bare struct {
		A int `yaml:"a"`
	}
	s := declare.ShapeOf(reflect.TypeFor[bare]())
	c := NewComments("../../../..", "sundry")
	if text, err := c.Key(&s.Keys[0], s); err == nil {
		t.Errorf("described as %q", text)
	}
	if text, err := c.Type(s); err == nil {
		t.Errorf("described as %q", text)
	}
	if _, err := NewComments(t.TempDir(), "sundry").Type(s); err == nil {
		t.Error("a package that is not there was read")
	}
}

// TestWhatSettingsExpectIsInChinese, too.
func TestWhatSettingsExpectIsInChinese(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		if says := s.mistake("x", errInvalid).ZH(); !strings.Contains(says, "应为") || !s.expected.IsZero() && s.expected.ZH() == s.expected.EN() {
			t.Errorf("%s: %s", s.key, says)
		}
	}
}
