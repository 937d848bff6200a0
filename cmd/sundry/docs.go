package main

import (
	"fmt"
	"strings"

	"sundry/upstreams/catalog"
)

type docsCmd struct {
	flags
	Lang  string `enum:"en,zh" default:"en" help:"Language of the endpoints: en (default) or zh." placeholder:"LANG"`
	Table string `arg:"" optional:"" enum:"endpoints,variables" default:"endpoints" help:"endpoints (default), or variables: what only an operator can give."`
}

// Run prints a table of the README or of deploy/settings.md.
func (d *docsCmd) Run(w *process) error {
	l, err := d.load(w, nil)
	defer l.close()
	if err != nil {
		return err
	}
	table := endpointTable(l.set, d.Lang == "zh")
	if d.Table == "variables" {
		table = variableTable(l.set)
	}
	_, err = fmt.Fprint(w.stdout, table)
	return err
}

// endpointTable lists endpoints, what they answer and their parameters, as Markdown that
// fits a phone.
func endpointTable(set *catalog.Catalog, zh bool) string {
	var b strings.Builder
	if zh {
		b.WriteString("| 接口 | 内容 | 参数 |\n|---|---|---|\n")
	} else {
		b.WriteString("| endpoint | answers | parameters |\n|---|---|---|\n")
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
		about := e.EN
		if zh {
			about = e.ZH
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Name, about, strings.Join(params, " "))
	}
	return b.String()
}
