package admin

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	source "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

var update = flag.Bool("update", false, "write the page of the runbook anew")

// manual is the runbook in one language.
type manual struct {
	file, golden          string
	lang, title           string
	console, sections     string // how its page names the console, and the list of its sections
	beforeFile, afterFile string // around the name of a file that is not served
}

func manuals() (english, chinese manual) {
	return manual{"runbook.md", "runbook.html", "en", "Sundry runbook", "Sundry console", "Sections", " (deploy/", ")"},
		manual{"runbook.zh-CN.md", "runbook.zh.html", "zh-CN", "Sundry 运维手册", "Sundry 控制台", "目录", "（deploy/", "）"}
}

// TestGoldenRunbook: the pages that the console links to are the runbook of the repository, and
// each link within them leads somewhere.
func TestGoldenRunbook(t *testing.T) {
	english, chinese := manuals()
	ids := headings(runbookPage(t, english, english.read(t), nil))
	checkGolden(t, english, runbookPage(t, english, english.read(t), nil))
	checkGolden(t, chinese, runbookPage(t, chinese, chinese.read(t), ids))
}

func (m manual) read(t *testing.T) string {
	t.Helper()
	file, err := os.ReadFile("../../deploy/" + m.file)
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

func checkGolden(t *testing.T, m manual, page string) {
	t.Helper()
	golden := "console/" + m.golden
	if *update {
		if err := os.WriteFile(golden, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if have, err := os.ReadFile(golden); err != nil || string(have) != page {
		t.Errorf("%s is not what deploy/%s says (%v): make golden", golden, m.file, err)
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if strings.Count(page, `id="`+m[1]+`"`) != 1 {
			t.Errorf("%s: a link leads to #%s, which is not there once", golden, m[1])
		}
	}
	if left := regexp.MustCompile("\\*\\*|`|\\]\\(|<p>[|#]").FindString(page); left != "" {
		t.Errorf("%s: %q is still Markdown", golden, left)
	}
}

// TestTheRunbookIsTheSameInBothLanguages: as many items and rows in each section, and the same
// links, and what is to be typed or looked for.
func TestTheRunbookIsTheSameInBothLanguages(t *testing.T) {
	english, chinese := manuals()
	inEnglish, inChinese := strings.Split(english.read(t), "\n#"), strings.Split(chinese.read(t), "\n#")
	if len(inEnglish) != len(inChinese) {
		t.Fatalf("%d sections in English, %d in Chinese", len(inEnglish), len(inChinese))
	}
	for i, en := range inEnglish {
		title, _, _ := strings.Cut(en, "\n")
		for what, pattern := range map[string]string{"items": `(?m)^(- |\d\. )`, "rows": `(?m)^\|`, "parts": `(?m)^\*\*`} {
			if w, g := len(matches(en, pattern)), len(matches(inChinese[i], pattern)); w != g {
				t.Errorf("%s: %d %s in English, %d in Chinese", title, w, what, g)
			}
		}
		for what, pattern := range map[string]string{"alerts": `\(#sundry\w+\)`, "pages": `\w+\.md#[\w-]+`, "code": "`[^`]+`"} {
			if w, g := set(matches(en, pattern)), set(matches(inChinese[i], pattern)); !slices.Equal(w, g) {
				t.Errorf("%s: %s in English %q, in Chinese %q", title, what, w, g)
			}
		}
	}
}

// TestTheHeadingsOfTheRunbookAreTheSameInBothLanguages: of the same level, and each alert in the
// same place, since the Chinese page takes the ids of the English one by position.
func TestTheHeadingsOfTheRunbookAreTheSameInBothLanguages(t *testing.T) {
	english, chinese := manuals()
	const heading = `(?m)^#+ (Sundry\w+$)?`
	if w, g := matches(english.read(t), heading), matches(chinese.read(t), heading); !slices.Equal(w, g) {
		t.Errorf("headings in English %q, in Chinese %q", w, g)
	}
}

func matches(text, pattern string) []string {
	return regexp.MustCompile(pattern).FindAllString(text, -1)
}

// set has each of the texts once, in order. One that names what is to be put in, as in
// <endpoint>, does so in the language.
func set(texts []string) []string {
	texts = slices.DeleteFunc(texts, func(s string) bool { return strings.Contains(s, "<") })
	slices.Sort(texts)
	return slices.Compact(texts)
}

// TestTheRunbookIsOnePage: one title, and no link to a file that is not served.
func TestTheRunbookIsOnePage(t *testing.T) {
	english, _ := manuals()
	for markdown, want := range map[string]string{
		"# One\n\n# Two\n\n## TwoThree":    "<h1 id=\"one\">One</h1>\n<h2 id=\"two\">Two</h2>\n<h3 id=\"twothree\">TwoThree</h3>\n",
		"[c *d*](#e) and [f `g`](h.md#i).": "<p><a href=\"#e\">c <em>d</em></a> and f <code>g</code> (deploy/h.md#i).</p>\n",
		"| a |\n|---|\n| <b> |":            "<table>\n<thead>\n<tr>\n<th scope=\"col\">a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td><!-- raw HTML omitted --></td>\n</tr>\n</tbody>\n</table>\n",
	} {
		if got := sections(t, english, markdown, nil); got != want {
			t.Errorf("%q: got\n%s\nwant\n%s", markdown, got, want)
		}
	}
}

const runbookFrame = `<!DOCTYPE html>
<html lang="%s">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="console.css">
</head>
<body class="runbook">
<header><div class="name"><img src="icon.svg" alt="" width="32" height="32"><a href="./">%s</a></div></header>
<main>
%s</main>
</body>
</html>
`

// runbookPage is the runbook as HTML, with its sections listed after its introduction. The ids are
// those of its headings; nil: as they are called.
func runbookPage(t *testing.T, m manual, markdown string, ids []string) string {
	t.Helper()
	body := sections(t, m, markdown, ids)
	var list strings.Builder
	for _, m := range regexp.MustCompile(`<h[23] id="([^"]+)">([^<]+)</h([23])>`).FindAllStringSubmatch(body, -1) {
		if m[3] == "2" {
			fmt.Fprintf(&list, "<li class=\"part\"><a href=\"#%s\">%s</a></li>\n", m[1], m[2])
			continue
		}
		fmt.Fprintf(&list, "<li><a href=\"#%s\">%s</a></li>\n", m[1], m[2])
	}
	intro, rest, _ := strings.Cut(body, "<h2 ")
	return fmt.Sprintf(runbookFrame, m.lang, m.title, m.console, intro+"<nav aria-label=\""+m.sections+"\"><ul>\n"+list.String()+"</ul></nav>\n<h2 "+rest)
}

// headings are the ids of a page, in order.
func headings(page string) []string {
	var ids []string
	for _, m := range regexp.MustCompile(`<h\d id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// runbookMarkdown reads the Markdown of the runbook. Its anchors are those of repository hosts, as
// far as these are in English.
func runbookMarkdown(m manual, ids []string) goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(onePage{m, ids}, 0))))
}

// onePage fits a file among others into a page of its own.
type onePage struct {
	manual
	ids []string // of the headings; nil: as they are called
}

// Transform makes the first heading the one title, and names the files that are not served.
func (p onePage) Transform(doc *ast.Document, text source.Reader, _ parser.Context) {
	headings, links := collect(doc)
	byAnchor := map[string]string{}
	for i, h := range headings {
		if i > 0 {
			h.Level++
		}
		if p.ids != nil && i < len(p.ids) {
			h.SetAttributeString("id", []byte(p.ids[i]))
			byAnchor["#"+anchor(string(h.Lines().Value(text.Source())))] = "#" + p.ids[i]
		}
	}
	for _, link := range links {
		switch to := string(link.Destination); {
		case byAnchor[to] != "":
			link.Destination = []byte(byAnchor[to])
		case to == "runbook.md":
			link.Destination = []byte("runbook.html")
		case to == "runbook.zh-CN.md":
			link.Destination = []byte("runbook.zh.html")
		case !strings.HasPrefix(to, "#"):
			p.nameFile(link)
		}
	}
}

// anchor is what repository hosts make of a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.ToLower(heading), " ", "-")
}

func collect(doc *ast.Document) (headings []*ast.Heading, links []*ast.Link) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it makes no error
		if h, ok := n.(*ast.Heading); ok && entering {
			headings = append(headings, h)
		}
		if l, ok := n.(*ast.Link); ok && entering {
			links = append(links, l)
		}
		return ast.WalkContinue, nil
	})
	return headings, links
}

// nameFile puts the name of a file in the place of a link to it.
func (p onePage) nameFile(link *ast.Link) {
	parent, name := link.Parent(), ast.NewString([]byte(p.beforeFile+string(link.Destination)+p.afterFile))
	parent.InsertAfter(parent, link, name)
	for link.FirstChild() != nil {
		parent.InsertBefore(parent, link, link.FirstChild())
	}
	parent.RemoveChild(parent, link)
}

// sections makes HTML of the runbook's Markdown.
func sections(t *testing.T, m manual, markdown string, ids []string) string {
	t.Helper()
	var out strings.Builder
	if err := runbookMarkdown(m, ids).Convert([]byte(markdown), &out); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), "<th>", `<th scope="col">`)
}
