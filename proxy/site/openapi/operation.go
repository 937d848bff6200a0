package openapi

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sundry/proxy/site/apidoc"
	"sundry/upstreams/catalog"
	"sundry/upstreams/fixtures"
	"sundry/upstreams/lib/plainjson"
)

// operation describes the call of an endpoint.
type operation struct {
	*writer
	*catalog.Endpoint
	sample apidoc.Sample
}

func (o *operation) describe() plainjson.Object {
	head := plainjson.Object{
		{Name: "operationId", Value: operationID(o.Name)},
		{Name: "tags", Value: []string{o.Group}},
		{Name: "summary", Value: o.Of(o.Title)},
		{Name: "description", Value: o.Say(o.EN, o.ZH) + "\n\n" + o.formats()},
	}
	if docs := o.docs("/docs/"+o.Name, o.Say("The endpoint in the reference for people.", "该接口的参考文档。")); docs != nil {
		head = append(head, plainjson.Member{Name: "externalDocs", Value: docs})
	}
	head = append(head, plainjson.Member{Name: "parameters", Value: o.parameters()}, plainjson.Member{Name: "responses", Value: o.responses()})
	if o.PublicURL != "" { // else tools make calls of the server's address, which they know
		head = append(head, plainjson.Member{Name: "x-codeSamples", Value: o.samples()})
	}
	return head
}

// formats says in which forms the endpoint answers, and what asks for each.
func (o *operation) formats() string {
	byDefault := o.Of(apidoc.FormOf(o.Forms[0]).Is)
	said := []string{o.Say("By default: "+byDefault, "默认："+byDefault)}
	for _, f := range o.Forms[1:] {
		if name, value := o.AskFor(f.Name); name != "" {
			said = append(said, "`"+name+"="+value+"`"+o.Say(": ", "：")+o.Of(apidoc.FormOf(f).Is))
		}
	}
	return strings.Join(said, o.Say("; ", "；")) + o.Say(".", "。")
}

// codeSample is an example call, as reference tools show them.
type codeSample struct {
	Language string `json:"lang"`
	Label    string `json:"label"`
	Source   string `json:"source"`
}

func (o *operation) samples() []codeSample {
	var out []codeSample
	for _, c := range fixtures.Calls(o.Endpoint) {
		address := o.PublicURL + o.BasePath + "/api/" + o.Name
		if c.Query != "" {
			address += "?" + c.Query
		}
		out = append(out, codeSample{"Shell", o.Say(c.EN, c.ZH), "curl '" + strings.ReplaceAll(address, "'", "%27") + "'"})
	}
	return out
}

// responses are all that callers have to expect, by status.
func (o *operation) responses() plainjson.Object {
	all, responses := o.answers(), errorResponses()
	for _, e := range apidoc.ErrorsOf(o.Endpoint, o.Errors) {
		if e.Status == http.StatusMethodNotAllowed {
			continue // no answer to GET
		}
		all[strconv.Itoa(e.Status)] = ref("responses", responses[responseOf(responses, e.Status)].Name)
	}
	all["default"] = ref("responses", responses[responseOf(responses, 0)].Name)
	var out plainjson.Object
	for _, status := range slices.Sorted(maps.Keys(all)) {
		out = append(out, plainjson.Member{Name: status, Value: all[status]})
	}
	return out
}

// ref refers to a component.
func ref(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }
