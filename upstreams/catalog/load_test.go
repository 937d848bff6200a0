package catalog

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
)

// whole is a file without a mistake; rows replace a part of it.
const whole = `version: 1
name: whole
group: text
summary: {en: Whole., zh: 完整}
params:
  - {name: n, type: int, min: 1, max: 9, default: "3", example: "4"}
  - {name: type, role: form, example: text}
cache: {class: shared, ttl: 1h}
forms:
  - {name: json, json: .}
  - {name: text, text: '"text"'}
sources:
  - name: made
    computed: {}
    map: '{n: $params.n}'
`

func loadText(t *testing.T, text string) (*Catalog, error) {
	t.Helper()
	return loadIn(t, "whole", text, testEnvironment(t, nil))
}

// wholeOf is the endpoint of a file named whole, which has no mistake.
func wholeOf(t *testing.T, text string) *Endpoint {
	t.Helper()
	c, err := loadText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	e, _ := c.Get("whole")
	return e
}

// onlyOn turns off all endpoints that come with the program, but for one.
func onlyOn(name string) map[string]Overrides {
	others := map[string]Overrides{}
	for _, other := range BuiltinNames() {
		others[other] = Overrides{Off: other != name}
	}
	return others
}

// loadIn compiles a file alone: all others are turned off, which saves their time.
func loadIn(t *testing.T, name, text string, env *upstreams.Environment) (*Catalog, error) {
	t.Helper()
	dir := writeCatalog(t, map[string]string{name + ".yaml": text})
	return Load(Options{Dir: dir, Overrides: onlyOn(name)}, env)
}

func TestMistakesOfAFile(t *testing.T) {
	if _, err := loadText(t, whole); err != nil {
		t.Fatal(err)
	}
	rows := []struct{ replace, by, want string }{
		{"version: 1", "version: 2", `whole.yaml:1: version: expected 1, got "2"`},
		{"name: whole", "name: other", "whole.yaml:2: name: expected the name of the file, \"whole\", got \"other\""},
		{"group: text", "group: fun", "whole.yaml:3: group: expected one of images, media, lookups, text, or one of your own as in {name: tools, en: Tools, zh: 工具}, got \"fun\""},
		{"group: text", "group: {name: text, en: Text, zh: 文字}", "whole.yaml:3: group: text is built in, with its own titles; expected group: text, or another name"},
		{"group: text", "group: {name: Tools!, en: Tools, zh: 工具}", "whole.yaml:3: group: name: expected lower-case letters, digits and hyphens, for example tools, got \"Tools!\""},
		{"group: text", "group: {name: tools}", "whole.yaml:3: group: tools: expected a title, for example {name: tools, en: Tools, zh: 工具}"},
		{"group: text", "group: {name: tools, title: Tools}", "whole.yaml:3: unknown key title in group"},
		{"group: text", "group: [tools]", "whole.yaml:3: group: expected a text or a mapping, got a list"},
		{"group: text\n", "", "whole.yaml:2: group: expected one of images, media, lookups, text, or one of your own as in {name: tools, en: Tools, zh: 工具}, got \"\""},
		{"{name: json, json: .}", "{json: .}", "whole.yaml:10: form without a name; expected one, for example name: json"},
		{"{name: json, json: .}", "{each: .a}", "form without a name; expected one, for example name: json"},
		{"role: form,", "role: form, summary: {},", "whole.yaml:7: expected a text, or one in each language, as in {en: A joke., zh: 笑话}"},
		{"{en: Whole., zh: 完整}", "{en: ''}", "whole.yaml:4: expected a text, or one in each language, as in {en: A joke., zh: 笑话}"},
		{"summary: {en: Whole., zh: 完整}\n", "", "whole.yaml:2: summary: expected a sentence, for example {en: A joke., zh: 笑话}, or one for both languages"},
		{"{name: n,", "{name: N,", "whole.yaml:6: param \"N\": expected a name of lower-case letters"},
		{"type: int, min: 1, max: 9", "type: int", "whole.yaml:6: param n: expected min and max for an int, for example"},
		{"type: int, min: 1, max: 9", "type: int, min: 9, max: 1", "whole.yaml:6: param n: expected min up to max, got min: 9, max: 1"},
		{"type: int, min: 1, max: 9", "type: int, min: 1, max: 9, steps: [3, 8]", "whole.yaml:6: param n: steps: expected ascending numbers up to max, for example"},
		{"type: int,", "", "whole.yaml:6: param n: expected the type of its values"},
		{`default: "3"`, `default: "10"`, `whole.yaml:6: param n: default "10" is out of range`},
		{`, example: "4"`, "", "whole.yaml:6: param n: example: expected a value"},
		{`example: "4"`, `example: "x"`, `whole.yaml:6: param n: example "x" is not a whole number`},
		{"role: form", "role: form, as: {x: nope}", "whole.yaml:7: param type: as: x: expected one of the forms json, text, got \"nope\""},
		{"name: type, role", "name: n, role", "whole.yaml:7: param n: declared twice"},
		{"class: shared, ", "", "cache: class: expected shared (few keys"},
		{"ttl: 1h", "ttl: 1 hour", "whole.yaml:8:"},
		{"ttl: 1h", "ttl: -1h", "whole.yaml:8:"},
		{"ttl: 1h", "jitter: 0.9", "whole.yaml:8: cache.jitter: expected 0 to 0.5, got 0.9"},
		{"version: 1", "", "version: expected that of the grammar"},
		{"version: 1", "version: 2", "version: expected at most 1, got 2; the file is for a newer version of Sundry: upgrade Sundry"},
		{"ttl: 1h", "until: noon", "whole.yaml:8: cache: until:"},
		{"ttl: 1h", "tll: 1h", "whole.yaml:8: unknown key tll"},
		{"ttl: 1h", "ttl: 1h, fresh: '.n |'", "whole.yaml:8: jq: the program ends too early"},
		{"json: .}", "json: '.x |'}", "whole.yaml:10: jq: the program ends too early"},
		{"json: .}", "json: ., text: .}", "whole.yaml:10: form \"json\": expected exactly one"},
		{"name: text, text", "name: json, text", "whole.yaml:11: form \"json\": declared twice"},
		{"name: text, text", "chain: away, name: text, text", "whole.yaml:11: form text: chain: expected main or a name below chains:, got \"away\""},
		{"computed: {}", "computed: {x: 1}", "whole.yaml:14: unknown key x"},
		{"$params.n", "$param.n", "whole.yaml:15: jq: variable not defined: $param"},
		{"sources:", "chains: {spare: {sources: [{name: s, computed: {}}]}}\nsources:", "chain spare: no form uses it"},
		{"sources:", "chains: {x: {like: nope, picture: {url: .u, hosts: [a.b]}}}\nsources:", "chain x: like: expected a chain with sources of its own"},
		{"  - name: made", "  - {name: made, computed: {}}\n  - name: made", "source \"made\": declared twice"},
		{"  - name: made", "  - {name: first, last_resort: true, computed: {}}\n  - name: made", "whole.yaml:14: source \"made\": follows a last_resort source; expected those at the end"},
		{"computed: {}", "before: [{name: key, shared: true, http: {url: 'http://a.example.org/'}}]\n    computed: {}", "whole.yaml:14: step key: shared: expected with for"},
		{"computed: {}", "http: {url: 'https://a.example.org/', decode: html}", "whole.yaml:14: select: expected with decode: html or xml"},
		{"computed: {}", "http: {url: 'https://a.example.org/', decode: html,\n      select: {t: 'a['}}", "whole.yaml:15: select: t: expected a CSS selector"},
		{"params:", "defs: [.a]\nparams:", "whole.yaml:5: "},
		{"params:", "defs: {a: [.a]}\nparams:", "whole.yaml:5: "},
		{"params:", "defs: {a: ., a: .}\nparams:", "whole.yaml:5: "},
		{"params:", "defs:\n  a: .\n  b: |\n    .x\n    | |\nparams:", "whole.yaml:9: defs: b: jq: unexpected token \"|\""},
		{"params:", "defs:\n  a: .\n  trail: .\nparams:", "whole.yaml:7: defs: trail: there is a built-in function of this name"},
		{"params:", "defs:\n  spare: .\nparams:", "whole.yaml:6: defs: spare: no program of this file calls it"},
		{"version: 1", "version: 1\nversion: 1", "whole.yaml:2"},
		{"version: 1", "version: [", "whole.yaml:"},
	}
	for _, r := range rows {
		if !strings.Contains(whole, r.replace) {
			t.Fatalf("nothing to replace: %s", r.replace)
		}
		_, err := loadText(t, strings.Replace(whole, r.replace, r.by, 1))
		var m Mistake
		if err == nil || !errors.As(err, &m) || !strings.Contains(err.Error(), r.want) {
			t.Errorf("%s → %s:\n%v\nwant %s", r.replace, r.by, err, r.want)
		}
	}
}

// Every program of a file can call its defs.
func TestDefsAreForEveryProgram(t *testing.T) {
	const file = `version: 1
name: whole
group: text
summary: {en: Whole., zh: 完整}
defs: {d1: ., d2: ., d3: ., d4: ., d5: ., d6: ., d7: ., d8: ., d9: ., d10: ., d11: ., d12: ., d13: ., d14: ., d15: ., d16: ., d17: ., d18: .}
params:
  - {name: n, type: int, min: 1, max: 9, default: "3", example: "4"}
  - {name: type, role: form, example: text}
cache: {class: shared, ttl: 1h, edition: d1, fresh: d2}
not_found: d3
forms:
  - {name: json, each: d4, json: d5}
  - {name: text, text: d6}
  - {name: redirect, redirect: d7, through: {chain: pictures, ttl: 1h}}
  - {name: picture, picture: d8}
sources:
  - name: made
    when: d9
    before:
      - {name: short, share: d10}
      - name: step
        when: d11
        vars: {v: d12}
        http: {url: 'https://a.example.org/', json: d13}
        judge: [{if: d14, is: limited}]
        keep: d15
    http: {url: 'https://a.example.org/{part}', parts: d16}
    map: d17
    expires: d18
chains:
  pictures:
    sources:
      - {name: picture, computed: {}, picture: {url: $params.link | d1, hosts: [a.example.org]}}
`
	if _, err := loadText(t, file); err != nil {
		t.Error(err)
	}
	if _, err := loadText(t, strings.Replace(file, "d18: .", "d18: . |", 1)); err == nil || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("want one mistake, got %v", err)
	}
}

// A def that only the operator's settings keep from being called is no mistake.
func TestDefsOfOverriddenPrograms(t *testing.T) {
	file := strings.NewReplacer("params:", "defs: {half: 1800, link: $params.link}\nparams:", "ttl: 1h}", "ttl: 1h, fresh: half}",
		"sources:", "  - {name: moved, redirect: .u, through: {chain: pictures, ttl: 1h}}\nsources:").Replace(whole) +
		"chains: {pictures: {sources: [{name: picture, computed: {}, picture: {url: link, hosts: [a.example.org]}}]}}\n"
	dir := writeCatalog(t, map[string]string{"whole.yaml": file})
	no := false
	for name, o := range map[string]Overrides{"none": {}, "through": {Through: &no}, "fresh": {Cache: override(t, "fresh: '60'")}} {
		if _, err := Load(Options{Dir: dir, Overrides: map[string]Overrides{"whole": o}}, testEnvironment(t, nil)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnEndpointThatIsTurnedOff is not there; its file may even have mistakes.
func TestAnEndpointThatIsTurnedOff(t *testing.T) {
	dir := writeCatalog(t, map[string]string{"whole.yaml": "nonsense: true\n"})
	opts := Options{Dir: dir, Overrides: map[string]Overrides{"whole": {Off: true}, "vidparse": {Off: true, Cache: override(t, "ttl: 6h")}}}
	c, err := Load(opts, testEnvironment(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"whole", "vidparse"} {
		if _, ok := c.Get(name); ok || slices.ContainsFunc(c.Endpoints, func(e *Endpoint) bool { return e.Name == name }) {
			t.Errorf("%s is there", name)
		}
	}
	if off := c.Off; !slices.Equal(off, []string{"vidparse", "whole"}) {
		t.Errorf("%q", off)
	}
	if _, ok := c.Get("ip"); !ok {
		t.Error("ip is not there")
	}
	opts.Overrides["vidparsed"] = Overrides{Off: true}
	if _, err := Load(opts, testEnvironment(t, nil)); err == nil || !strings.Contains(err.Error(), "endpoints: vidparsed: not an endpoint; did you mean vidparse?") {
		t.Error(err)
	}
}

// override is a section of the operator's configuration.
func override(t *testing.T, text string) (n yaml.Node) {
	t.Helper()
	if err := yaml.Load([]byte(text), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOverridingDirectory(t *testing.T) {
	dir := writeCatalog(t, map[string]string{"yiyan.yaml": strings.ReplaceAll(whole, "whole", "yiyan")})
	c, err := Load(Options{Dir: dir}, testEnvironment(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	e, ok := c.Get("yiyan")
	if !ok || e.EN != "Whole." || len(c.Endpoints) != len(mustLoad(t, nil).Endpoints) {
		t.Errorf("%+v, %d endpoints", e, len(c.Endpoints))
	}
	if _, err := Load(Options{Dir: "/does/not/exist"}, testEnvironment(t, nil)); err == nil {
		t.Error("a directory that is not there was read")
	}
}
