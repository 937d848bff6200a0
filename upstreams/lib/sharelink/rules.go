package sharelink

import "regexp"

// rule recognizes one form of a platform's links: by the path, or by a parameter.
type rule struct {
	// host that it is for. Where a platform has rules for a host, only those count there; ""
	// is for all other hosts.
	host string
	// path is the pattern of the whole path; "" for any.
	path string
	// param has the id, in a form; "": the path has it.
	param string
	form  *regexp.Regexp
	// id, kind and url are those of the link, with $1 for the first group of the path or of the
	// parameter's form. id is "$1" where it is not given.
	id, kind, url string
	// extra names $1 in the link's Extra; "" for none.
	extra string
	short bool

	pattern *regexp.Regexp // of path
}

// by recognizes links by rules, of which the first that fits counts.
func by(rules ...rule) func(address) (Link, bool) {
	named := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		named[r.host] = true
		r.pattern = regexp.MustCompile(r.path)
		if r.id == "" {
			r.id = "$1"
		}
	}
	return func(a address) (Link, bool) {
		host := ""
		if named[a.host] {
			host = a.host
		}
		for i := range rules {
			if rules[i].host != host {
				continue
			}
			if l, ok := rules[i].link(a); ok {
				return l, true
			}
		}
		return Link{}, false
	}
}

// link is that of an address, if the rule fits.
func (r *rule) link(a address) (Link, bool) {
	form, text := r.pattern, a.path
	if r.param != "" {
		if !r.pattern.MatchString(a.path) {
			return Link{}, false
		}
		form, text = r.form, a.query.Get(r.param)
	}
	found := form.FindStringSubmatchIndex(text)
	if found == nil {
		return Link{}, false
	}
	expand := func(template string) string { return string(form.ExpandString(nil, template, text, found)) }
	l := Link{URL: expand(r.url), Kind: expand(r.kind), Short: r.short}
	if !r.short {
		l.ID = expand(r.id)
	}
	if r.extra != "" {
		l.Extra = map[string]string{r.extra: expand("$1")}
	}
	return l, true
}
