package scaffold

import (
	"fmt"
	"slices"
	"strings"
)

// file is the text of the catalog file.
func file(c *Call, d *Draft, r *reply) string {
	var b strings.Builder
	host := c.Address.url.Host
	fmt.Fprintf(&b, "# yaml-language-server: $schema=sundry.schema.json\n# A draft, made of one reply: read it, and mend names, descriptions and rules.\nversion: 1\nname: %s\ngroup: %s\n",
		c.Name, group(r, c.Address))
	fmt.Fprintf(&b, "summary:\n  en: %s\n  zh: %s\n\n", quote("What "+host+" answers."), quote(host+" 的答案。"))
	writeParams(&b, c.Address, r)
	writeDefs(&b, r.mapping)
	class := "shared"
	if len(c.Address.params) > 0 {
		class = "keyed"
	}
	fmt.Fprintf(&b, "cache: {class: %s, ttl: 10m, grace: 1h, stale_if_error: 1d, negative: 1m}\n\n", class)
	writeForms(&b, r)
	writeSource(&b, c, d, r)
	return b.String()
}

// group is the built-in group that the endpoint fits best.
func group(r *reply, a *Address) string {
	switch {
	case r.decode == "image":
		return "images"
	case len(a.params) > 0:
		return "lookups"
	}
	return "text"
}

func writeParams(b *strings.Builder, a *Address, r *reply) {
	if len(a.params) == 0 && r.mapping == nil {
		return
	}
	b.WriteString("params:\n")
	for _, p := range a.params {
		b.WriteString(p.declaration())
	}
	if r.mapping != nil {
		b.WriteString("  - {name: type, role: form, example: text, summary: {en: Format of the answer., zh: 返回格式。}}\n")
	}
	b.WriteString("\n")
}

func writeDefs(b *strings.Builder, m *mapping) {
	if m == nil || !m.parts && !m.labels() {
		return
	}
	b.WriteString("defs:\n")
	if m.parts {
		b.WriteString("  # An object that may be missing.\n  part(f): if type == \"object\" then f else null end\n")
	}
	if m.labels() {
		b.WriteString("  line($label; v): 'v | if . == null or . == \"\" then empty else \"\\($label)：\\(.)\" end'\n")
	}
	b.WriteString("\n")
}

// labels reports whether the text of an answer has lines with labels.
func (m *mapping) labels() bool {
	return slices.ContainsFunc(m.fields, func(f field) bool { return !f.list && len(f.fields) == 0 })
}

func writeForms(b *strings.Builder, r *reply) {
	if r.mapping == nil {
		b.WriteString("forms:\n  - {name: image, picture: source}\n\n")
		return
	}
	if len(r.mapping.fields) > 0 {
		b.WriteString("fields:\n")
		writeFields(b, r.mapping.fields, "  ")
		b.WriteString("\n")
	}
	b.WriteString("forms:\n  - {name: json, json: .}\n  - name: text\n    text: |\n")
	fmt.Fprintf(b, "      [%s] | join(\"\\n\")\n\n", strings.Join(lines(r.mapping.fields), ",\n       "))
}

func writeFields(b *strings.Builder, fields []field, indent string) {
	for _, f := range fields {
		en, zh := describe(f.name)
		is := ""
		if f.is != "" {
			is = "is: " + f.is + ", "
		}
		demand := f.demand()
		if len(f.fields) == 0 {
			is += demand
			fmt.Fprintf(b, "%s%s: {%sen: %s, zh: %s}\n", indent, f.name, is, quote(en), quote(zh))
			continue
		}
		fmt.Fprintf(b, "%s%s:\n", indent, f.name)
		if demand != "" {
			fmt.Fprintf(b, "%s  %s\n", indent, strings.TrimSuffix(demand, ", "))
		}
		fmt.Fprintf(b, "%s  en: %s\n%s  zh: %s\n%s  fields:\n", indent, quote(en), indent, quote(zh), indent)
		writeFields(b, f.fields, indent+"    ")
	}
}

// demand is what the field must hold, as a catalog file has it.
func (f *field) demand() string {
	switch {
	case f.must:
		return "must: true, "
	case f.atLeast > 0:
		return fmt.Sprintf("at_least: %d, ", f.atLeast)
	case f.counts != "":
		return "counts: " + f.counts + ", "
	}
	return ""
}

// lines are the programs of the lines of a text: each plain field with its label, and
// the first of each item of a list.
func lines(fields []field) []string {
	var out []string
	for _, f := range fields {
		_, zh := describe(f.name)
		label := quote(strings.TrimSuffix(zh, "。"))
		switch {
		case f.list && len(f.fields) > 0:
			out = append(out, "(."+f.name+"[]? | ."+headline(f.fields)+" // empty | tostring)")
		case f.list:
			out = append(out, "(."+f.name+"[]? | tostring)")
		case len(f.fields) == 0:
			out = append(out, "line("+label+"; ."+f.name+")")
		}
	}
	if out == nil {
		out = append(out, "tojson")
	}
	return out
}

// headline is the field that says most of an item.
func headline(fields []field) string {
	if i := said(fields); i >= 0 {
		return fields[i].name
	}
	return fields[0].name
}

func writeSource(b *strings.Builder, c *Call, d *Draft, r *reply) {
	a := c.Address
	fmt.Fprintf(b, "sources:\n  - name: %s\n    timeout: 8s\n", d.Source)
	var secrets, query []string
	for _, p := range a.secret {
		secrets = append(secrets, p.name+": "+p.variable)
		if p.query != "" {
			query = append(query, quote(p.query)+": "+quote("{"+p.name+"}"))
		}
	}
	for _, p := range a.params {
		if p.query != "" {
			query = append(query, quote(p.query)+": "+quote("{"+p.name+"}"))
		}
	}
	for _, f := range a.fixed {
		query = append(query, quote(f[0])+": "+quote(f[1]))
	}
	if secrets != nil {
		fmt.Fprintf(b, "    secrets: {%s}\n", strings.Join(secrets, ", "))
	}
	fmt.Fprintf(b, "    http:\n      url: %s\n", quote(a.url.Scheme+"://"+a.url.Host+a.path))
	if query != nil {
		fmt.Fprintf(b, "      query: {%s}\n", strings.Join(query, ", "))
	}
	if a.sends != nil {
		fmt.Fprintf(b, "      json: |\n        %s\n", a.sends.program("", a.sends.value, "        "))
	}
	if c.Host != "" && c.Host != a.url.Host {
		fmt.Fprintf(b, "      hosts: [%s]\n", quote(c.Host))
	}
	if r.decode != "" {
		fmt.Fprintf(b, "      decode: %s\n", r.decode)
	}
	if r.charset != "" {
		fmt.Fprintf(b, "      charset: %s\n", r.charset)
	}
	for _, line := range r.section {
		b.WriteString("      " + line + "\n")
	}
	if len(r.rules) > 0 {
		b.WriteString("    judge:\n")
		for _, rule := range r.rules {
			b.WriteString("      - " + rule + "\n")
		}
	}
	if r.mapping != nil {
		b.WriteString("    map: |\n      " + strings.ReplaceAll(r.mapping.program, "\n", "\n      ") + "\n")
	}
}
