package openapi

import (
	"net/url"
	"slices"
	"strings"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/plainjson"
)

// parameter is one of the query.
type parameter struct {
	Name        string           `json:"name"`
	In          string           `json:"in"`
	Description string           `json:"description"`
	Required    bool             `json:"required"`
	Schema      plainjson.Object `json:"schema"`
	Examples    plainjson.Object `json:"examples,omitempty"`
	// Personal marks what is personal data.
	Personal bool `json:"x-personal,omitempty"`
}

// example is one of several.
type example struct {
	Summary string `json:"summary"`
	Value   any    `json:"value"`
}

// parameters describes the query, without hidden parameters.
func (o *operation) parameters() []any {
	out := []any{}
	for _, p := range o.Params {
		if !p.Derived() {
			out = append(out, o.parameter(p))
		}
	}
	if !slices.ContainsFunc(o.Params, func(p *catalog.Param) bool { return p.Name == i18n.Parameter }) {
		out = append(out, ref("parameters", i18n.Parameter))
	}
	return out
}

func (o *operation) parameter(p *catalog.Param) parameter {
	return parameter{
		Name: p.Name, In: "query", Description: o.about(p), Required: p.Required, Personal: p.Personal,
		Schema: apidoc.Schema(o.Endpoint, p, o.Language), Examples: o.examplesOf(p),
	}
}

// about says what a parameter is for and, where its values have names, what they mean.
func (o *operation) about(p *catalog.Param) string {
	text := o.Say(p.EN, p.ZH)
	if p.Personal {
		text = strings.TrimSpace(text + o.Say(" Personal data: it is not logged, and caches hold a hash of it.", "（个人信息：不写入日志，缓存中只保存其哈希。）"))
	}
	for i, c := range p.Choices {
		if i == 0 {
			text += "\n"
		}
		text += "\n- `" + c.Value + "`" + o.Say(": "+c.EN, "："+c.ZH)
	}
	return strings.TrimSpace(text)
}

// examplesOf are the parameter's values in the example calls.
func (o *operation) examplesOf(p *catalog.Param) plainjson.Object {
	var out plainjson.Object
	var seen []string
	for _, c := range fixtures.Calls(o.Endpoint) {
		values, err := url.ParseQuery(c.Query)
		v := values.Get(p.Name)
		if err != nil || v == "" || slices.Contains(seen, v) {
			continue
		}
		seen = append(seen, v)
		out = append(out, plainjson.Member{Name: exampleName(c.EN, out), Value: example{o.Say(c.EN, c.ZH), apidoc.Value(p, v)}})
	}
	if len(out) == 0 {
		out = plainjson.Object{{Name: "example", Value: example{o.Say("A value", "示例值"), apidoc.Value(p, p.Example)}}}
	}
	return out
}
