// Package redact replaces secrets in what operators see (texts, data, errors)
// with three asterisks. A secret is found in any case, percent-encoded, escaped
// as in JSON, in base64, and as a hash of itself.
package redact

import (
	"bytes"
	"cmp"
	"crypto/md5"  //nolint:gosec // services sign with it
	"crypto/sha1" //nolint:gosec // likewise
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of redaction, in bytes.
const (
	// DerivedMin is the length from which a value computed from a secret is
	// redacted: shorter ones would hide ordinary words.
	DerivedMin = 6
	// SignatureMin is the same for a text inside a larger computed value, most of
	// whose texts are no secrets.
	SignatureMin = 16
	// ErrorTextMax is how much of an error's text is searched; the rest is cut off.
	ErrorTextMax = 4 << 10
)

// maxEscapes is how many layers of escaping are removed in the search for secrets.
const maxEscapes = 2

// Redactor replaces the secrets of one attempt, and what was computed from them,
// in all that is shown of it: stages, errors, data. nil redacts nothing. It is
// safe for concurrent use.
type Redactor struct {
	needles []string // in lower case, the longest first
}

// New makes a redactor of secrets, given in all their forms (as Forms returns
// them), and of derived values, given as they are. Without any it returns nil.
func New(forms, derived []string) *Redactor {
	if len(forms)+len(derived) == 0 {
		return nil
	}
	needles := slices.Clone(forms)
	for _, v := range slices.Compact(slices.Sorted(slices.Values(derived))) {
		needles = append(needles, Forms(v)...)
	}
	slices.SortFunc(needles, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return &Redactor{slices.Compact(needles)}
}

// Forms returns what a text is searched for to find a secret, in lower case: the
// secret itself, its base64 at any offset of an encoded text, its hashes, and, if
// it is base64 itself, what it decodes to. Of a secret shorter than DerivedMin
// only the secret itself is searched for. Forms of "" are nil.
func Forms(secret string) []string {
	if secret == "" {
		return nil
	}
	forms := []string{secret}
	if strings.Contains(secret, " ") {
		forms = append(forms, strings.ReplaceAll(secret, " ", "+"))
	}
	if len(secret) >= DerivedMin {
		forms = append(forms, base64Forms(secret)...)
		forms = append(forms, Hashes(secret)...)
	}
	if plain, err := base64.StdEncoding.DecodeString(secret); err == nil && len(plain) >= DerivedMin && utf8.Valid(plain) {
		forms = append(forms, string(plain))
	}
	for i := range forms {
		forms[i] = string(lower([]byte(forms[i])))
	}
	return forms
}

// base64Forms returns what the secret looks like inside the base64 of a longer
// text: one form for each of the three offsets at which it can begin, without the
// characters that also depend on the bytes before or after it.
func base64Forms(secret string) []string {
	var forms []string
	for offset := range 3 {
		b := append(make([]byte, offset), secret...)
		start, end := (offset*8+5)/6, len(b)*8/6
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, e.EncodeToString(b)[start:end])
		}
	}
	return forms
}

// Hashes returns a secret in hexadecimal digits, and then its MD5, SHA-1 and
// SHA-256 sums, likewise in lower-case hexadecimal.
func Hashes(secret string) []string {
	b := []byte(secret)
	m, s1, s2 := md5.Sum(b), sha1.Sum(b), sha256.Sum256(b) //nolint:gosec // as above
	return []string{hex.EncodeToString(b), hex.EncodeToString(m[:]), hex.EncodeToString(s1[:]), hex.EncodeToString(s2[:])}
}

// Text returns the text with each secret replaced.
func (r *Redactor) Text(s string) string {
	if r == nil || s == "" {
		return s
	}
	secret := make([]bool, len(s)) // by byte of s
	found := false
	t := unescapedText{bytes: []byte(s)}
	for range maxEscapes + 1 {
		found = r.mark(t, secret) || found
		next, changed := t.unescape()
		if !changed {
			break
		}
		t = next
	}
	if !found {
		return s
	}
	return mask(s, secret)
}

// mark notes which bytes of the original text belong to a secret.
func (r *Redactor) mark(t unescapedText, secret []bool) (found bool) {
	text := string(lower(t.bytes))
	for _, needle := range r.needles {
		for end := 0; ; {
			i := strings.Index(text[end:], needle)
			if i < 0 {
				break
			}
			end += i + len(needle)
			found = true
			for j := t.offset(end - len(needle)); j < min(t.offset(end), len(secret)); j++ {
				secret[j] = true
			}
		}
	}
	return found
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
	text := Truncate(err.Error(), ErrorTextMax)
	clean := r.Text(text)
	if clean == err.Error() {
		return err
	}
	if len(text) > ErrorTextMax { // a secret may have been cut in two at the end
		clean = Truncate(clean, ErrorTextMax/2)
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

// unescapedText is a text from which layers of escaping were removed, with the
// offset of each byte in the original.
type unescapedText struct {
	bytes   []byte
	offsets []int // of each byte and of the end; nil: nothing was removed
}

func (t unescapedText) offset(i int) int {
	if t.offsets == nil {
		return i
	}
	return t.offsets[i]
}

// unescape removes one layer of percent-encoding and JSON escapes. It reports
// whether there was one.
func (t unescapedText) unescape() (unescapedText, bool) {
	if !bytes.ContainsAny(t.bytes, `%\`) {
		return t, false
	}
	next := unescapedText{make([]byte, 0, len(t.bytes)), make([]int, 0, len(t.bytes)+1)}
	for i := 0; i < len(t.bytes); {
		var char [utf8.UTFMax]byte
		n, size := unescapeChar(t.bytes[i:], char[:])
		for _, c := range char[:n] {
			next.bytes, next.offsets = append(next.bytes, c), append(next.offsets, t.offset(i))
		}
		i += size
	}
	next.offsets = append(next.offsets, t.offset(len(t.bytes)))
	return next, len(next.bytes) < len(t.bytes)
}

// unescapeChar decodes the first character of b into char. It returns how many
// bytes it wrote, and how many of b it read.
func unescapeChar(b, char []byte) (n, size int) {
	switch {
	case b[0] == '%' && len(b) >= 3:
		if _, err := hex.Decode(char, b[1:3]); err == nil {
			return 1, 3
		}
	case b[0] == '\\' && len(b) >= 6 && b[1] == 'u':
		var code [2]byte
		if _, err := hex.Decode(code[:], b[2:6]); err == nil {
			return utf8.EncodeRune(char, rune(code[0])<<8|rune(code[1])), 6
		}
	case b[0] == '\\' && len(b) >= 2:
		if i := strings.IndexByte(`"\/bfnrt`, b[1]); i >= 0 {
			char[0] = "\"\\/\b\f\n\r\t"[i]
			return 1, 2
		}
	}
	char[0] = b[0]
	return 1, 1
}

// lower converts ASCII letters to lower case. Unlike bytes.ToLower it keeps every
// byte at its offset.
func lower(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}

// Truncate cuts a text to at most limit bytes, never inside a character, and
// appends an ellipsis if anything was cut off.
func Truncate(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && s[limit]&0xC0 == 0x80 {
		limit--
	}
	return s[:limit] + "…"
}
