package declare

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// list is a text or a list of texts, and reads itself.
type list []string

func (l *list) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.SequenceNode {
		return n.Load((*[]string)(l))
	}
	*l = []string{n.Value}
	return nil
}

func (list) Shape(of func(any) *Shape) *Shape {
	return &Shape{Kind: Union, Of: []*Shape{of(""), of([]string{})}}
}

type paramExample struct {
	Name Text `yaml:"name"`
	Min  *int `yaml:"min"`
	Rest bool `yaml:"rest"`
}

// fileExample has a value of every shape.
type fileExample struct {
	Name   Text           `yaml:"name"`
	Params []paramExample `yaml:"params"`
	Cache  struct {
		TTL    Duration `yaml:"ttl"`
		Jitter *float64 `yaml:"jitter"`
	} `yaml:"cache" example:"{ttl: 1h}"`
	Chains map[string]fileExample `yaml:"chains"`
	Defs   Defs                   `yaml:"defs"`
	Map    *Expr                  `yaml:"map" example:".data"`
	Hosts  list                   `yaml:"hosts"`
	Later  Section                `yaml:"later"`
	Inner  *fileExample           `yaml:"inner"`
	State  string                 `yaml:"state" enum:"on,off"`
	Share  *float64               `yaml:"share" least:"0" most:"0.5"`
	Count  int                    `yaml:"count" least:"1"`
	Kinds  map[string]Section     `yaml:",inline"`
}

func (fileExample) KeyShapes() []KeyShape {
	return []KeyShape{{"http", paramExample{}}, {"later", paramExample{}}}
}

// TestMistakes has what is said of each mistake: in the words of the file, with all
// that is allowed there.
func TestMistakes(t *testing.T) {
	const top = "expected one of name, params, cache, chains, defs, map, hosts, later, inner, state, share, count, http"
	capital := "E" + top[1:]
	for text, want := range map[string]string{
		"paramz: []":                              "1: unknown key paramz; did you mean params? " + capital,
		"nothing: 1":                              "1: unknown key nothing; " + top + "; it may be of a newer version of Sundry: upgrade Sundry, or remove it",
		"{params：1}":                              "1: unknown key params：1; expected an ASCII colon and a space after a key, such as ttl: 1h",
		"params: [{name: a}, {nam: b}]":           "1: unknown key nam in params[1]; did you mean name? Expected one of name, min, rest",
		"params: {name: a}":                       "1: params: expected a list, got a mapping",
		"params: a":                               `1: params: expected a list, got the text "a"`,
		"params:\n- name: [a]":                    "2: params[0].name: expected a text, got a list",
		"params:\n- min: a":                       `2: params[0].min: expected a whole number, got the text "a"`,
		"params:\n- min: 1.5":                     "2: params[0].min: expected a whole number, got 1.5",
		"params:\n- rest: maybe":                  `2: params[0].rest: expected true or false, got the text "maybe"`,
		"params:\n- rest: {}":                     "2: params[0].rest: expected true or false, got a mapping",
		"cache: 1h":                               `1: cache: expected a mapping, got the text "1h"; for example cache: {ttl: 1h}`,
		"cache: {ttl: soon}":                      `1: cache.ttl: duration "soon": expected a number with a unit, such as 90s, 6h or 30d`,
		"cache: {ttl: }":                          "1: cache.ttl: expected a duration such as 90s, 6h or 30d, got nothing",
		"cache: {jitter: half}":                   `1: cache.jitter: expected a number, got the text "half"`,
		"chains: {spare: {cache: {tt: 1h}}}":      "1: unknown key tt in chains.spare.cache; did you mean ttl? Expected one of ttl, jitter",
		"inner: {inner: {inner: {state: []}}}":    "1: inner.inner.inner.state: expected a text, got a list",
		"defs: [.a]":                              "1: defs: expected jq programs by name, got a list; for example defs: {first_title: '.list[0].title'}",
		"defs: {a: [.a]}":                         "1: defs.a: expected a jq program, got a list",
		"defs: {a: .,\n a: .}":                    "2: defs: key a: set twice, first in line 1",
		"name: a\nname: b":                        "2: key name: set twice, first in line 1",
		"map: [.a]":                               "1: map: expected a jq program, got a list; for example map: .data",
		"hosts: {a: b}":                           "1: hosts: expected a text or a list, got a mapping",
		"hosts: [[a]]":                            "1: hosts[0]: expected a text, got a list",
		"http: {nam: a}":                          "1: unknown key nam in http; did you mean name? Expected one of name, min, rest",
		"later: {nam: a}":                         "1: unknown key nam in later; did you mean name? Expected one of name, min, rest",
		"cache: &c {tll: 1h}\ninner: {cache: *c}": "1: unknown key tll in cache; did you mean ttl? Expected one of ttl, jitter",
		"cache: &c {ttl: 1h}\nname: *c":           "1: name: expected a text, got a mapping",
		"inner: {<<: &c {tll: 1h}}":               "1: unknown key tll in inner; " + top + "; it may be of a newer version of Sundry: upgrade Sundry, or remove it",
		"state: maybe":                            `1: state: expected on or off, got "maybe"`,
		"inner:\n  state: &s maybe\nname: *s":     `2: inner.state: expected on or off, got "maybe"`,
		"share: 0.6":                              "1: share: expected 0 to 0.5, got 0.6",
		"share: -1":                               "1: share: expected 0 to 0.5, got -1",
		"share: .inf":                             "1: share: expected 0 to 0.5, got .inf",
		"share: .nan":                             "1: share: expected 0 to 0.5, got .nan",
		"share: 0x1":                              "1: share: expected 0 to 0.5, got 0x1",
		"count: 0":                                "1: count: expected at least 1, got 0",
		"count: 0b0":                              "1: count: expected at least 1, got 0b0",
		"count: -0o7":                             "1: count: expected at least 1, got -0o7",
		"state: ''\nshare: ~\ncount: 9":           "",
		"name: [":                                 "2: did not find expected node content",
		"- name: a":                               "1: expected a mapping, got a list",
		"":                                        "0: there is nothing in it; expected a mapping",
		"# only this":                             "0: there is nothing in it; expected a mapping",
	} {
		var into fileExample
		var problems Problems
		Read([]byte(text), &into, &problems)
		var got []string
		for _, p := range problems {
			got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Msg))
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s\n%s\nwant %s", text, strings.Join(got, "\n"), want)
		}
	}
}

// All mistakes of a file are said at once, and unknown keys do not keep the rest
// from being read.
func TestMistakesTogether(t *testing.T) {
	var into fileExample
	var problems Problems
	if !Read([]byte("nam: a\nname: b\nparams: [{x: 1, name: c}]\n"), &into, &problems) || len(problems) != 2 {
		t.Errorf("%v", problems)
	}
	if into.Name.Value != "b" || len(into.Params) != 1 || into.Params[0].Name.Value != "c" {
		t.Errorf("%+v", into)
	}
	problems = nil
	if Read([]byte("cache: a\nname: [b]\nparams: [{x: 1, min: c}]\n"), &into, &problems) || len(problems) != 4 {
		t.Errorf("%v", problems)
	}
}

// What is right is read as the YAML library reads it.
func TestReadsWhatIsRight(t *testing.T) {
	var into fileExample
	var problems Problems
	text := "name: 7\nparams: &p\n- {name: a, min: 3, rest: yes}\ncache: {ttl: 1h30m, jitter: 1}\nchains: {x: {params: *p}}\ndefs: {a: ., 'b(f)': f}\nmap: |\n  .a\nhosts: one\nlater: {name: x}\ninner: {<<: {state: off}, hosts: [a, b]}\nhttp:\nstate: 'on'\n"
	if !Read([]byte(text), &into, &problems) || len(problems) > 0 {
		t.Fatal(problems)
	}
	if into.Name.Value != "7" || *into.Params[0].Min != 3 || !into.Params[0].Rest || len(into.Chains["x"].Params) != 1 || len(into.Defs) != 2 ||
		into.Map.Line != 8 || into.Hosts[0] != "one" || into.Inner.State != "off" || len(into.Inner.Hosts) != 2 || into.State != "on" {
		t.Errorf("%+v", into)
	}
}

// A file may refer to itself. It is an error, not an endless loop.
func TestCyclesEnd(t *testing.T) {
	var into fileExample
	var problems Problems
	if Read([]byte("inner: &i {inner: *i, name: a}"), &into, &problems) || len(problems) == 0 {
		t.Errorf("%+v", into)
	}
}
