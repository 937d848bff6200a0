package catalog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
)

// writeCatalog writes the files of an operator's directory.
func writeCatalog(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// keyed is a file whose source reads three variables.
var keyed = strings.Replace(whole, "    computed: {}\n", `    secrets: {base: SUNDRY_MINE_URL, key: SUNDRY_MINE_KEY}
    options: {cookie: SUNDRY_MINE_COOKIE}
    when: '[$secrets.base, $secrets.key, $secrets.cookie] != []'
    computed: {}
`, 1)

const described = `
SUNDRY_MINE_URL: {en: Address., zh: 地址, example: 'https://mine.example.org', secret: false, from: 'https://mine.example.org/', cost: own}
SUNDRY_MINE_KEY: {en: Key., zh: 密钥, example: abc, secret: true, from: 'https://mine.example.org/', cost: paid}
SUNDRY_MINE_COOKIE: {en: Cookie., zh: 饼干, example: a=b, secret: true, from: 'https://mine.example.org/', cost: free}
`

// TestVariablesOfAnOperatorsFile: described in the directory, they are listed with
// what they are; else a warning says so, and their values count as secret.
func TestVariablesOfAnOperatorsFile(t *testing.T) {
	values := map[string]string{"SUNDRY_MINE_URL": "https://own.example.org", "SUNDRY_MINE_KEY": "geheim-1", "SUNDRY_MINE_COOKIE": "geheim-2"}
	for name, row := range map[string]struct {
		files    map[string]string
		warnings int
		hidden   []string
	}{
		"described":     {map[string]string{"whole.yaml": keyed, "data/variables.yaml": described}, 0, []string{"geheim-1", "geheim-2"}},
		"not described": {map[string]string{"whole.yaml": keyed}, 3, []string{"geheim-1", "geheim-2", "https://own.example.org"}},
	} {
		env := testEnvironment(t, nil)
		env.Secret = func(name string) (string, bool) { v, ok := values[name]; return v, ok }
		c, err := Load(Options{Dir: writeCatalog(t, row.files)}, env)
		if err != nil || len(c.Warnings) != row.warnings {
			t.Fatalf("%s: %v, warnings %v", name, err, c.Warnings)
		}
		if row.warnings > 0 && !strings.Contains(c.Warnings[0].Error(), "whole.yaml:14: variable SUNDRY_MINE_URL: not described; expected it in data/variables.yaml, for example") {
			t.Errorf("%s: %v", name, c.Warnings[0])
		}
		for _, value := range values {
			if shown := env.Hidden.Text(value); shown == value == slices.Contains(row.hidden, value) {
				t.Errorf("%s: %s is shown as %s, want %q to be hidden", name, value, shown, row.hidden)
			}
		}
		uses := c.Variables()
		i := slices.IndexFunc(uses, func(v VariableUse) bool { return v.Name == "SUNDRY_MINE_COOKIE" })
		want := VariableUse{Variable: upstreams.Variable{Name: "SUNDRY_MINE_COOKIE", Secret: true}, Optional: []string{"whole/made"}}
		if row.warnings == 0 {
			want.EN, want.ZH, want.Example, want.From, want.Cost = "Cookie.", "饼干", "a=b", "https://mine.example.org/", "free"
		}
		if diff := cmp.Diff(want, uses[i]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestUndescribedVariablesOfABuiltInFile are mistakes.
func TestUndescribedVariablesOfABuiltInFile(t *testing.T) {
	env := testEnvironment(t, nil)
	f, err := ReadFiles("")
	if err != nil {
		t.Fatal(err)
	}
	f.specs["whole"] = catalogFile{path: "whole.yaml", data: []byte(keyed)}
	if _, err = f.Compile(Options{}, env); err == nil || strings.Count(err.Error(), "not described") != 3 {
		t.Errorf("%v, want three mistakes", err)
	}
}

func TestMistakesOfVariables(t *testing.T) {
	const good = "SUNDRY_MINE_URL: {en: A., zh: 乙, example: x, secret: false, from: y, cost: own}"
	for text, want := range map[string]string{
		good: "", "# nothing\n": ": there is nothing in it; expected a mapping",
		strings.Replace(good, "SUNDRY_MINE_URL", "mine", 1):            `:1: variable "mine": expected capital letters, digits and underscores`,
		strings.Replace(good, "zh: 乙, ", "", 1):                        ":1: variable SUNDRY_MINE_URL: zh: missing; expected en, zh, example, secret, from and cost",
		strings.Replace(good, "secret: false, ", "", 1):                ":1: variable SUNDRY_MINE_URL: secret: expected true, or false",
		strings.Replace(good, "secret: false, ", "secret: often, ", 1): ":1: ",
		strings.Replace(good, "own", "cheap", 1):                       `:1: SUNDRY_MINE_URL.cost: expected free, paid or own, got "cheap"`,
		strings.Replace(good, "example", "sample", 1):                  ":1: unknown key sample",
		"- a list": ":1: expected a mapping, got a list",
	} {
		files, err := readVariables(writeCatalog(t, map[string]string{"data/variables.yaml": text}))
		if err != nil || len(files) != 2 {
			t.Fatal(files, err)
		}
		_, mistakes := compileVariables(files)
		err = errors.Join(mistakes...)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), filepath.Join("data", "variables.yaml")+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestBuiltInVariablesAreSorted, so that the file reads like its table.
func TestBuiltInVariablesAreSorted(t *testing.T) {
	files, err := readVariables("")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var doc yaml.Node
	if err := yaml.Load(files[0].data, &doc); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(doc.Content[0].Content); i += 2 {
		names = append(names, doc.Content[0].Content[i].Value)
	}
	if len(names) == 0 || !slices.IsSorted(names) {
		t.Error(fmt.Sprint(names))
	}
}

// TestEveryBuiltInVariableIsRead: the description of one that no source reads would
// be a promise that nobody keeps.
func TestEveryBuiltInVariableIsRead(t *testing.T) {
	c := mustLoad(t, nil)
	var read []string
	for _, v := range c.Variables() {
		read = append(read, v.Name)
	}
	for name := range c.variables {
		if !slices.Contains(read, name) {
			t.Errorf("%s is described, and no source reads it", name)
		}
	}
}
