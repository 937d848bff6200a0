package pages

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sundry/proxy/site/apidoc"
	"sundry/upstreams/lib/longtest"
	"sundry/upstreams/lib/peertest"
)

// hostile are values that a careless quotation does not survive.
func hostile() []pair {
	return []pair{
		{"quotes", `'"` + "`" + `'' "" \' \"`}, {"backslashes", `\ \\ \n \u0041 C:\temp\`}, {"lines", "one\ntwo\r\nthree\ttab"},
		{"dollars", "$HOME ${HOME} $(id) `id` %url% %value% {x} #{y} %d %%"}, {"other", "你好，世界 🎉 é \u2028\u2029 \x01\x7f"},
		{"signs", "a&b=c?d#e+f;g/h @file !! * ~ [] <?php ?> </script> -- \\"}, {"at", "@/etc/hostname"},
	}
}

// echo answers as an endpoint does, in the shape of its path, and keeps what it was asked.
type echo struct {
	*httptest.Server
	asked atomic.Pointer[url.Values]
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	e := &echo{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		e.asked.Store(&query)
		switch apidoc.Shape(strings.TrimPrefix(r.URL.Path, "/api/")) {
		case apidoc.JSON:
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"code":200,"message":"ok","data":"the answer"}`))
		case apidoc.Redirect:
			http.Redirect(w, r, "http://127.0.0.1:1/the answer", http.StatusFound)
		default:
			_, _ = w.Write([]byte("the answer"))
		}
	}))
	t.Cleanup(e.Close)
	return e
}

// interpreter runs programs of a language; ok is false where it is missing.
type interpreter struct {
	file string
	run  func(t *testing.T) (command []string, ok bool)
}

func found(name string, args ...string) func(*testing.T) ([]string, bool) {
	return func(t *testing.T) ([]string, bool) {
		t.Helper()
		path, err := exec.LookPath(name)
		return append([]string{path}, args...), err == nil
	}
}

func interpreters() map[string]interpreter {
	return map[string]interpreter{
		"curl":       {"call.sh", found("sh")},
		"javascript": {"call.mjs", found("node")},
		"python":     {"call.py", withRequests},
		"go":         {"call.go", found("go", "run")},
		"php":        {"call.php", found("php")},
	}
}

// withRequests finds a Python that has the library of the programs.
func withRequests(t *testing.T) ([]string, bool) {
	t.Helper()
	command, ok := found("python3")(t)
	return command, ok && exec.CommandContext(t.Context(), command[0], "-c", "import requests").Run() == nil
}

// The programs of the pages run as they are, and ask for what stands in the form.
func TestSnippetsRun(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	e := newEcho(t)
	for _, p := range programmings() {
		t.Run(p.ID, func(t *testing.T) {
			in := interpreters()[p.ID]
			command, ok := in.run(t)
			if !ok {
				t.Skipf("there is no interpreter of %s", p.Title)
			}
			for _, what := range []apidoc.Shape{apidoc.JSON, apidoc.Text, apidoc.Picture, apidoc.Redirect} {
				if p.ID == "javascript" && what == apidoc.Redirect {
					continue // for browsers
				}
				for _, pairs := range [][]pair{hostile(), nil} {
					if p.ID == "go" && pairs == nil && what != apidoc.Redirect {
						continue // a compilation takes long
					}
					s := p.of(what, "picture.png")
					runSnippet(t, e, append(command, in.file), in.file, s.fill(e.URL+"/api/"+string(what), pairs), what, pairs)
				}
			}
		})
	}
}

func runSnippet(t *testing.T, e *echo, command []string, file, program string, what apidoc.Shape, pairs []pair) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, file), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	e.asked.Store(nil)
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GO111MODULE=off", "no_proxy=127.0.0.1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", what, err, out, program)
	}
	want := url.Values{}
	for _, p := range pairs {
		want.Set(p.Name, p.Value)
	}
	asked := e.asked.Load()
	if asked == nil {
		t.Fatalf("%s: nothing was asked\n%s\n%s", what, out, program)
	}
	if diff := cmp.Diff(want, *asked); diff != "" {
		t.Errorf("%s: %s\n%s", what, diff, program)
	}
	switch written, err := os.ReadFile(filepath.Join(dir, "picture.png")); {
	case what == apidoc.Redirect && !strings.Contains(string(out), "http://127.0.0.1:1/the"):
		t.Errorf("%s: the target is not shown: %s\n%s", what, out, program)
	case what == apidoc.Picture && string(written) != "the answer":
		t.Errorf("%s: wrote %q, %v: %s\n%s", what, written, err, out, program)
	case (what == apidoc.JSON || what == apidoc.Text) && !strings.Contains(string(out), "the answer"):
		t.Errorf("%s: the answer is not shown: %s\n%s", what, out, program)
	}
}

// The page's script fills the templates in as the page itself does.
func TestSnippetsOfTheScript(t *testing.T) {
	node := peertest.Program(t, "node", "nodejs", "node")
	type row struct {
		Snippet snippet    `json:"snippet"`
		Pairs   [][]string `json:"pairs"`
	}
	const at = "https://example.org/api/it's"
	var rows []row
	var want []string
	for _, p := range programmings() {
		for _, pairs := range [][]pair{nil, hostile()} {
			one := row{Snippet: p.of(apidoc.JSON, "x.png"), Pairs: [][]string{}}
			for _, pair := range pairs {
				one.Pairs = append(one.Pairs, []string{pair.Name, pair.Value})
			}
			rows, want = append(rows, one), append(want, one.Snippet.fill(at, pairs))
		}
	}
	input, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	script, err := assetFiles.ReadFile("assets/snippets.js")
	if err != nil {
		t.Fatal(err)
	}
	program := string(script) + "\nprocess.stdout.write(JSON.stringify(JSON.parse(process.argv[1]).map(row => fillSnippet(row.snippet, process.argv[2], row.pairs))));"
	out, err := exec.CommandContext(t.Context(), node, "-e", program, string(input), at).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
