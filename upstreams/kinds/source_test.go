package kinds

import (
	"fmt"
	"strings"
	"testing"

	"sundry/upstreams"
	"sundry/upstreams/jq"
)

func TestCompileReportsMistakesWithLines(t *testing.T) {
	for text, want := range map[string]string{
		"name: x": "1: source \"x\": it has no kind; expected one of http, minecraft, qrcode, geoip, embedded, computed",
		"name: x\ncomputed: {}\nqrcode: {as: png}":                                        "1: source \"x\": expected the section of one kind, got qrcode, computed",
		"name: x\nhttp: {url: example.org}":                                               "2: url: expected an http or https URL with a literal host and without a query, for example https://api.example.org/v1/{id}, got \"example.org\"",
		"name: x\nhttp: {url: 'https://{host}/x'}":                                        "2: placeholder {host}: not found; expected the name of a parameter, var, step or secret",
		"name: x\nhttp: {url: 'https://a.org/?q=1'}":                                      "2: url:",
		"name: x\nhttp:\n  url: https://a.org/\n  query: {q: '{nope}'}":                   "4: placeholder {nope}",
		"name: x\nhttp: {url: 'https://a.org/', hosts: ['*']}":                            "2: hosts: expected a name such as img.example.org or *.example.org, got \"*\"",
		"name: x\nhttp: {url: 'https://a.org/', query: {a: b}, raw_query: c}":             "2: raw_query and query: expected only one of them",
		"name: x\nhttp: {url: 'https://a.org/', raw_query: '{d}'}":                        "2: placeholder {d}",
		"name: x\ncomputed: {}\nmap: '.a |'":                                              "3: jq: the program ends too early",
		"name: x\ncomputed: {}\nmap: |\n  .a\n  | nofunc":                                 "5: jq: function not defined: nofunc/0, at column 3",
		"name: x\ncomputed: {}\nmap: |\n  .a\n  | )":                                      "5: jq: unexpected token",
		"name: x\ncomputed: {}\njudge: [{is: invalid, if: .a}]":                           "3: judge rule: parameter and message belong to the verdict invalid, which needs both",
		"name: x\ncomputed: {}\njudge: [{is: limited, if: .a, parameter: p, message: m}]": "the verdict is limited",
		"name: x\ncomputed: {}\njudge: [{is: negative}]":                                  "3: judge rule without a condition",
		"name: x\ncomputed: {}\npicture: {url: .u}":                                       "3: picture: expected the hosts that it may come from",
		"name: x\nqrcode: {}":                                                             "1: qrcode: as: expected the format of the picture",
		"name: x\nqrcode: {as: gif}":                                                      "2: qrcode.as: expected png, svg, data or text, got \"gif\"",
		"name: x\nfavicon: {}":                                                            "1: favicon: at: expected root, page or letter",
		"name: x\ngeoip: {}":                                                              "1: geoip: use: expected scope, file or country",
		"name: x\ncomputed: {}\njudge: [{if: .a}]":                                        "judge rule: is: expected its verdict",
		"computed: {}": "0: source without a name",
	} {
		_, problems := tryCompile(t, environment(t), text)
		var got []string
		for _, p := range problems {
			got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Msg))
		}
		if all := strings.Join(got, "\n"); !strings.Contains(all, want) {
			t.Errorf("%q:\n%s\nwant %s", text, all, want)
		}
	}
}

func TestSourcesThatAreLeftOut(t *testing.T) {
	env := environment(t)
	for _, text := range []string{"name: x\nsecrets: {k: NOT_SET}\ncomputed: {}", "name: x\ngeoip: {use: file}"} {
		c := upstreams.NewChain("test", []*upstreams.Source{compile(t, env, text)}, true, env)
		if len(c.Sources) != 0 {
			t.Errorf("%q was not left out", text)
		}
		if strings.Contains(text, "NOT_SET") && (len(c.LeftOut) != 1 || c.LeftOut[0].Missing != "NOT_SET") {
			t.Errorf("%q: the missing variable is not reported", text)
		}
	}
}

func BenchmarkMap(b *testing.B) {
	env := environment(b)
	s := compile(b, env, "name: x\ncomputed: {}\nmap: '[.items[] | {id, title: .t, ok: (.n > 3)}]'")
	var items []any
	for i := range 50 {
		items = append(items, map[string]any{"id": i, "t": "title", "n": i % 7, "other": "dropped"})
	}
	input := map[string]any{"items": items}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Map.One(b.Context(), input, &jq.Env{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestMistakesOfSteps(t *testing.T) {
	for text, want := range map[string]string{
		"before: [{name: Up, http: {url: 'https://a.org/'}}]":             `step "Up": expected a name of lower-case letters`,
		"before: [{name: a, renew: true, http: {url: 'https://a.org/'}}]": "step a: renew: expected with for",
		"before: [{name: a}]": "step a: expected either http or share",
		"before: [{name: a, http: {url: 'https://a.org/', decode: image}}]":                               "step a: decode: image is for sources only; expected json, jsonp, html, xml, feed, script or text",
		"before: [{name: a, http: {url: 'https://a.org/{part}', parts: [b]}}]":                            "step a: parts is for sources only",
		"before: [{name: a, shared: true, http: {url: 'https://a.org/'}}]":                                "step a: shared: expected with for",
		"before: [{name: a, http: {url: 'https://a.org/{b}'}}, {name: b, http: {url: 'https://a.org/'}}]": "placeholder {b}",
		"http: {url: 'https://a.org/', form: {a: b}, json: .}":                                            "form and json: expected only one of them",
		"http: {url: 'https://a.org/', decode: script}":                                                   "marker: expected with decode: script, and only there",
		"http: {url: 'https://a.org/', decode: feed, zone: Tokyo}":                                        "zone: expected hours and minutes from UTC",
		"http: {url: 'https://a.org/', zone: '+09:00'}":                                                   "zone: expected hours and minutes from UTC",
		"http: {url: 'https://a.org/', marker: x}":                                                        "marker: expected with decode: script, and only there",
		"vars: {A: '1'}": `var "A": expected a name`,
	} {
		if !strings.Contains(text, "\nhttp:") && !strings.HasPrefix(text, "http:") {
			text += "\ncomputed: {}"
		}
		_, problems := tryCompile(t, environment(t), "name: x\n"+text)
		if all := fmt.Sprint(problems); !strings.Contains(all, want) {
			t.Errorf("%s:\n%s\nwant %s", text, all, want)
		}
	}
}
