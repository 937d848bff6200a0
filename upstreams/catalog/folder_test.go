package catalog

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// parted is an endpoint that is a folder, with what two of its files share.
func parted() map[string]string {
	return map[string]string{
		"parted/endpoint.yaml": `version: 1
name: parted
group: text
summary: {en: Parted., zh: 分开}
defs: {site: $params.site}
params:
  - {name: site, type: string, enum: [one, two], default: one, example: two}
cache: {class: shared, ttl: 1h}
forms:
  - {name: json, json: .}
serves: site
rules:
  - {name: gone, if: .gone, is: unavailable}
defaults: {timeout: 7s, before: [token]}
`,
		"parted/one.yaml": `uses: [keys]
sources:
  - name: first
    http: {url: 'https://a.example.org/{token}'}
    judge: [gone]
    map: '{n: taken}'
`,
		"parted/two.yaml": `uses: [keys]
defs: {mine: .n}
sources:
  - name: second
    computed: {}
    map: '{n: mine}'
  - name: third
    when: $params.site != "one"
    before: [token, {name: other, http: {url: 'https://b.example.org/'}}]
    computed: {}
    map: '{n: 3}'
`,
		"shared/keys.yaml": `defs: {taken: .n, spare: .}
steps:
  - {name: token, http: {url: 'https://a.example.org/'}, keep: taken}
`,
	}
}

// loadFiles compiles files of an operator's directory, and nothing else but what is in on.
func loadFiles(t *testing.T, files map[string]string, on string) (*Catalog, error) {
	t.Helper()
	dir := writeCatalog(t, files)
	c, err := Load(Options{Dir: dir, Overrides: onlyOn(on)}, testEnvironment(t, nil))
	if err != nil {
		err = errors.New(strings.ReplaceAll(err.Error(), dir+"/", ""))
	}
	return c, err
}

// sourcesOf are an endpoint's sources with their conditions.
func sourcesOf(t *testing.T, c *Catalog, endpoint string) (names []string) {
	t.Helper()
	e, ok := c.Get(endpoint)
	if !ok {
		t.Fatalf("no endpoint %s", endpoint)
	}
	for _, s := range e.Sources() {
		names = append(names, s.Name)
	}
	return names
}

func TestFolderIsAnEndpoint(t *testing.T) {
	c, err := loadFiles(t, parted(), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := sourcesOf(t, c, "parted"); !slices.Equal(got, []string{"first", "second", "third"}) {
		t.Errorf("sources %q", got)
	}
	e, _ := c.Get("parted")
	for _, s := range e.Sources() {
		if s.Timeout.Seconds() != 7 || len(s.Before) == 0 {
			t.Errorf("%s: timeout %s, %d steps; want the defaults", s.Name, s.Timeout, len(s.Before))
		}
	}
	before := e.Version()
	for name := range parted() {
		files := parted()
		files[name] = strings.ReplaceAll(files[name], "b.example", "c.example")
		files[name] = strings.Replace(files[name], "taken: .n", "taken: .m", 1)
		files[name] = strings.Replace(files[name], "'{n: taken}'", "'{n: taken, m: 1}'", 1)
		files[name] = strings.Replace(files[name], "if: .gone", "if: .left", 1)
		changed, err := loadFiles(t, files, "")
		if err != nil {
			t.Fatal(err)
		}
		if e, _ := changed.Get("parted"); e.Version() == before {
			t.Errorf("%s: another text, the same version", name)
		}
	}
}

// TestMistakesInAFolder: each is in its file and line, whatever the others are.
func TestMistakesInAFolder(t *testing.T) {
	const head, one, two, keys = "parted/endpoint.yaml", "parted/one.yaml", "parted/two.yaml", "shared/keys.yaml"
	for _, row := range []struct{ file, replace, by, want string }{
		{head, "serves: site\n", "", "parted/endpoint.yaml:2: serves: expected a program that emits the name of the file"},
		{head, "serves: site", "serves: nope", "parted/endpoint.yaml:11: jq: function not defined: nope/0"},
		{head, "ttl: 1h", "ttl: long", "parted/endpoint.yaml:8: cache.ttl: duration \"long\""},
		{head, "name: gone, ", "", "parted/endpoint.yaml:13: rules: expected a name"},
		{one, "judge: [gone]", "judge: []", "parted/endpoint.yaml:13: rules: gone: no judge names it; expected its name below judge, for example judge: [gone]"},
		{head, "defaults:", "steps: [{name: spare, share: $params.site}]\ndefaults:", "parted/endpoint.yaml:14: steps: spare: no source names it"},
		{one, "judge: [gone]", "judge: [gon]", "parted/one.yaml:5: judge: gon: expected a rule with a condition, or the name of one under rules; did you mean gone?"},
		{one, "judge:", "before: [{name: tokn}]\n    judge:", "parted/one.yaml:5: before: tokn: expected a step with a request (http or share), or the name of one under steps; did you mean token?"},
		{one, "taken}", "taken | }", "parted/one.yaml:6: jq: "},
		{one, "uses: [keys]", "uses: [kes]", "parted/one.yaml:1: uses: there is no shared/kes.yaml; did you mean keys?"},
		{one, "name: first", "name: first\n    ttl: soon", "parted/one.yaml:4: sources[0].ttl: duration \"soon\""},
		{two, "computed", "computd", "parted/two.yaml:5: unknown key computd in sources[0]"},
		{two, "name: third", "name: first", "parted/two.yaml:7: source \"first\": declared twice in this endpoint"},
		{two, "sources:", "forms: []\nsources:", "parted/two.yaml:3: unknown key forms"},
		{two, "  - name: third", "    summary: x\n    summary: y\n  - name: third", "parted/two.yaml:8: sources[0]: key summary: set twice, first in line 7"},
		{two, "n: mine", "n: 1", "parted/two.yaml:2: defs: mine: no program of this file calls it"},
		{two, "uses: [keys]\n", "", ""},
		{keys, "taken: .n", "taken: .n |", "shared/keys.yaml:1: defs: taken: jq: "},
		{keys, "name: token, ", "name: token, by: x, ", "shared/keys.yaml:3: unknown key by"},
		{keys, "steps:", "sources: [{name: x, computed: {}}]\nsteps:", "shared/keys.yaml: expected no sources and no uses"},
	} {
		files := parted()
		if !strings.Contains(files[row.file], row.replace) {
			t.Fatalf("%s: nothing to replace: %s", row.file, row.replace)
		}
		files[row.file] = strings.Replace(files[row.file], row.replace, row.by, 1)
		switch _, err := loadFiles(t, files, ""); {
		case row.want == "" && err != nil:
			t.Errorf("%s, %s: %v", row.file, row.by, err)
		case row.want != "" && (err == nil || !strings.Contains("\n"+err.Error(), "\n"+row.want)):
			t.Errorf("%s, %s:\n%v\nwant %s", row.file, row.by, err, row.want)
		case row.want != "" && strings.Count(err.Error(), row.want) > 1:
			t.Errorf("%s, %s: told twice:\n%v", row.file, row.by, err)
		}
	}
}

// TestUnreadablePartsAreToldAlone: the endpoint is compiled once all of its files can be read.
func TestUnreadablePartsAreToldAlone(t *testing.T) {
	files := parted()
	files["parted/two.yaml"] = strings.Replace(files["parted/two.yaml"], "name: third", "name: third\n    ttl: soon", 1)
	files["parted/one.yaml"] = strings.Replace(files["parted/one.yaml"], "taken", "takn", 1)
	_, err := loadFiles(t, files, "")
	if err == nil || !strings.HasPrefix(err.Error(), "parted/two.yaml:8: sources[1].ttl") || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// TestFilesInPlaceOfBuiltInOnes: a file of an operator's folder replaces one of ours or
// comes beside it, a whole folder and a single file replace ours.
func TestFilesInPlaceOfBuiltInOnes(t *testing.T) {
	const part = "sources:\n  - {name: mine, computed: {}, map: 'error(\"none\")', vars: {}}\n"
	builtin, err := loadFiles(t, nil, "vidparse")
	if err != nil {
		t.Fatal(err)
	}
	all := sourcesOf(t, builtin, "vidparse")
	for _, row := range []struct {
		files map[string]string
		want  func(name string) bool // of the sources that come with the program
	}{
		{map[string]string{"vidparse/huya.yaml": part}, func(name string) bool { return name != "huya" }},
		{map[string]string{"vidparse/example.yaml": part}, func(string) bool { return true }},
		{map[string]string{"vidparse/endpoint.yaml": strings.ReplaceAll(parted()["parted/endpoint.yaml"], "parted", "vidparse"), "vidparse/one.yaml": parted()["parted/one.yaml"], "shared/keys.yaml": parted()["shared/keys.yaml"], "vidparse/two.yaml": part}, func(string) bool { return false }},
	} {
		c, err := loadFiles(t, row.files, "vidparse")
		if err != nil {
			t.Errorf("%q: %v", slices.Sorted(maps.Keys(row.files)), err)
			continue
		}
		got := sourcesOf(t, c, "vidparse")
		if !slices.Contains(got, "mine") {
			t.Errorf("%q: no source of the operator's: %q", slices.Sorted(maps.Keys(row.files)), got)
		}
		for _, name := range all {
			if slices.Contains(got, name) != row.want(name) {
				t.Errorf("%q: source %s is there: %t", slices.Sorted(maps.Keys(row.files)), name, !row.want(name))
			}
		}
	}
	c, err := loadFiles(t, map[string]string{"vidparse.yaml": strings.ReplaceAll(whole, "whole", "vidparse")}, "vidparse")
	if err != nil || !slices.Equal(sourcesOf(t, c, "vidparse"), []string{"made"}) {
		t.Error(err)
	}
}

// TestHiddenFilesAreNoneOfTheCatalog: editors and file systems keep notes beside files, such as
// Emacs of who is writing one, in a link to nowhere.
func TestHiddenFilesAreNoneOfTheCatalog(t *testing.T) {
	files := parted()
	for _, name := range []string{"._whole.yaml", "parted/._one.yaml", "shared/._one.yaml", ".whole.yml", ".git/endpoint.yaml", ".git/one.yaml"} {
		files[name] = "\x00\x05\x16\x07\x00"
	}
	dir := writeCatalog(t, files)
	if err := os.Symlink("ada@example.1234", filepath.Join(dir, ".#whole.yaml")); err != nil {
		t.Skip(err)
	}
	c, err := Load(Options{Dir: dir, Overrides: onlyOn("parted")}, testEnvironment(t, nil))
	if err != nil || strings.Contains(fmt.Sprint(c.Warnings), "/.") {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestOnlyFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(os.DevNull, filepath.Join(dir, "own.yaml")); err != nil {
		t.Skip(err)
	}
	if _, err := Load(Options{Dir: dir}, testEnvironment(t, nil)); err == nil || !strings.HasSuffix(err.Error(), "own.yaml: expected a file, or a link to one") {
		t.Error(err)
	}
}

func TestFoldersThatAreNoEndpoint(t *testing.T) {
	c, err := loadFiles(t, map[string]string{"alone/one.yaml": "x", "testdata/alone/first/good/exchange.yaml": "x", "..data/endpoint.yaml": "x"}, "")
	if err != nil || len(c.Warnings) != 1 || !strings.HasSuffix(c.Warnings[0].Error(), "alone/one.yaml: not read: there is no endpoint.yaml beside it, the file about the endpoint as a whole") {
		t.Errorf("%v, %v", c.Warnings, err)
	}
	if c, err = loadFiles(t, map[string]string{"joke.yml": "x"}, ""); err != nil || len(c.Warnings) != 1 || !strings.HasSuffix(c.Warnings[0].Error(), "joke.yml: not read: expected a name that ends in .yaml") {
		t.Errorf("%v, %v", c.Warnings, err)
	}
	files := parted()
	files["parted.yaml"] = strings.ReplaceAll(whole, "whole", "parted")
	if _, err = loadFiles(t, files, ""); err == nil || !strings.Contains(err.Error(), "parted/endpoint.yaml: expected a file or a folder of an endpoint; there is ") {
		t.Error(err)
	}
}
