package main

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/lib/longtest"
)

// tutorial follows the guide to writing an endpoint as its reader does.
type tutorial struct {
	*testing.T
	dir     string
	real    *strings.Replacer // from the addresses in the guide to those of the test
	written *strings.Replacer // and back
	few     map[string]string // which endpoints there are beside the reader's
	env     map[string]string // with the key, once a source asks for one
	file    *yaml.Node        // the endpoint so far
	server  *instance         // nil before the first request of a step
}

// TestGuideToWritingAnEndpoint: each of its steps is a file without mistakes, and
// its commands and requests answer what it shows, in both languages.
func TestGuideToWritingAnEndpoint(t *testing.T) {
	longtest.NotShort(t, "it takes seconds")
	t.Parallel()
	for _, file := range []string{"endpoint-guide.md", "endpoint-guide.zh-CN.md"} {
		t.Run(file, func(t *testing.T) { followGuide(t, filepath.Join(samples, file)) })
	}
}

func followGuide(t *testing.T, file string) {
	t.Helper()
	g := newTutorial(t)
	if strings.HasSuffix(file, ".zh-CN.md") {
		g.few["SUNDRY_LANGUAGE"] = "zh"
	}
	blocks := codeBlock.FindAllStringSubmatch(readFile(t, file), -1)
	if len(blocks) < 15 {
		t.Fatalf("%d blocks of code", len(blocks))
	}
	for _, b := range blocks {
		switch b[1] {
		case "sh":
			g.shell(b[2])
		case "yaml":
			g.step(b[2])
		case "console":
			g.console(b[2])
		}
	}
}

func newTutorial(t *testing.T) *tutorial {
	few := onlyIn(t)
	g := &tutorial{T: t, dir: t.TempDir(), few: few, env: few}
	var there, back []string
	for name, address := range map[string]string{"first": "127.0.0.1:8000", "second": "127.0.0.1:8001"} {
		s := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(g.dir, name))))
		t.Cleanup(s.Close)
		there = append(there, address, s.Listener.Addr().String())
		back = append(back, s.Listener.Addr().String(), address)
	}
	g.real, g.written = strings.NewReplacer(there...), strings.NewReplacer(back...)
	return g
}

// shell makes files. What serves is served by the test.
func (g *tutorial) shell(script string) {
	if strings.HasPrefix(script, "python3 -m http.server") {
		return
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		g.Skip("bash is not installed")
	}
	cmd := exec.CommandContext(g.Context(), bash, "-ec", script)
	cmd.Dir = g.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		g.Fatalf("%v\n%s", err, out)
	}
}

// step writes the next stage of the endpoint, or a file that goes with it.
func (g *tutorial) step(text string) {
	if strings.HasPrefix(text, "# catalog/") {
		name, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		if name == "catalog/news.yaml" && !strings.Contains(readFile(g.T, "../../deploy/catalog.md"), text) {
			g.Errorf("catalog.md has another %s", name)
		}
		write(g, filepath.Join(g.dir, filepath.Dir(name)), filepath.Base(name), g.real.Replace(text))
		g.restart()
		return
	}
	if strings.Contains(text, "secrets:") {
		g.env = maps.Clone(g.few) // a server reads the map of before
		g.env["SUNDRY_POEM_KEY"] = "abc123"
	}
	var doc yaml.Node
	if err := yaml.Load([]byte(text), &doc); err != nil {
		g.Fatalf("%v\n%s", err, text)
	}
	if g.file == nil {
		g.file = doc.Content[0]
	} else {
		merge(g.file, doc.Content[0])
	}
	g.save()
}

// save writes the endpoint, which has no mistake. A server starts with the next request.
func (g *tutorial) save() {
	out, err := yaml.Dump(g.file)
	if err != nil {
		g.Fatal(err)
	}
	write(g, filepath.Join(g.dir, "catalog"), "poem.yaml", g.real.Replace(string(out)))
	if out, errs, err := call(g.T, g.env, "check", "--catalog", g.dir+"/catalog"); err != nil {
		g.Fatalf("%v\n%s%s", err, out, errs)
	}
	g.restart()
}

// restart ends the server. The next request starts one with the files as they are then.
func (g *tutorial) restart() {
	if g.server != nil {
		g.server.end()
		g.server = nil
	}
}

// merge adds the keys of a step to the file, or to an item of it, as the guide tells:
// parameters, forms and sources by their names, all else as a whole.
func merge(file, step *yaml.Node) {
	for i := 0; i < len(step.Content); i += 2 {
		key, value := step.Content[i], step.Content[i+1]
		old := valueOf(file, key.Value)
		switch {
		case old == nil:
			file.Content = append(file.Content, key, value)
		case slices.Contains([]string{"params", "forms", "sources"}, key.Value):
			mergeItems(old, value)
		default:
			*old = *value
		}
	}
}

func mergeItems(list, step *yaml.Node) {
	for _, item := range step.Content {
		name := valueOf(item, "name").Value
		at := slices.IndexFunc(list.Content, func(n *yaml.Node) bool { return valueOf(n, "name").Value == name })
		if at < 0 {
			list.Content = append(list.Content, item)
		} else {
			merge(list.Content[at], item)
		}
	}
}

func valueOf(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// console compares what the commands of a block answer with what it shows.
func (g *tutorial) console(block string) {
	for part := range strings.SplitSeq(strings.TrimPrefix(block, "$ "), "\n$ ") {
		command, want, _ := strings.Cut(part, "\n")
		run := g.command
		if strings.HasPrefix(command, "curl ") {
			run = g.request
		}
		got := run(command)
		if got = trailing.ReplaceAllString(g.written.Replace(got), "\n"); !patternOf(want).MatchString(got) {
			g.Errorf("%s\n%s\nwant\n%s", command, got, want)
		}
	}
}

var (
	timeShown = regexp.MustCompile(`\b[0-9]+(\\\.[0-9]+)?m?s\b`)
	sizeShown = regexp.MustCompile(`[0-9]+ bytes`)
	requestID = regexp.MustCompile(`"request_id":"\w+"`)
	trailing  = regexp.MustCompile(` +\n`)
	padding   = regexp.MustCompile(` {2,}`)
)

// patternOf matches what the guide shows: … is anything, times and sizes differ.
func patternOf(want string) *regexp.Regexp {
	p := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "…", "(?s:.*)")
	p = requestID.ReplaceAllLiteralString(p, `"request_id":"\w+"`)
	p = sizeShown.ReplaceAllLiteralString(p, `[0-9]+ bytes`)
	p = timeShown.ReplaceAllLiteralString(p, `[0-9.]+m?s`)
	return regexp.MustCompile(`^\s*` + padding.ReplaceAllLiteralString(p, ` +`) + `\s*$`)
}

// request is what curl prints: the body, after the head with -i, or nothing for a
// picture that goes into a file with -o.
func (g *tutorial) request(line string) string {
	if g.server == nil {
		g.server = serveWith(g.T, g.env, "--catalog", g.dir+"/catalog")
	}
	options, address, _ := strings.Cut(line, "'http://localhost:8080")
	req, err := http.NewRequestWithContext(g.Context(), http.MethodGet, g.server.public+strings.TrimSuffix(address, "'"), nil)
	if err != nil {
		g.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req) // as curl, it follows no redirects
	if err != nil {
		g.Fatal(err)
	}
	defer resp.Body.Close()
	var head bytes.Buffer
	if err := resp.Header.Write(&head); err != nil {
		g.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		g.Fatal(err)
	case strings.Contains(options, " -i "):
		return strings.ReplaceAll(resp.Proto+" "+resp.Status+"\n"+head.String(), "\r", "") + "\n" + string(body)
	case strings.Contains(options, " -o ") && resp.Header.Get("Content-Type") == "image/png":
		return ""
	}
	return string(body)
}

// command runs a command of this program in the folder of the tutorial.
func (g *tutorial) command(line string) string {
	_, args, ok := strings.Cut(line, "bin/sundry ")
	if !ok {
		g.Fatalf("%s is neither a request nor a command of sundry", line)
	}
	words := strings.Fields(args)
	for i, w := range words {
		if w == "catalog" {
			words[i] = g.dir + "/catalog"
		}
	}
	env := g.few
	if strings.HasPrefix(line, "SUNDRY_POEM_KEY=abc123 ") {
		env = g.env
	}
	out, errs, err := call(g.T, env, words...)
	if err != nil || errs != "" {
		g.Fatalf("%s: %v %s", line, err, errs)
	}
	return out
}
