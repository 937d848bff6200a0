// Package openapi describes the endpoints in OpenAPI 3.1, for generators of clients,
// for tools that try calls, and for linters. It promises that what it describes is what
// callers get. A description is in one language.
package openapi

import (
	"bytes"
	"cmp"
	_ "embed" // the document
	"encoding/json"
	"fmt"
	"strings"
	"text/template"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/lib/plainjson"
)

// Config of a document.
type Config struct {
	API *apidoc.API
	// PublicURL is the origin at which callers reach the service, such as
	// https://api.example.org. With "", the description has no links to the reference, since
	// those must be absolute (section 4.8.22 of OpenAPI 3.1), and no calls for a shell.
	PublicURL string
	// BasePath is the prefix of all paths, such as /tools; "" for none.
	BasePath string
	// Version of the program; "" where it is not known.
	Version string
	// Contact is an e-mail address, or the URL of a page; "" for none.
	Contact string
	// Errors are one of every type.
	Errors []apidoc.Error
	// Language of all descriptions.
	i18n.Language
}

// documentText is the document, without what is generated of the endpoints.
//
//go:embed document.tmpl
var documentText string

// New is the description of the endpoints, as JSON.
func New(cfg Config) ([]byte, error) {
	w := &writer{Config: cfg}
	var err error
	if w.template, err = template.New("document").Funcs(w.words()).Parse(documentText); err != nil {
		return nil, fmt.Errorf("template of the OpenAPI document: %w", err)
	}
	document := w.part("document", w.document())
	var b bytes.Buffer
	if w.err == nil {
		w.err = json.Compact(&b, document)
	}
	if w.err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", w.err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// writer writes a description.
type writer struct {
	Config
	template *template.Template
	err      error // the first one
}

// words are the functions of the template. What they return is JSON.
func (w *writer) words() template.FuncMap {
	return template.FuncMap{
		"say": func(en, zh string) string { return string(plainjson.AppendString(nil, w.Say(en, zh))) },
		"json": func(v any) (string, error) {
			b, err := plainjson.Marshal(v)
			return string(b), err
		},
		"ref":        func(kind, name string) string { return `{"$ref":"#/components/` + kind + "/" + name + `"}` },
		"errorTypes": w.errorTypes,
	}
}

// part is what a template makes, as JSON.
func (w *writer) part(name string, data any) json.RawMessage {
	var b bytes.Buffer
	if err := w.template.ExecuteTemplate(&b, name, data); err != nil && w.err == nil {
		w.err = err
	}
	return b.Bytes()
}

// document is what the template gets.
type document struct {
	Version, Server string
	Contact         plainjson.Object
	Docs            object // nil: nobody knows where they are
	Tags            []tag
	Paths, Schemas  plainjson.Object
	Responses       []errorResponse
	AsIs            string
}

// asIs names what is not described: the APIs that are passed on as they are.
func (w *writer) asIs() string {
	var names []string
	for _, a := range w.API.APIs {
		names = append(names, a.Name+" (`"+w.BasePath+"/docs/"+a.Name+"`)")
	}
	if names == nil {
		return ""
	}
	return "\n\n" + w.Say("Not described here, since they are passed on as they are: ", "以下 API 原样代理，不在此描述：") + strings.Join(names, ", ") + w.Say(".", "。")
}

func (w *writer) document() document {
	d := document{
		Version: cmp.Or(w.Version, "0.0.0"), Contact: w.contact(), Tags: w.tags(), Responses: w.errorResponses(),
		// Where clients send calls: to the origin that the description came from, unless the
		// settings name another.
		Server: cmp.Or(w.PublicURL+w.BasePath, "/"),
		AsIs:   w.asIs(),
		Docs:   w.docs("/docs", w.Say("The reference for people, with forms to try calls.", "供人阅读的参考文档，可在页面上试用。")),
	}
	for _, e := range w.API.Endpoints {
		o := &operation{writer: w, Endpoint: e, sample: w.API.SampleOf(e)}
		d.Paths = append(d.Paths, plainjson.Member{Name: "/api/" + e.Name, Value: object{"get": o.describe()}})
		d.Schemas = append(d.Schemas, o.schemas()...)
	}
	return d
}

// docs links a page of the reference for people; nil if the settings do not say where it is.
func (w *writer) docs(path, description string) object {
	if w.PublicURL == "" {
		return nil
	}
	return object{"url": w.PublicURL + w.BasePath + path, "description": description}
}

// contact is how to reach who runs the service, as far as the settings tell.
func (w *writer) contact() plainjson.Object {
	c := plainjson.Object{{Name: "name", Value: w.Say("The operator of this service", "本服务的运营者")}}
	switch {
	case w.Contact == "":
	case strings.Contains(w.Contact, "://"):
		c = append(c, plainjson.Member{Name: "url", Value: w.Contact})
	default:
		c = append(c, plainjson.Member{Name: "email", Value: strings.TrimPrefix(w.Contact, "mailto:")})
	}
	return c
}

// tag is a group of endpoints.
type tag struct {
	Name        string `json:"name"`
	Title       string `json:"x-displayName"`
	Description string `json:"description"`
}

func (w *writer) tags() []tag {
	var out []tag
	for _, g := range w.API.Groups {
		title := w.Say(g.EN, g.ZH)
		out = append(out, tag{g.Name, title, cmp.Or(w.Say(g.AboutEN, g.AboutZH), title)})
	}
	return out
}

// object is a JSON object whose members have no order.
type object = map[string]any
