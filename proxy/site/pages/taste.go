package pages

import (
	"net/url"
	"slices"

	"sundry/cache/policy"
	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// taste is what a card shows of an endpoint, live: a picture, or the first lines of a text. What
// it is follows from the endpoint's forms and parameters.
type taste struct {
	Picture bool // else a text
	// Call is the URL of what is shown without the visitor having done anything; "" for
	// nothing.
	Call string
	// OnDemand: it tells something about the visitor, and may be asked of services that
	// then learn the address. So it waits until the visitor wants it.
	OnDemand bool
	Ask      *prompt
	// Choices are calls that stand in the place of a text that says nothing, such as a list of
	// links.
	Choices []choice
}

// choice is a call with one of the values that a parameter names.
type choice struct{ URL, Name string }

// mostChoices is how many fit into the place on a card.
const mostChoices = 8

// prompt is the one thing that an endpoint has to be told. The visitor may say it.
type prompt struct {
	Action string // the short path, as a link
	Name   string // of the parameter
	Hint   string // what to say
	// Example is a value that is accepted.
	Example string
	MaxLen  int
	// Form is the parameter that asks for the form that the card shows, with its value; ""
	// where it is the default.
	Form, Value string
	// Instantly: the answer is computed here, so that it may follow every letter.
	Instantly bool
}

// tasteOf is what there is to show of an endpoint; nil for nothing. Nothing is called that would
// cost a visit of its own: answers to no input, or to the example's, are cached for
// all visitors or computed here. Text about an example is shown only where it is computed: the
// examples of others are made up.
func (s *Set) tasteOf(l i18n.Language, e *catalog.Endpoint) *taste {
	form := shownForm(e)
	required := requiredParams(e)
	if form == nil || len(required) > 1 {
		return nil
	}
	name, value := selector(e, form)
	t := &taste{Picture: form.IsPicture(), OnDemand: aboutTheCaller(e)}
	query := url.Values{}
	if name != "" {
		query.Set(name, value)
	}
	computed := e.Policy.Class == policy.Computed
	if len(required) == 1 {
		p := required[0]
		t.Ask = &prompt{
			Action: s.url(apiPath(e)), Name: p.Name, Hint: l.Say(p.EN, p.ZH), Example: p.Example, MaxLen: p.MaxLen(),
			Form: name, Value: value, Instantly: computed,
		}
		if !t.Picture && !computed {
			return t
		}
		query.Set(p.Name, p.Example)
	}
	t.Call = s.url(apiPath(e))
	if apidoc.MayRedirect(form) {
		t.Call = s.target(e) // the page may not load pictures from where a redirect would lead
	}
	if len(query) > 0 {
		t.Call += "?" + query.Encode()
	}
	if !t.Picture {
		t.Choices = s.choicesOf(l, e)
	}
	return t
}

// choicesOf are the named values of the first parameter that has such; nil for none.
func (s *Set) choicesOf(l i18n.Language, e *catalog.Endpoint) []choice {
	var all []choice
	for _, p := range e.Params {
		if p.Role != catalog.RoleInput || all != nil {
			continue
		}
		for _, c := range p.Choices {
			all = append(all, choice{s.url(apiPath(e)) + "?" + url.Values{p.Name: {c.Value}}.Encode(), l.Say(c.EN, c.ZH)})
		}
	}
	return all[:min(len(all), mostChoices)]
}

// shownForm is the form whose answer is shown: the default one if it is a picture, else one of
// text; nil for none.
func shownForm(e *catalog.Endpoint) *catalog.Form {
	if e.Forms[0].IsPicture() {
		return e.Forms[0]
	}
	if i := slices.IndexFunc(e.Forms, func(f *catalog.Form) bool { return f.Kind == "text" }); i >= 0 {
		return e.Forms[i]
	}
	return nil
}

func requiredParams(e *catalog.Endpoint) []*catalog.Param {
	var all []*catalog.Param
	for _, p := range e.Params {
		if p.Required && p.Role == catalog.RoleInput {
			all = append(all, p)
		}
	}
	return all
}

// aboutTheCaller reports whether the answer to no input is about who asks.
func aboutTheCaller(e *catalog.Endpoint) bool {
	return slices.ContainsFunc(e.Params, func(p *catalog.Param) bool { return p.Caller || p.Spec.From == "address" })
}

// selector is the parameter that asks for a form, with its value; "" for the default form.
func selector(e *catalog.Endpoint, form *catalog.Form) (name, value string) {
	if form == e.Forms[0] {
		return "", ""
	}
	return e.AskFor(form.Name)
}
