package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/longtest"
)

// jokeSource is an endpoint without a mistake, whose exchanges come out as they say.
const jokeSource = `version: 1
name: jokes
group: text
summary: {en: A joke., zh: 笑话}
params:
  - {name: id, type: int, min: 1, max: 99, default: "7", example: "7"}
  - {name: kind, type: string, enum: [pun, riddle], default: pun, example: riddle}
  - {name: type, role: form, example: text}
cache: {class: keyed, ttl: 1h}
fields:
  title: {is: text, must: true}
  by: {is: text}
  link: {is: link}
  tags: {at_least: 1}
forms:
  - {name: json, json: .}
  - {name: text, text: '.title + " \($params.id)"'}
sources:
  - name: own
    when: $params.kind == "pun"
    secrets: {key: SUNDRY_JOKES_KEY}
    before:
      - name: token
        http: {url: "https://api.example.org/token", query: {key: "{key}"}}
        keep: .token
    vars:
      sign: $vars.token + "x" | md5
    http:
      url: "https://api.example.org/jokes/{id}"
      query: {sign: "{sign}"}
    judge:
      - {status: [404], is: negative}
      - {if: .code != 0, is: unavailable}
    map: |
      .data
      | {title, by: .author, link: .url, tags}
  - name: other
    after: negative
    http: {url: "https://other.example.org/{id}"}
`

// jokeCatalog writes the endpoint with a part of a file replaced by another.
func jokeCatalog(t *testing.T, file, replace, by string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	const head = "origin: composed\nnow: 2026-11-21T09:00:00+08:00\n"
	files := map[string]string{
		"jokes.yaml":                            jokeSource,
		"data/variables.yaml":                   "SUNDRY_JOKES_KEY: {en: Key., zh: 密钥, example: abc123, secret: true, from: \"https://api.example.org/\", cost: free}\n",
		"testdata/jokes/own/good/exchange.yaml": head + "params: {id: \"7\"}\nwant: success\nsteps:\n  - {step: token, url: \"https://api.example.org/token?key=replay\", body: token.json}\n  - {url: \"https://api.example.org/jokes/7\", body: reply.json}\n",
		"testdata/jokes/own/good/token.json":    `{"token": "t"}`,
		"testdata/jokes/own/good/reply.json":    `{"code": 0, "data": {"title": "A", "author": "Ada", "url": "https://j.example.org/7", "tags": ["x"]}}`,
		"testdata/jokes/own/good/want.json":     `{"title": "A", "by": "Ada", "link": "https://j.example.org/7", "tags": ["x"]}`,
		"testdata/jokes/own/gone/exchange.yaml": head + "params: {id: \"7\"}\nwant: negative\nsteps:\n  - {step: token, url: \"https://api.example.org/token?key=replay\", body: token.json}\n  - {url: \"https://api.example.org/jokes/7\", status: 404}\n",
		"testdata/jokes/own/gone/token.json":    `{"token": "t"}`,
	}
	if !strings.Contains(files[file], replace) {
		t.Fatalf("%s has no %s", file, replace)
	}
	files[file] = strings.Replace(files[file], replace, by, 1)
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, dir, name, text)
	}
	return dir
}

// TestCheckTellsAuthorsTheirMistakes: each with its file and line, what is wrong, and what is
// allowed or an example.
func TestCheckTellsAuthorsTheirMistakes(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	env := onlyIn(t)
	if out, errs, err := call(t, env, "check", "--catalog", jokeCatalog(t, "jokes.yaml", "", "")); err != nil || errs != "" {
		t.Fatal(out, errs, err)
	}
	allowed := regexp.MustCompile(`expected|for example|did you mean`)
	for i, row := range []struct{ replace, by, want string }{
		// Names that are not there.
		{"$vars.token +", "$vars.tokn +", "jokes.yaml:27: jq: $vars.tokn: no step and no variable has this name; did you mean token? Expected one of sign, token"},
		{"| {title, by", "| {title: $vars.nope, by", "jokes.yaml:36: jq: $vars.nope: no step and no variable has this name; expected one of sign, token"},
		{"$params.kind ==", "$params.kin ==", "jokes.yaml:20: jq: $params.kin: no input has this name; did you mean kind?"},
		{`\($params.id)`, `\($params.idd)`, "jokes.yaml:17: jq: $params.idd: no input has this name; did you mean id?"},
		{"{title, by", "{title: ($secrets.key + .title), by", "jokes.yaml:36: jq: $secrets: there are none once the service has replied; expected"},
		{"$vars.token +", "$secrets.kye + $vars.token +", "jokes.yaml:27: jq: $secrets.kye: no secret and no option has this name; did you mean key?"},
		{"text: '.title", "text: '$vars.token + .title", "jokes.yaml:17: jq: $vars: only programs of a source have them; expected"},
		{"jokes/{id}", "jokes/{ids}", "jokes.yaml:29: placeholder {ids}: not found; expected the name of a parameter, var, step or secret; did you mean id?"},
		// Placeholders that are none.
		{"jokes/{id}", "jokes/{{id}}", `jokes.yaml:29: "/jokes/{{id}}": {{id}}: expected single braces, {id}`},
		{"jokes/{id}", "jokes/${id}", `jokes.yaml:29: "/jokes/${id}": ${id}: expected no $ before it, {id}`},
		{"jokes/{id}", "jokes/{id", "jokes.yaml:29: \"/jokes/{id\": {id: expected {id}"},
		{`sign: "{sign}"`, `sign: "{Sign}"`, `jokes.yaml:30: "{Sign}": {Sign: expected {sign}, a name of lower-case letters`},
		{"{key}", "{page-key}", "jokes.yaml:24: \"{page-key}\": {page-key: expected {page_key}"},
		// Programs that do not compile.
		{".data\n", ".data |\n", `jokes.yaml:36: jq: unexpected token "|", at column 1 of "| {title, by`},
		{"| {title,", "| titel | {title,", `jokes.yaml:36: jq: function not defined: titel/0, at column 3 of "| titel |`},
		{"x\" | md5", "x\" | md6", `jokes.yaml:27: jq: function not defined: md6/0, at column 21 of "$vars.token + \"x\" | md6"; did you mean md5?`},
		{"x\" | md5", "x\" | md5(.)", "there is a function md5, but not with 1 arguments, for example"},
		{"{if: .code != 0", "{if: '.code | tostring | test(\"^(0\")'", `jokes.yaml:33: jq: test: error parsing regexp: missing closing ): ` + "`^(0`" + `, at column 25 of`},
		{"{title, by", "{title: $param.id, by", "jokes.yaml:36: jq: variable not defined: $param, at column 11 of"},
		{"json: .}", "json: '.x['}", `jokes.yaml:16: jq: the program ends too early; expected what follows, such as ), ], } or end, at column 4 of ".x["`},
		// Rules, times, parameters.
		{"status: [404]", "status: [4040]", "jokes.yaml:32: judge rule: status: there is no status 4040; expected 100 to 599, for example [404]"},
		{"is: unavailable", "is: unavail", `jokes.yaml:33: sources[0].judge[1].is: expected success, negative`},
		{"{if: .code != 0, is: unavailable}", "{is: unavailable}", "jokes.yaml:33: judge rule without a condition; expected status, as in"},
		{"  - name: own\n", "  - name: own\n    timeout: 30s\n", `jokes.yaml:19: source "own": timeout: expected at most that of a fill, 10s, got 30s`},
		{"ttl: 1h", "ttl: 1 hour", "jokes.yaml:9: cache.ttl: duration \"1 hour\": expected a number with a unit, such as 90s"},
		{"max: 99, default", "max: 99, required: true, default", "jokes.yaml:6: param id: required and default: expected one of them"},
		{"type: int, min: 1, max: 99", "type: digits, min_len: 1", "jokes.yaml:6: param id: expected max_len for digits, at least min_len, for example"},
		{`default: "7"`, `default: "700"`, "jokes.yaml:6: param id: default \"700\" is out of range"},
		{"    http:\n      url: \"https://api.example.org/jokes", "    htp:\n      url: \"https://api.example.org/jokes", "jokes.yaml:28: unknown key htp in sources[0]; did you mean http? Expected one of"},
		{"is: link", "is: url", "jokes.yaml:13: fields.link.is: expected time, date, link"},
		// What is never read, never asked, never there.
		{`query: {sign: "{sign}"}`, "max_kib: 64", "jokes.yaml:27: var sign: nothing reads it; expected {sign} in a template or $vars.sign in a program, for example"},
		{"sign: $vars.token + \"x\" | md5", "sign: '\"x\" | md5'", "jokes.yaml:23: step token: nothing reads it; expected"},
		{`query: {key: "{key}"}`, "max_kib: 64", "jokes.yaml:21: secret key: nothing reads it; expected"},
		{"      - {status: [404], is: negative}\n", "", `jokes.yaml:36: source "other": after: negative: it is never asked, because no source before it can say no; expected`},
		{"sources:\n", "sources:\n  - {name: first, computed: {}, map: '{title: \"x\", tags: [\"y\"]}'}\n", `jokes.yaml:20: source "own": it is never asked, because "first" before it always answers; expected`},
		{`$params.kind == "pun"`, `$params.kind == "puns"`, "jokes.yaml:19: source own: when: it is true of no exchange, example or choice of a parameter; expected"},
		{"sources:\n", "steps: [{name: spare, http: {url: \"https://api.example.org/x\"}}]\nsources:\n", "jokes.yaml:18: steps: spare: no source names it; expected its name below before, for example before: [spare]"},
		{"cache:", "defs: {spare: .}\ncache:", "jokes.yaml:9: defs: spare: no program of this file calls it; expected a call, for example map: .data | spare"},
		{"by: .author", "by: .authr", "jokes.yaml:12: field by: it is null or absent in every recorded exchange; expected"},
		{"{title, by: .author", "{title, from: .author", "jokes.yaml:19: source own: map: from is not declared below fields; expected one of title, by, link, tags"},
		{"text: '.title + \" \\($params.id)\"'", "text: .titel", "jokes.yaml:17: form text: it is empty for every recorded exchange; expected"},
		{"text: '.title + ", "text: '.tags + ", "jokes.yaml:17: form text: of testdata/jokes/own/good: "},
		{"{title, by", "{title: .titel, by", "jokes.yaml:19: source own: testdata/jokes/own/good: want: success, but it is malformed: the answer is incomplete: title: expected a value, got null; expected"},
		{".code != 0", ".code == 0", "jokes.yaml:19: source own: testdata/jokes/own/good: want: success, but it is unavailable (status 200): judge[2], line 33; expected"},
		{"status: [404], is: negative", "status: [410], is: negative", "jokes.yaml:19: source own: testdata/jokes/own/gone: want: negative, but it is unavailable"},
	} {
		dir := jokeCatalog(t, "jokes.yaml", row.replace, row.by)
		_, errs, _ := call(t, env, "check", "--catalog", dir)
		line := ""
		for l := range strings.SplitSeq(errs, "\n") {
			if strings.Contains(l, row.want) {
				line = l
			}
		}
		if line == "" || !allowed.MatchString(line) {
			t.Errorf("%d: %s → %s:\n%s\nwant %s", i, row.replace, row.by, errs, row.want)
		}
	}
}

// TestCheckIsCleanOnOurOwn: what comes with the program, with all of its exchanges, is as good
// in an operator's directory.
func TestCheckIsCleanOnOurOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for to, from := range map[string]string{"": "../../upstreams/catalog", "testdata": "../../upstreams/fixtures/testdata"} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "data")); err != nil { // the program has it
		t.Fatal(err)
	}
	if _, errs, err := call(t, nil, "check", "--catalog", dir); err != nil || errs != "" {
		t.Error(errs, err)
	}
}

// TestCheckPlaysExchanges: one that does not come out as it says is a mistake, at the line or
// the file that says so.
func TestCheckPlaysExchanges(t *testing.T) {
	t.Parallel()
	env := onlyIn(t)
	zh := map[string]string{"SUNDRY_CONFIG": env["SUNDRY_CONFIG"], "SUNDRY_LANGUAGE": "zh"}
	for i, row := range []struct{ file, replace, by, want, zh string }{
		{"testdata/jokes/own/good/want.json", `"by": "Ada"`, `"by": "Bob"`,
			`testdata/jokes/own/good/want.json:1: data.by: "Bob", but source own makes it "Ada"; expected`, `want.json:1: data.by: 这里是 "Bob"，而数据源 own 得到 "Ada"；应`},
		{"testdata/jokes/own/good/want.json", `"tags": ["x"]`, `"tags": []`,
			`want.json:1: data.tags: [], but source own makes it ["x"]; expected`, `want.json:1: data.tags: 这里是 []，而数据源 own 得到 ["x"]；应`},
		{"testdata/jokes/own/good/exchange.yaml", "want: success", "want: negative",
			"exchange.yaml:4: want: negative, but source own answers it as a success; expected a rule", "exchange.yaml:4: want: negative，而数据源 own 判为成功；应有"},
		{"testdata/jokes/own/good/reply.json", `"title": "A"`, `"title": ""`,
			`jokes.yaml:19: source own: testdata/jokes/own/good: want: success, but it is malformed`, "数据源 own：testdata/jokes/own/good：want: success，而实际为（详情为英文）malformed"},
		{"jokes.yaml", "by: .author", "by: .authr", "jokes.yaml:12: field by: it is null or absent", "jokes.yaml:12: 字段 by：在所有录制的往来中都没有值；应有"},
		{"jokes.yaml", "text: '.title + \" \\($params.id)\"'", "text: .titel", "jokes.yaml:17: form text: it is empty for every", "jokes.yaml:17: 格式 text：对所有录制的往来都是空的；应"},
		{"jokes.yaml", "text: '.title + ", "text: '.tags + ", "jokes.yaml:17: form text: of testdata/jokes/own/good: ", "jokes.yaml:17: 格式 text：testdata/jokes/own/good 出错（详情为英文）：|；程序应"},
		{"jokes.yaml", `$params.kind == "pun"`, `$params.kind == "puns"`, "jokes.yaml:19: source own: when: it is true of no exchange", "jokes.yaml:19: 数据源 own：when: 没有往来、示例或参数的取值满足它；应"},
	} {
		dir := jokeCatalog(t, row.file, row.replace, row.by)
		_, errs, err := call(t, env, "check", "--catalog", dir)
		_, zhErrs, _ := call(t, zh, "check", "--catalog", dir)
		if mistake := row.file != "jokes.yaml"; mistake && statusOf(err) != statusMisconfigured || !strings.Contains(errs, row.want) {
			t.Errorf("%d: %v: %s\nwant %s", i, err, errs, row.want)
		}
		for part := range strings.SplitSeq(row.zh, "|") {
			if !strings.Contains(zhErrs, part) {
				t.Errorf("%d: %s\nwant %s", i, zhErrs, part)
			}
		}
	}
}

// TestMistakesAreInTheOrderOfTheirPlaces: those in no file, then by file and line.
func TestMistakesAreInTheOrderOfTheirPlaces(t *testing.T) {
	t.Parallel()
	at := func(file string, line int) error { return catalog.Mistake{File: file, Line: line} }
	err := errors.Join(at("b", 1), misconfigured(errors.Join(at("a", 5), io.EOF, at("a", 3))))
	if got, want := errors.Join(byPlace(err)...).Error(), errors.Join(io.EOF, at("a", 3), at("a", 5), at("b", 1)).Error(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
