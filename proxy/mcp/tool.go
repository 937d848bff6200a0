package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/plainjson"
)

// object is a JSON object, ordered one whose members keep their order.
type (
	object  = map[string]any
	ordered = plainjson.Object
)

// tool is an endpoint as agents see it.
type tool struct {
	i18n.Language
	name     string
	declared *sdk.Tool
	inputs   []*catalog.Param
	form     *catalog.Param // asks for a form; nil: there is one form
	forms    []choice       // those for agents, the default first
	data     *jsonschema.Resolved
}

// choice is a form of the answer that is of use to agents, with the value that asks
// for it.
type choice struct {
	value string
	shape apidoc.Shape
}

// newTool makes the tool of an endpoint; nil if none of its forms is of use to agents.
func newTool(e *catalog.Endpoint, sample apidoc.Sample, l i18n.Language) (*tool, error) {
	t := &tool{name: e.Name, Language: l}
	t.chooseForms(e, sample)
	t.chooseInputs(e)
	if len(t.forms) == 0 {
		return nil, nil //nolint:nilnil // it says so
	}
	input, err := plainjson.Marshal(t.inputSchema(e))
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	output, err := t.outputSchema(e, sample)
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	no, open := false, apidoc.AsksOthers(e)
	t.declared = &sdk.Tool{
		Name: e.Name, Title: t.Of(e.Title), Description: t.about(e),
		InputSchema: json.RawMessage(input), OutputSchema: json.RawMessage(output),
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &open},
	}
	return t, nil
}

// about is the endpoint's sentence behind its title: names such as kd say little.
func (t *tool) about(e *catalog.Endpoint) string {
	title, about := t.Of(e.Title), t.Say(e.EN, e.ZH)
	if strings.HasPrefix(about, title) {
		return about
	}
	return title + t.Say(": ", "：") + about
}

// chooseInputs takes the parameters but those for pages (callbacks, selectors), those
// that follow from the request, and other names of one that there is already.
func (t *tool) chooseInputs(e *catalog.Endpoint) {
	for _, p := range e.Params {
		synonym := p.Spec.StandsFor != "" && len(p.Spec.Enum) == 0
		if p.Role == catalog.RoleInput && !p.Derived() && !synonym {
			t.inputs = append(t.inputs, p)
		}
	}
}

// chooseForms takes the forms that are of use to agents and can be asked for. JSON is
// the default where there is any, unless the endpoint is one for pictures whose JSON has
// the picture in it.
func (t *tool) chooseForms(e *catalog.Endpoint, sample apidoc.Sample) {
	t.form = apidoc.FormParam(e)
	for i, f := range e.Forms {
		value, ok := "", i == 0
		if t.form != nil {
			value, ok = t.form.ValueFor(f.Name)
		}
		if shape := apidoc.FormOf(f).Shape; ok && slices.Contains(useful(), shape) {
			t.forms = append(t.forms, choice{value, shape})
		}
	}
	wanted := apidoc.JSON
	if e.Forms[0].IsPicture() && bytes.Contains(sample.Answer, []byte(`"data:image/`)) {
		wanted = apidoc.Picture
	}
	if i := slices.IndexFunc(t.forms, func(c choice) bool { return c.shape == wanted }); i > 0 {
		first := t.forms[i]
		t.forms = slices.Insert(slices.Delete(t.forms, i, i+1), 0, first)
	}
}

// useful are the shapes of answers that agents can do something with.
func useful() []apidoc.Shape {
	return []apidoc.Shape{apidoc.JSON, apidoc.Text, apidoc.Picture, apidoc.SVG, apidoc.Redirect}
}

// offers reports whether there is a form of the shape.
func (t *tool) offers(shape apidoc.Shape) bool {
	return slices.ContainsFunc(t.forms, func(c choice) bool { return c.shape == shape })
}

// argumentNames are those of the arguments, in their order.
func (t *tool) argumentNames() []string {
	names := make([]string, 0, len(t.inputs)+1)
	for _, p := range t.inputs {
		names = append(names, p.Name)
	}
	if len(t.forms) > 1 {
		names = append(names, t.form.Name)
	}
	return names
}

// inputSchema describes the arguments.
func (t *tool) inputSchema(e *catalog.Endpoint) object {
	properties, required := ordered{}, []string{}
	for _, p := range t.inputs {
		properties = append(properties, plainjson.Member{Name: p.Name, Value: t.property(e, p)})
		if p.Required {
			required = append(required, p.Name)
		}
	}
	if len(t.forms) > 1 {
		properties = append(properties, plainjson.Member{Name: t.form.Name, Value: t.formProperty()})
	}
	schema := object{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// property describes an argument.
func (t *tool) property(e *catalog.Endpoint, p *catalog.Param) ordered {
	about := []string{t.Say(p.EN, p.ZH)}
	var schema ordered
	for _, m := range apidoc.Schema(e, p, t.Language) {
		if expected, ok := m.Value.(string); ok && m.Name == "description" {
			about = append(about, t.Say("Expected: "+expected+".", "取值："+expected+"。"))
			continue
		}
		schema = append(schema, m)
	}
	schema = append(schema, plainjson.Member{Name: "description", Value: strings.Join(append(about, t.names(p.Choices)...), t.Say(" ", ""))})
	if p.Example != "" {
		schema = append(schema, plainjson.Member{Name: "examples", Value: []any{apidoc.Value(p, p.Example)}})
	}
	return schema
}

// names say in the description what values mean, where the enum does not say it: few
// agents read it elsewhere.
func (t *tool) names(choices []catalog.Choice) []string {
	var all []string
	for _, c := range choices {
		if title := apidoc.Titled(t.Language, c.Value, t.Say(c.EN, c.ZH)); title != c.Value {
			all = append(all, title)
		}
	}
	if all == nil {
		return nil
	}
	return []string{strings.Join(all, t.Say("; ", "；")) + t.Say(".", "。")}
}

// formProperty describes the argument that chooses the form.
func (t *tool) formProperty() object {
	values := make([]string, len(t.forms))
	for i, c := range t.forms {
		values[i] = c.value
	}
	offered := func(c catalog.Choice) bool { return !slices.Contains(values, c.Value) }
	about := append([]string{t.Say(t.form.EN, t.form.ZH)}, t.names(slices.DeleteFunc(slices.Clone(t.form.Choices), offered))...)
	return object{"type": "string", "enum": values, "default": values[0], "description": strings.Join(about, t.Say(" ", ""))}
}
