package main

import (
	"fmt"
	"strings"

	"sundry/upstreams/catalog"
	"sundry/upstreams/recorded"
)

type docsCmd struct {
	flags
	Table string `arg:"" optional:"" enum:"endpoints,variables" default:"endpoints" help:"endpoints (default), or variables: what only an operator can give."`
}

// Run prints a table of the README.
func (d *docsCmd) Run(w *process) error {
	set, err := d.compile(w)
	if err != nil {
		return err
	}
	table := endpointTable
	if d.Table == "variables" {
		table = variableTable
	}
	_, err = fmt.Fprint(w.stdout, table(set))
	return err
}

// endpointTable lists endpoints, parameters, forms and an example, as
// Markdown.
func endpointTable(set *catalog.Catalog) string {
	var b strings.Builder
	b.WriteString("| endpoint | what | parameters | forms | example |\n|---|---|---|---|---|\n")
	for _, e := range set.Endpoints {
		var params []string
		for _, p := range e.Params {
			if p.Derived() {
				continue
			}
			name := "`" + p.Name + "`"
			if p.Required {
				name += " (required)"
			}
			params = append(params, name+": "+strings.ReplaceAll(p.Allowed, "|", "\\|"))
		}
		example := "/api/" + e.Name + "/index.php"
		if q := recorded.Calls(e)[0].Query; q != "" {
			example += "?" + q
		}
		fmt.Fprintf(&b, "| **%s** | %s<br>%s | %s | %s | `%s` |\n", e.Name, e.EN, e.ZH,
			strings.Join(params, "<br>"), strings.Join(e.FormNames(), ", "), example)
	}
	return b.String()
}
