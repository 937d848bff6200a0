package pages

import (
	"bytes"
	"encoding/json"

	"sundry/proxy/site/apidoc"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
)

// answer is a whole recorded answer, as callers get it.
type answer struct {
	Is    string // such as JSON or plain text
	Query string // that asks for it; "" for the default form
	Body  string
	JSON  bool
}

// answersOf are one of each form that can be shown as text and has a recorded exchange,
// the default form first.
func answersOf(l i18n.Language, e *catalog.Endpoint, recorded *apidoc.Sample) []answer {
	var all []answer
	for _, f := range e.Forms {
		one := answer{
			Is: l.Of(apidoc.FormOf(f).Is), Query: queryFor(e, f), Body: recorded.Text(f, l), JSON: f.Kind == "json",
		}
		if one.JSON {
			one.Body = indented(recorded.Answer)
		}
		if one.Body != "" {
			all = append(all, one)
		}
	}
	return all
}

// indented returns a JSON answer with line breaks and indentation; "" if it is none.
func indented(answer []byte) string {
	var b bytes.Buffer
	if err := json.Indent(&b, answer, "", "  "); err != nil {
		return ""
	}
	return b.String()
}
