// Package redact makes text fit to be shown: it replaces secrets with three asterisks, and escapes what
// would control a terminal. A secret is found in any case, percent-encoded, escaped as in JSON or HTML, in
// base64, also with line breaks or spaces, in hexadecimal digits, and as a hash of itself.
package redact

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of redaction, in bytes.
const (
	// SecretMin is the length from which a secret is redacted: a shorter one would hide parts of everything.
	SecretMin = 4
	// wordMin is the length from which it is redacted inside of words as well.
	wordMin = 8
	// formMin is the length from which the encodings and hashes of a secret are redacted: shorter ones would hide ordinary words.
	formMin = 6
	// partMin is the length from which a part of a secret is one too.
	partMin = 16
	// ErrorTextMax is how much of an error's text is searched; the rest is cut off.
	ErrorTextMax = 4 << 10
)

// maxEscapes is how many layers of escaping are removed in the search for secrets.
const maxEscapes = 2

// Redactor replaces secrets in all that is shown: log lines, stages, errors, data. nil redacts
// nothing. It is safe for concurrent use.
type Redactor struct {
	index *index
}

// New makes a redactor of secrets and of their parts. Without any it returns nil.
func New(secrets ...string) *Redactor {
	var all []string
	for _, secret := range secrets {
		all = append(all, withParts(secret)...)
	}
	needles := needlesOf(all)
	if len(needles) == 0 {
		return nil
	}
	return &Redactor{indexOf(needles)}
}

// Text returns the text with each secret replaced. Where a text was cut, which an ellipsis marks, the beginning of one is
// replaced as well.
func (r *Redactor) Text(s string) string {
	if r == nil || s == "" {
		return s
	}
	var secret []bool // by byte of s; nil without any
	for l, more, n := (layer{text: s}), true, 0; more && n <= maxEscapes; n++ {
		secret = r.index.mark(&l, len(s), secret)
		l, more = l.unescape()
	}
	if secret == nil {
		return s
	}
	markEscapes(s, secret)
	return mask(s, secret)
}

// Beginning is Text for the beginning of a text that was cut, or not read to its end, without saying so.
func (r *Redactor) Beginning(s string) string {
	return strings.TrimSuffix(r.Text(s+ellipsis), ellipsis)
}

// markEscapes marks the whole of each escape that is secret in part: its rest would mean something else.
func markEscapes(s string, secret []bool) {
	for i := firstEscape(s); i < len(s); {
		var char [utf8.UTFMax]byte
		_, size := unescapeChar(s[i:], char[:])
		if slices.Contains(secret[i:i+size], true) {
			for j := i; j < i+size; j++ {
				secret[j] = true
			}
		}
		i += size
	}
}

// mask replaces each run of secret bytes with three asterisks.
func mask(s string, secret []bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if !secret[i] {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString("***")
		for i < len(s) && secret[i] {
			i++
		}
	}
	return b.String()
}

// Value returns a copy of a JSON value with each secret replaced, in the names
// of fields as well. The value itself is not changed.
func (r *Redactor) Value(v any) any {
	if r == nil {
		return v
	}
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		return r.Text(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.Value(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[r.Text(k)] = r.Value(e)
		}
		return out
	}
	b, err := json.Marshal(v) // a number of any type
	if err != nil {
		b = []byte(fmt.Sprint(v))
	}
	if clean := r.Text(string(b)); clean != string(b) {
		return clean
	}
	return v
}

// Header replaces each secret in the fields of a message, but in those that say where it ends.
func (r *Redactor) Header(h http.Header) {
	if r == nil {
		return
	}
	for name, lines := range h {
		for i, line := range lines {
			if clean := r.Text(line); clean != line && name != "Content-Length" {
				lines[i] = clean
			}
		}
	}
}

// causer is an error with fields beside its cause. Only the cause can contain a
// secret, so the rest of the error is kept.
type causer interface {
	WithCause(change func(error) error) error
}

// Err returns an error whose text has each secret replaced; errors.Is and
// errors.As find the same as in err. A text longer than ErrorTextMax is cut.
func (r *Redactor) Err(err error) error {
	if r == nil || err == nil {
		return err
	}
	if c, ok := err.(causer); ok { // not errors.As: a wrapped one is part of the text of the error around it
		return c.WithCause(r.Err)
	}
	clean := r.Text(Truncate(err.Error(), ErrorTextMax))
	if clean == err.Error() {
		return err
	}
	return &redactedError{clean, err}
}

// redactedError is an error whose text is redacted.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }

// Unwrap returns the original error, to be classified. Its text has secrets.
func (e *redactedError) Unwrap() error { return e.err }

// ellipsis marks where a text was cut. A text that may have a secret must not be cut without one: see Text.
const ellipsis = "…"

// Truncate cuts a text to at most limit bytes, never inside a character, and
// appends an ellipsis if anything was cut off.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && s[limit]&0xC0 == 0x80 {
		limit--
	}
	return s[:limit] + ellipsis
}
