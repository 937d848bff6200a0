package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/longtest"
)

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

// TestSchemaCommand prints what the program has.
func TestSchemaCommand(t *testing.T) {
	t.Parallel()
	for of, want := range map[string][]byte{"": catalog.Schema(), "catalog": catalog.Schema(), "part": catalog.PartSchema(), "config": configSchema} {
		out, _, err := call(t, nil, strings.Fields("schema "+of)...)
		if err != nil || out != string(want) {
			t.Errorf("schema %s: %v", of, err)
		}
	}
}

// between replaces what stands between the marks of a part.
func between(t *testing.T, text, part, by string) string {
	t.Helper()
	begin, end := "<!-- "+part+": made by `make golden` -->\n", "<!-- end of "+part+" -->"
	before, rest, ok := strings.Cut(text, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("a page has lost the marks around %s", part)
	}
	return before + begin + by + end + after
}

// validator is an independent reading of the schema.
func validator(t *testing.T, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// valid validates a YAML text.
func valid(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var v any
	if err := yaml.Load([]byte(text), &v); err != nil {
		return err
	}
	return s.Validate(plain(v))
}

// plain is a value without what only YAML has: times are texts, and so are all keys.
func plain(v any) any {
	switch v := v.(type) {
	case map[any]any:
		out := map[string]any{}
		for k := range v {
			out[fmt.Sprint(k)] = plain(v[k])
		}
		return out
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case time.Time:
		return v.Format("2006-01-02")
	}
	return v
}

var fenced = regexp.MustCompile("(?s)```yaml\n(version: .*?)```")

// TestSchemaAcceptsFiles: those of the catalog, the sample configuration, and the
// README's examples.
func TestSchemaAcceptsFiles(t *testing.T) {
	t.Parallel()
	files, parts := validator(t, catalog.Schema()), validator(t, catalog.PartSchema())
	names, err := filepath.Glob("../../upstreams/catalog/*.yaml")
	inFolders, err2 := filepath.Glob("../../upstreams/catalog/*/*.yaml")
	if err := errors.Join(err, err2); err != nil || len(names) < 15 || len(inFolders) < 20 {
		t.Fatal(names, inFolders, err)
	}
	for _, name := range append(names, inFolders...) {
		text, schema, of := readFile(t, name), "schema.json", files
		switch folder := filepath.Base(filepath.Dir(name)); {
		case folder == "data":
			continue
		case filepath.Base(name) == "endpoint.yaml":
			schema = "../schema.json"
		case folder != "catalog":
			schema, of = "../part.schema.json", parts
		}
		if err := valid(t, of, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasPrefix(text, "# yaml-language-server: $schema="+schema+"\n") {
			t.Errorf("%s does not begin with the line of its schema", name)
		}
	}
	examples := fenced.FindAllStringSubmatch(readFile(t, "../../README.md")+readFile(t, "../../README.zh-CN.md")+readFile(t, "../../deploy/catalog.md"), -1)
	if len(examples) == 0 {
		t.Error("no example of a catalog file")
	}
	for _, m := range examples {
		if err := valid(t, files, m[1]); err != nil {
			t.Errorf("%s\n%v", m[1], err)
		}
	}
	text := readFile(t, "../../deploy/sundry.yaml")
	if err := valid(t, validator(t, configSchema), text); err != nil {
		t.Errorf("deploy/sundry.yaml: %v", err)
	}
	if !strings.HasPrefix(text, "# yaml-language-server: $schema=../cmd/sundry/sundry.schema.json\n") {
		t.Error("deploy/sundry.yaml does not begin with the line of its schema")
	}
}

// TestSchemaHasTheKeysOfTheChineseGuide: each key of its table, with a value that it takes.
func TestSchemaHasTheKeysOfTheChineseGuide(t *testing.T) {
	t.Parallel()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(catalog.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	def := map[string]string{"": "endpoint", "params[]": "param", "cache": "cache", "forms[]": "form", "sources[]": "source", "sources[].http": "http"}
	rows := regexp.MustCompile("(?m)^\\| `(?:([^`]+)\\.)?(\\w+)` \\| .* \\| `(.+)` \\|$").FindAllStringSubmatch(readFile(t, filepath.Join(samples, "endpoint-guide.zh-CN.md")), -1)
	if len(rows) < 20 {
		t.Fatalf("%d keys", len(rows))
	}
	for _, row := range rows {
		schema, err := c.Compile("schema.json#/$defs/" + def[row[1]] + "/properties/" + row[2])
		if err != nil {
			t.Errorf("%s.%s: %v", row[1], row[2], err)
			continue
		}
		var example map[string]any
		if err := yaml.Load([]byte(strings.ReplaceAll(row[3], `\|`, "|")), &example); err != nil || len(example) != 1 || example[row[2]] == nil {
			t.Errorf("%s: %v", row[3], err)
		} else if err := schema.Validate(plain(example[row[2]])); err != nil {
			t.Errorf("%s: %v", row[3], err)
		}
	}
}

const jokeFile = `version: 1
name: joke
group: text
summary: {en: A joke., zh: 笑话}
params:
  - {name: id, type: int, min: 1, max: 9999, default: "1", example: "7"}
  - {name: type, role: form, example: text}
cache: {class: keyed, ttl: 1h}
fields: {joke: {en: The joke., zh: 笑话。}}
forms:
  - {name: json, json: .}
  - {name: text, text: .joke}
sources:
  - name: first
    before: [{name: token, http: {url: 'https://a.example.org/'}}]
    http: {url: 'https://jokes.example.org/v1/{id}', decode: json}
    judge: [{if: .error != null, is: unavailable}]
    map: '{joke: .text}'
  - name: drawn
    qrcode: {as: png}
`

// TestSchemaAndCheckRefuse the same files.
func TestSchemaAndCheckRefuse(t *testing.T) {
	t.Parallel()
	files, dir, few := validator(t, catalog.Schema()), t.TempDir(), onlyIn(t)
	write(t, dir, "joke.yaml", jokeFile)
	if _, errs, err := call(t, few, "check", "--catalog", dir); err != nil || valid(t, files, jokeFile) != nil {
		t.Fatal(errs, err, valid(t, files, jokeFile))
	}
	for _, row := range []struct{ replace, by string }{
		{"version: 1", "version: 2"}, {"version: 1\n", ""}, {"name: joke", "nam: joke"}, {"name: joke", "name: [joke]"}, {"group: text\n", ""},
		{"summary: {en: A joke., zh: 笑话}\n", ""}, {"{en: A joke., zh: 笑话}", "{fr: Blague}"}, {"params:", "paramz:"}, {"name: id,", ""}, {"type: int,", "type: float,"}, {"min: 1,", "min: a,"}, {"role: form", "role: shape"},
		{"class: keyed", "class: wide"}, {"ttl: 1h", "ttl: 1 hour"}, {"ttl: 1h", "tll: 1h"}, {"ttl: 1h", "jitter: 0.9"}, {"{class: keyed, ttl: 1h}", "1h"},
		{"{en: The joke., zh: 笑话。}", "{is: day}"}, {"{en: The joke., zh: 笑话。}", "{english: a}"}, {"{name: json, json: .}", "{name: json, json: ., text: .}"},
		{"{name: json, json: .}", "{name: json}"}, {"{name: json, json: .}", "{json: .}"}, {"json: .}", "json: [.]}"}, {"name: first\n", "retry: 3\n"},
		{"name: token,", ""}, {"{name: token, http: {url: 'https://a.example.org/'}}", "{name: token}"}, {"{name: token, ", "{name: token, share: ., "},
		{"decode: json", "decode: yaml"}, {"decode: json", "charset: latin1"}, {"decode: json", "redirects: some"}, {"decode: json", "parts: {a: b}"},
		{"decode: json", "max_kib: large"}, {"decode: json", "querry: {}"}, {"{url: 'https://jokes.example.org/v1/{id}', decode: json}", "{decode: json}"},
		{"is: unavailable", "is: broken"}, {"if: .error != null, ", ""}, {"qrcode: {as: png}", "qrcode: {as: gif}"}, {"qrcode: {as: png}", "qrcode: {}"},
		{"qrcode: {as: png}", "summary: no kind"}, {"qrcode: {as: png}", "{qrcode: {as: png}, computed: {}}"}, {"qrcode: {as: png}", "computed: {x: 1}"},
		{"qrcode: {as: png}", "qrcodes: {as: png}"}, {"name: drawn", "name: drawn\n    rate: often"}, {"name: drawn", "name: drawn\n    negative: maybe"},
	} {
		text := strings.Replace(jokeFile, row.replace, row.by, 1)
		if text == jokeFile {
			t.Fatalf("nothing to replace: %s", row.replace)
		}
		if valid(t, files, text) == nil {
			t.Errorf("%s → %s: the schema accepts it", row.replace, row.by)
		}
		write(t, dir, "joke.yaml", text)
		if _, _, err := call(t, few, "check", "--catalog", dir); err == nil {
			t.Errorf("%s → %s: check accepts it", row.replace, row.by)
		}
	}
}

// TestConfigSchemaAndCheckRefuse the same files.
func TestConfigSchemaAndCheckRefuse(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	schema, dir := validator(t, configSchema), t.TempDir()
	check := func(text string) (errs string, err error) {
		if !strings.Contains(text, "endpoints:") { // all of them take a while to compile
			text += "\n" + only("ip")
		}
		_, errs, err = call(t, nil, "check", "--config", write(t, dir, "sundry.yaml", text))
		return errs, err
	}
	for _, good := range []string{"limits:\n", "limits: {rate: 0.5}\ncache: {memory: 64MiB}", "endpoints: {ip: {cache: {ttl: 6h}}}", "trusted_proxies: 10.0.0.0/8", "listen: 0.0.0.0:8080"} {
		if errs, err := check(good); err != nil || valid(t, schema, good) != nil {
			t.Errorf("%s: %s %v %v", good, errs, err, valid(t, schema, good))
		}
	}
	for _, bad := range []string{
		"listne: x", "limits: {rat: 1}", "limits: [1]", "limits: {burst: 1.5}", "limits: {burst: -3}", "limits: {in_flight: 0}", "limits: {rate: fast}",
		"log_format: xml", "cache: {warm: perhaps}", "cache: {memory: much}", "drain_delay: soon", "trusted_proxies: {a: b}", "limits: {in_flight_share: 2}",
		"endpoints: {ip: {cach: {}}}", "endpoints: {ip: {cache: {ttl: soon}}}", "endpoints: {ip: {through: maybe}}",
	} {
		if valid(t, schema, bad) == nil {
			t.Errorf("%s: the schema accepts it", bad)
		}
		if _, err := check(bad); err == nil {
			t.Errorf("%s: check accepts it", bad)
		}
	}
}
