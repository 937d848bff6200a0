package sharelink

import (
	"net/url"
	"regexp"
	"strings"
)

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
	// parameter's form. id is "$1" where it is not given. Groups with names are in Extra as well.
	id, kind, url string
	// with is what a parameter adds to the link if it has the form; nil for nothing.
	with *addition
	// lower: what the link is made of is written in lower case.
	lower bool
	short bool
	// none: what fits is no post, whatever the rules after this one say.
	none bool

	pattern *regexp.Regexp // of path
}

// addition is a parameter that the URL of the link has as well, and its name in Extra.
type addition struct {
	param string
	form  *regexp.Regexp
	name  string
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
				return l, !rules[i].none
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
	if r.lower {
		l.ID, l.URL = strings.ToLower(l.ID), strings.ToLower(l.URL)
	}
	for i, name := range form.SubexpNames() {
		if name != "" {
			l.Extra = map[string]string{name: text[found[2*i]:found[2*i+1]]}
		}
	}
	if r.with != nil {
		l.add(a, *r.with)
	}
	return l, true
}

// add adds a parameter, if the address has it in its form.
func (l *Link) add(a address, one addition) {
	if v := a.get(one.param, one.form); v != "" {
		l.URL += "?" + one.param + "=" + url.QueryEscape(v)
		l.Extra = map[string]string{one.name: v}
	}
}
