package admin

import (
	"errors"
	"net/http"
	"strings"

	"sundry/metrics/words"
	"sundry/proxy/live"
	"sundry/proxy/site/i18n"
)

// requestError is a request that is refused, with the status of its answer.
type requestError struct {
	status  int
	message words.Text
	field   string // of the request that is wrong; "" where it is not one
}

// Error is the message in English.
func (r *requestError) Error() string { return r.message.EN() }

// Words implements words.Teller.
func (r *requestError) Words() words.Text { return r.message }

func refuse(status int, message words.Text) error {
	return &requestError{status: status, message: message}
}

// mistake is one in a field of a request, or in none ("").
func mistake(field string, message words.Text) error {
	return &requestError{http.StatusBadRequest, message, field}
}

func badRequest(en, zh string, args ...any) error {
	return fieldError("", en, zh, args...)
}

// fieldError is a mistake in one field of a request.
func fieldError(field, en, zh string, args ...any) error {
	return mistake(field, words.Sayf(en, zh, args...))
}

// told is a mistake that has words for operators.
func told(field string, err error) error { return mistake(field, wordsOf(err)) }

func notFound(what words.Text, name string) error {
	return refuse(http.StatusNotFound, words.Sayf("%s %q not found", "没有%s%q", what, name))
}

// noEndpoint is the answer to a request for an endpoint that the catalog does not have.
func noEndpoint(name string) error { return notFound(words.Say("endpoint", "接口"), name) }

// statusOf is the one place where an error becomes a status.
func statusOf(err error) int {
	if r, ok := errors.AsType[*requestError](err); ok {
		return r.status
	}
	if errors.Is(err, live.ErrInvalid) {
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// wordsOf is what operators are told of an error: unlike callers, they may see its cause.
func wordsOf(err error) words.Text {
	unexpected := words.Detailed(words.Say("", "未预料的错误"), err)
	return words.Say(err.Error(), words.Of(err, unexpected).ZH())
}

// errorView is the answer to a request that failed.
type errorView struct {
	Error string `json:"error"`
	// Field of the request that is wrong, such as for or ttl.
	Field string `json:"field,omitempty"`
}

func newErrorView(err error, in i18n.Choice) errorView {
	v := errorView{Error: in.Of(wordsOf(err))}
	if r, ok := errors.AsType[*requestError](err); ok {
		v.Field = r.field
	}
	return v
}

// apiPath is what the paths of the API begin with.
const apiPath = "/admin/api/"

// refuseBefore refuses a request before it reaches its handler: of the API, in JSON as its errors
// are; of other paths, in a line of text.
func refuseBefore(w http.ResponseWriter, r *http.Request, status int, message words.Text) {
	in := choose(w, r)
	w.Header().Set("Content-Language", in.Tag())
	if !strings.HasPrefix(r.URL.Path, apiPath) {
		http.Error(w, in.Of(message), status)
		return
	}
	_ = writeJSON(w, status, errorView{Error: in.Of(message)}, nil) // a failed write has no reader
}

// choose is the language of an answer. Its field Vary says on what that depends.
func choose(w http.ResponseWriter, r *http.Request) i18n.Choice {
	in := languageOf(r)
	if in.Vary != "" {
		w.Header().Add("Vary", in.Vary)
	}
	return in
}

// languageOf goes by the request alone: inEnglish has seen to the operator's rule.
func languageOf(r *http.Request) i18n.Choice {
	return i18n.Rule{}.OfAnswer(r.URL.RawQuery, r.Header)
}
