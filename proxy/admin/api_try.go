package admin

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"sundry/upstreams/catalog"
)

// paramView is a parameter for the form with which an endpoint is tried.
type paramView struct {
	Name     string `json:"name"`
	EN       string `json:"en,omitempty"`
	ZH       string `json:"zh,omitempty"`
	Required bool   `json:"required,omitempty"`
	Default  string `json:"default,omitempty"`
	Example  string `json:"example,omitempty"`
	// Choices that are allowed; none: any value of its type.
	Choices []choiceView `json:"choices,omitempty"`
}

// choiceView is a value with its names.
type choiceView struct {
	Value string `json:"value"`
	EN    string `json:"en"`
	ZH    string `json:"zh"`
}

// tryForm describes what an endpoint can be asked for.
func (a *api) tryForm(r *http.Request) (any, error) {
	e, ok := a.Catalog().Get(r.PathValue("name"))
	if !ok {
		return nil, noEndpoint(r.PathValue("name"))
	}
	params := []paramView{}
	for _, p := range e.Params {
		if !p.Derived() {
			params = append(params, newParamView(e, p))
		}
	}
	return map[string]any{"endpoint": e.Name, "forms": e.FormNames(), "params": params}, nil
}

// maxTriedURL bounds the query of a request that is tried, in bytes.
const maxTriedURL = 8 << 10

// try makes a request for an endpoint, as a caller of the public listener would from the
// operator's address, and shows the answer. It counts as any request does.
func (a *api) try(r *http.Request) (any, error) {
	var body struct {
		Params map[string]string `json:"params"`
	}
	if err := decodeBody(r, &body); err != nil {
		return nil, err
	}
	e, ok := a.Catalog().Get(r.PathValue("name"))
	if !ok {
		return nil, noEndpoint(r.PathValue("name"))
	}
	query := url.Values{}
	for name, value := range body.Params {
		query.Set(name, value)
	}
	target := a.PublicPath + "/api/" + url.PathEscape(e.Name)
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	if len(target) > maxTriedURL {
		return nil, fieldError("params", "params: expected at most %d bytes, got %d", "params：最多 %d 字节，而不是 %d 字节", maxTriedURL, len(target))
	}
	return a.answerOf(r, target)
}

// answerOf asks the public listener's handler, and describes what it answers.
func (a *api) answerOf(r *http.Request, target string) (any, error) {
	asked, err := http.NewRequestWithContext(r.Context(), http.MethodGet, target, nil) //nolint:gosec // no network: it goes to the handler below
	if err != nil {
		return nil, err
	}
	asked.RemoteAddr, asked.RequestURI, asked.Host = r.RemoteAddr, target, "localhost"
	if languages := r.Header.Get("Accept-Language"); languages != "" {
		asked.Header.Set("Accept-Language", languages)
	}
	w, began := &answer{header: http.Header{}}, time.Now()
	a.Public.ServeHTTP(w, asked)
	v := map[string]any{"url": target, "status": w.status, "ms": time.Since(began).Milliseconds(), "bytes": w.length, "headers": w.header}
	if w.length == int64(w.body.Len()) {
		maps.Copy(v, preview(w.header.Get("Content-Type"), w.body.Bytes(), a.hidden().Redactor()))
	}
	return v, nil
}

// answer keeps what a handler answers, and of its body the beginning.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
	length int64
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	a.length += int64(len(b))
	if a.body.Len()+len(b) <= maxPicturePreview {
		a.body.Write(b)
	}
	return len(b), nil
}

func newParamView(e *catalog.Endpoint, p *catalog.Param) paramView {
	v := paramView{Name: p.Name, EN: p.EN, ZH: p.ZH, Required: p.Required, Example: p.Example}
	if p.Spec.Default != nil {
		v.Default = p.Spec.Default.Value
	}
	for _, c := range p.Choices {
		v.Choices = append(v.Choices, choiceView{c.Value, c.EN, c.ZH})
	}
	if v.Choices == nil {
		for _, value := range values(e, p) {
			v.Choices = append(v.Choices, choiceView{value, value, value})
		}
	}
	return v
}

// values of a parameter that have no names; nil: they are not listed.
func values(e *catalog.Endpoint, p *catalog.Param) []string {
	switch {
	case p.Role == "form" && p.Spec.As != nil:
		return slices.Sorted(maps.Keys(p.Spec.As))
	case p.Role == "form":
		return e.FormNames()
	}
	return p.Spec.Enum
}

// declaration is the YAML file of an endpoint, as text.
func (a *api) declaration(w http.ResponseWriter, r *http.Request) {
	yaml, ok := a.Declaration(r.PathValue("name"))
	if !ok || !utf8.Valid(yaml) {
		refuseBefore(w, r, http.StatusNotFound, wordsOf(noEndpoint(r.PathValue("name"))))
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, a.hidden().Text(string(yaml)))
}
