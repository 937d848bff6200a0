package pages

import (
	"embed"
	"strings"
	"text/template"

	"sundry/proxy/site/apidoc"
	"sundry/upstreams/catalog"
)

// snippet is the template of a call in one programming language. The page's script fills
// it in as fill does, whenever the form changes. Its texts hold %url%, the address
// without a query; Each also holds %name% and %value%, or %pair%, of a parameter.
// Quote says how they are written.
type snippet struct {
	// Bare is the call without parameters.
	Bare string `json:"bare"`
	// Before, Each with Between, and After make the call with parameters.
	Before  string `json:"before"`
	Each    string `json:"each"`
	Between string `json:"between"`
	After   string `json:"after"`
	// Quote is shell, php, or json, whose literals JavaScript, Python and Go share.
	Quote string `json:"quote"`
}

//go:embed snippets
var snippetFiles embed.FS

// programming is a language in which calls are shown.
type programming struct {
	ID, Title string
	quote     string // see snippet.Quote
	calls     *template.Template
}

// programmings are all, each with the file in the folder snippets that has its calls.
func programmings() []programming {
	all := []programming{
		{ID: "curl", Title: "curl", quote: "shell"}, {ID: "javascript", Title: "JavaScript", quote: "json"},
		{ID: "python", Title: "Python", quote: "json"}, {ID: "go", Title: "Go", quote: "json"}, {ID: "php", Title: "PHP", quote: "php"},
	}
	for i := range all {
		all[i].calls = template.Must(template.ParseFS(snippetFiles, "snippets/"+all[i].ID+".tmpl"))
	}
	return all
}

// of is the snippet for a shape. file is where a picture goes.
func (p *programming) of(what apidoc.Shape, file string) snippet {
	s := snippet{Bare: p.call(what, file, false), Quote: p.quote}
	var rest string
	s.Before, rest, _ = strings.Cut(p.call(what, file, true), "%each%")
	s.Each, s.After, _ = strings.Cut(rest, "%after%")
	s.Each, s.Between, _ = strings.Cut(s.Each, "%between%")
	return s
}

func (p *programming) call(what apidoc.Shape, file string, query bool) string {
	var b strings.Builder
	picture := what == apidoc.Picture || what == apidoc.SVG
	err := p.calls.Execute(&b, struct {
		Shape          apidoc.Shape
		File           string
		Picture, Query bool
	}{what, file, picture, query})
	if err != nil {
		panic(err) // the files are embedded, and a test executes them all
	}
	return b.String()
}

// pair is a parameter with its value, in the order of the query.
type pair struct{ Name, Value string }

// fill writes the call.
func (s *snippet) fill(url string, pairs []pair) string {
	quote := quotes()[s.Quote]
	whole := strings.NewReplacer("%url%", quote(url))
	if len(pairs) == 0 {
		return whole.Replace(s.Bare)
	}
	each := make([]string, len(pairs))
	for i, p := range pairs {
		each[i] = strings.NewReplacer("%name%", quote(p.Name), "%value%", quote(p.Value), "%pair%", quote(p.Name+"="+p.Value)).Replace(s.Each)
	}
	return whole.Replace(s.Before) + strings.Join(each, s.Between) + whole.Replace(s.After)
}

// quotes write a text as a literal, by the name in snippet.Quote.
func quotes() map[string]func(string) string {
	return map[string]func(string) string{
		"shell": func(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" },
		"php":   func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" },
		"json": func(s string) string {
			literal, _ := asJSON(s) // a text can be written
			return strings.TrimSuffix(literal, "\n")
		},
	}
}

// snippetsOf are the templates for an endpoint, by language and shape.
func snippetsOf(e *catalog.Endpoint) map[string]map[apidoc.Shape]snippet {
	all := map[string]map[apidoc.Shape]snippet{}
	for _, p := range programmings() {
		all[p.ID] = map[apidoc.Shape]snippet{}
		for _, row := range formRows(0, e) {
			all[p.ID][row.Shape] = p.of(row.Shape, e.Name+extension(e, row.Shape))
		}
	}
	return all
}

// extension is that of the file in which a picture of the endpoint is kept. What a declared
// host delivers is mostly JPEG, all else PNG.
func extension(e *catalog.Endpoint, what apidoc.Shape) string {
	if what == apidoc.SVG {
		return ".svg"
	}
	for _, s := range e.Sources() {
		if s.Kind.Host != nil {
			return ".jpg"
		}
	}
	return ".png"
}
