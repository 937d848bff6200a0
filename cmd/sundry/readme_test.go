package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// readmes are the same page in two languages.
var readmes = [...]string{"../../README.md", "../../README.zh-CN.md"}

// proxyPages are likewise, of an API as it is.
var proxyPages = [...]string{"../../deploy/proxy.md", "../../deploy/proxy.zh-CN.md"}

// TestREADMEHasTheTables keeps the lists of the pages for operators equal to the
// catalog.
func TestREADMEHasTheTables(t *testing.T) {
	t.Parallel()
	set := builtinCatalog(t)
	for _, c := range []struct{ file, part, table string }{
		{readmes[0], "endpoints", endpointTable(set, false)},
		{readmes[1], "endpoints", endpointTable(set, true)},
		{"../../deploy/settings.md", "variables", variableTable(set, false)},
		{"../../deploy/settings.zh-CN.md", "variables", variableTable(set, true)},
	} {
		golden(t, c.file, between(t, readFile(t, c.file), c.part, c.table))
	}
}

// endpointTable lists endpoints, their titles and their parameters, as Markdown that
// fits a phone.
func endpointTable(set *catalog.Catalog, zh bool) string {
	var b strings.Builder
	if zh {
		b.WriteString("| 接口 | 内容 | 参数 |\n|---|---|---|\n")
	} else {
		b.WriteString("| endpoint | what it is | parameters |\n|---|---|---|\n")
	}
	for _, e := range set.Endpoints {
		var params []string
		for _, p := range e.Params {
			switch {
			case p.Derived():
			case p.Required:
				params = append(params, "**`"+p.Name+"`**")
			default:
				params = append(params, "`"+p.Name+"`")
			}
		}
		title := e.Title.EN()
		if zh {
			title = e.Title.ZH()
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Name, title, strings.Join(params, " "))
	}
	return b.String()
}

// variableTable lists what only an operator can give, as Markdown.
func variableTable(set *catalog.Catalog, zh bool) string {
	head, toChinese := "| variable | what | where to get it | without it |", strings.NewReplacer()
	if zh {
		head = "| 变量 | 用途 | 申请地址 | 没有它时 |"
		toChinese = strings.NewReplacer("(free)", "（免费）", "(paid)", "（收费）", "(own)", "（自建）")
	}
	var b strings.Builder
	b.WriteString(head + "\n|---|---|---|---|\n")
	for _, v := range set.Variables() {
		about, without := v.EN, consequence(&v).EN()
		if zh {
			about, without = v.ZH, consequence(&v).ZH()
		}
		fmt.Fprintf(&b, "| `%s` | %s<br>`%s` | %s %s | %s |\n", v.Name, about, v.Example, v.From, toChinese.Replace("("+v.Cost+")"), without)
	}
	return b.String()
}

var (
	codeBlock = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")
	heading   = regexp.MustCompile(`(?m)^(#+) .*$`)
	remark    = regexp.MustCompile(`\s+# .*`)
	figures   = regexp.MustCompile(`[0-9][0-9.,]*`)
	quoted    = regexp.MustCompile("`[^`\n]+`")
)

// TestREADMELanguagesAreEqual: the same sections, commands, tables and figures. What
// one tells, the other does.
func TestREADMELanguagesAreEqual(t *testing.T) {
	t.Parallel()
	for _, pages := range [][2]string{readmes, proxyPages} {
		en, zh := shape(readFile(t, pages[0])), shape(readFile(t, pages[1]))
		if diff := cmp.Diff(strings.Join(en, "\n"), strings.Join(zh, "\n")); diff != "" {
			t.Errorf("%s: the languages differ (-en +zh):\n%s", pages[0], diff)
		}
	}
}

// shape is what a page has apart from its words.
func shape(text string) []string {
	var out []string
	for _, m := range codeBlock.FindAllStringSubmatch(text, -1) {
		code := remark.ReplaceAllString(m[2], "")
		if m[1] == "mermaid" { // its labels are words
			code = strings.Join(regexp.MustCompile(`^|-->|-\.->`).FindAllString(code, -1), " ")
		}
		out = append(out, m[1]+":\n"+code)
	}
	text = codeBlock.ReplaceAllString(text, "")
	section := ""
	for line := range strings.Lines(text) {
		switch {
		case heading.MatchString(line):
			section = heading.FindStringSubmatch(line)[1]
			out = append(out, section)
		case strings.HasPrefix(strings.TrimSpace(line), "|"):
			cells := strings.Split(line, "|")
			code, rest := "", ""
			if first := quoted.FindString(cells[1]); first != "" {
				code = first
			}
			if last := cells[len(cells)-2]; !strings.ContainsAny(last, "`") {
				rest = strings.Join(figures.FindAllString(last, -1), " ")
			}
			out = append(out, section+" row "+code+" "+rest)
		}
	}
	return out
}

// TestREADMEFiguresAreMeasured: those that it repeats are those of the last run.
func TestREADMEFiguresAreMeasured(t *testing.T) {
	t.Parallel()
	bench := readFile(t, "../../deploy/bench/README.md")
	costs := regexp.MustCompile("(?m)^\\| hit, 1 kB \\(`60s`\\) \\| (\\S+) \\| (\\S+) \\| (\\S+) \\| (\\S+) \\| (\\S+) \\|").FindStringSubmatch(bench)
	miss := regexp.MustCompile("(?m)^\\| miss, 1 kB, to `httputil.ReverseProxy` \\| (\\S+) ").FindStringSubmatch(bench)
	tail := regexp.MustCompile(`(?m)^\| p99 at 5,000 requests a second, to nginx \| (\S+) `).FindStringSubmatch(bench)
	slow := regexp.MustCompile(`(?m)^\| p99 \| (\S+) \| \S+ \| \S+ \| \S+ \| (\S+) \|`).FindStringSubmatch(bench)
	if costs == nil || miss == nil || tail == nil || slow == nil {
		t.Fatal("the figures of deploy/bench/README.md have another form")
	}
	for _, file := range readmes {
		text := readFile(t, file)
		for name, want := range map[string]string{"Sundry": costs[1], "nginx": costs[4], "Varnish": costs[5]} {
			if !strings.Contains(text, "\n| "+name+" | "+want+" |\n") {
				t.Errorf("%s: %s costs %s", file, name, want)
			}
		}
		for name, want := range map[string]string{"`net/http`": costs[3], "HTTP/2": costs[2]} {
			if !regexp.MustCompile("\n\\|[^|\n]*" + name + "[^|\n]*\\| " + regexp.QuoteMeta(want) + " \\|\n").MatchString(text) {
				t.Errorf("%s: %s costs %s", file, name, want)
			}
		}
		for _, want := range []string{miss[1], tail[1], slow[1] + " µs", slow[2]} {
			if !regexp.MustCompile(" " + regexp.QuoteMeta(want) + "\\b").MatchString(text) {
				t.Errorf("%s does not have %s", file, want)
			}
		}
	}
}

var relativeLink = regexp.MustCompile(`(?:\]\(|src="|srcset="|href=")([^):"#]+)(#[^)"]*)?[)"]`)

// TestREADMESaysWhomToTellOfHoles: as security.txt does, which is there with a contact alone.
func TestREADMESaysWhomToTellOfHoles(t *testing.T) {
	t.Parallel()
	for _, file := range readmes {
		_, rest, _ := strings.Cut(readFile(t, file), "(deploy/security.md)")
		section, _, _ := strings.Cut(rest, "\n## ")
		if !strings.Contains(section, "`/.well-known/security.txt`") || !strings.Contains(section, "`SUNDRY_CONTACT`") {
			t.Errorf("%s: %s", file, section)
		}
	}
	p := serve(t, "--replay")
	if status, _, _, err := get(p.public + "/.well-known/security.txt"); err != nil || status != http.StatusNotFound {
		t.Errorf("without a contact: %d %v", status, err)
	}
	p = serveWith(t, map[string]string{"SUNDRY_CONTACT": "security@example.org"}, "--replay")
	status, _, body, err := get(p.public + "/.well-known/security.txt")
	if err != nil || status != http.StatusOK || !strings.Contains(body, "Contact: mailto:security@example.org\n") || !strings.Contains(body, "Preferred-Languages: zh, en\n") {
		t.Errorf("%d %q %v", status, body, err)
	}
}

// TestREADMELinksLeadSomewhere: those to files of the repository.
func TestREADMELinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, file := range []string{readmes[0], readmes[1], "../../deploy/settings.md", "../../deploy/settings.zh-CN.md",
		"../../deploy/endpoint-guide.md", "../../deploy/endpoint-guide.zh-CN.md", "../../deploy/glossary.zh-CN.md", proxyPages[0], proxyPages[1],
		"../../deploy/mcp.md", "../../deploy/mcp.zh-CN.md"} {
		links := relativeLink.FindAllStringSubmatch(readFile(t, file), -1)
		if len(links) == 0 {
			t.Errorf("%s: no links", file)
		}
		for _, m := range links {
			if u, err := url.Parse(m[1]); err != nil || u.Scheme != "" {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// TestREADMECommandsAreAll that the program has, each in a row.
func TestREADMECommandsAreAll(t *testing.T) {
	t.Parallel()
	parser, _, err := newParser(processOf(t, nil), &cli{})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(namesOf(commands(parser.Model.Node), i18n.English), ", ")
	for _, file := range readmes {
		var got []string
		for _, m := range regexp.MustCompile("(?m)^\\| `sundry (\\w+)` \\|").FindAllStringSubmatch(readFile(t, file), -1) {
			got = append(got, m[1])
		}
		if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestREADMEFirstAnswers are those of the service.
func TestREADMEFirstAnswers(t *testing.T) {
	t.Parallel()
	p := serve(t, "--replay")
	block := blockWith(t, "$ curl ")
	commands := regexp.MustCompile(`(?m)^\$ curl (?:-o \S+ )?'http://localhost:8080([^']+)'\n`).FindAllStringSubmatchIndex(block, -1)
	if len(commands) < 3 {
		t.Fatal(block)
	}
	for i, at := range commands {
		end := len(block)
		if i+1 < len(commands) {
			end = commands[i+1][0]
		}
		path, want := block[at[2]:at[3]], strings.TrimSpace(block[at[1]:end])
		_, header, got, err := get(p.public + path)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" { // goes into a file
			if header.Get("Content-Type") != "image/png" {
				t.Errorf("%s is %s", path, header.Get("Content-Type"))
			}
			continue
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*")
		pattern = regexp.MustCompile(`"request_id":"\w+"`).ReplaceAllString(pattern, `"request_id":"\w+"`)
		if !regexp.MustCompile(`(?s)^` + pattern + `\s*$`).MatchString(got) {
			t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
		}
	}
}

// blockWith is the first block of code of the README that has a text.
func blockWith(t *testing.T, text string) string {
	t.Helper()
	for _, m := range codeBlock.FindAllStringSubmatch(readFile(t, readmes[0]), -1) {
		if strings.Contains(m[2], text) {
			return m[2]
		}
	}
	t.Fatalf("no block of code has %q", text)
	return ""
}

// TestREADMEsOwnEndpoint is drafted and answers, by the commands as they are written.
func TestREADMEsOwnEndpoint(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir+"/bin", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, dir+"/bin/sundry"); err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(blockWith(t, "sundry new joke"), "bin/sundry serve")
	cmd := exec.CommandContext(t.Context(), bash, "-ec", before)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asProgram+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "There are 10 kinds of people.") || !strings.Contains(string(out), "verdict          success") {
		t.Fatalf("%v\n%s", err, out)
	}
	write(t, dir+"/catalog", "joke2.yaml", blockWith(t, "name: joke2"))
	if _, errs, err := call(t, nil, "check", "--catalog", dir+"/catalog"); err != nil {
		t.Error(err, errs)
	}
	p := serve(t, "--replay", "--catalog", dir+"/catalog")
	if _, body := mustGet(t, p.public+"/api/joke?type=text"); !strings.Contains(body, "There are 10 kinds of people.") {
		t.Error(body)
	}
}

// TestREADMEsAPI is answered and purged by the commands as they are written, but for the ports, and for who serves the file.
func TestREADMEsAPI(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	dir := t.TempDir()
	run := func(command string) string {
		cmd := exec.CommandContext(t.Context(), bash, "-ec", command)
		cmd.Dir = dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		return strings.ReplaceAll(string(out), "\r", "")
	}
	file, serving, _ := strings.Cut(blockWith(t, "> hello.json"), "\n")
	if !strings.Contains(serving, "python3 -m http.server -b 127.0.0.1 3000 &\n") || !strings.Contains(serving, "serve --to http://localhost:3000 --ttl 1m\n") {
		t.Fatal(serving)
	}
	run(file)
	origin := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(origin.Close)
	p := serve(t, "--to", origin.URL, "--ttl", "1m")
	ports := strings.NewReplacer("http://localhost:8080", p.public, "http://localhost:9090", p.admin)
	steps := strings.Split(blockWith(t, "-X PURGE"), "$ ")[1:]
	if len(steps) != 4 {
		t.Fatalf("%q", steps)
	}
	for _, step := range steps {
		command, want, _ := strings.Cut(step, "\n")
		pattern := strings.NewReplacer("…", ".*", "ttl=59", `ttl=\d+`).Replace(regexp.QuoteMeta(strings.TrimSpace(want)))
		if got := run(ports.Replace(command)); !regexp.MustCompile(`^` + pattern + `\s*$`).MatchString(got) {
			t.Errorf("%s:\n%s\nwant\n%s", command, got, want)
		}
	}
}

// TestFilesOfAPIsInDocumentsPassTheCheck: those of the README and of its page.
func TestFilesOfAPIsInDocumentsPassTheCheck(t *testing.T) {
	t.Parallel()
	for _, page := range []string{readmes[0], proxyPages[0], proxyPages[1]} {
		_, after, _ := strings.Cut(readFile(t, page), "```yaml\nversion: 1\nname: weather\n")
		file, _, _ := strings.Cut(after, "```")
		dir := t.TempDir()
		write(t, dir, "weather.yaml", "version: 1\nname: weather\n"+file)
		if _, errs, err := call(t, nil, "check", "--catalog", dir); err != nil || !strings.Contains(file, "proxy:\n") {
			t.Errorf("%s: %v\n%s%s", page, err, file, errs)
		}
	}
}
