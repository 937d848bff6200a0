// Package redact blots out secrets in what operators look at: texts, data and
// errors. A secret is found whatever its case, percent-encoded, escaped as in
// JSON, in base64 and as a hash of itself.
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

// Bounds of blotting out.
const (
	DerivedMin   = 6       // bytes of a computed value that may be a secret
	SignatureMin = 16      // likewise, in a body that has other texts beside it
	ErrorTextMax = 4 << 10 // bytes of an error's text that are looked through
	unescapes    = 2       // how many escapings deep secrets are looked for
)

// Redactor blots out the secrets of one attempt, and what was computed from
// them, wherever that may be looked at: stages, errors, data. It finds them in
// any case, percent-encoded and as in JSON. nil has no secrets. It is safe for
// concurrent use.
type Redactor struct{ needles []string }

// New blots out values, which are looked for in small letters.
func New(fixed, derived []string) *Redactor {
	if len(fixed)+len(derived) == 0 {
		return nil
	}
	needles := slices.Clone(fixed)
	for _, v := range derived {
		needles = append(needles, Forms(v)...)
	}
	slices.SortFunc(needles, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return &Redactor{slices.Compact(needles)}
}

// Forms are the ways in which a secret is found: as it is, what it is the
// base64 of, its own base64 wherever in a text that was encoded, and its hashes.
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

// base64Forms are what the secret looks like in the base64 of a text around it:
// one for each of the three places that it can begin at, without the letters
// that its neighbours have a part in.
func base64Forms(secret string) []string {
	var forms []string
	for at := range 3 {
		b := append(make([]byte, at), secret...)
		first, whole := (at*8+5)/6, len(b)*8/6
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, e.EncodeToString(b)[first:whole])
		}
	}
	return forms
}

func Hashes(secret string) []string {
	b := []byte(secret)
	m, s1, s2 := md5.Sum(b), sha1.Sum(b), sha256.Sum256(b) //nolint:gosec // as above
	return []string{hex.EncodeToString(b), hex.EncodeToString(m[:]), hex.EncodeToString(s1[:]), hex.EncodeToString(s2[:])}
}

// Text blots out what is secret in a text.
func (r *Redactor) Text(s string) string {
	if r == nil || s == "" {
		return s
	}
	hide := make([]bool, len(s))
	found := false
	v := view{text: []byte(s)}
	for range unescapes + 1 {
		found = r.mark(v, hide) || found
		next, changed := v.unescaped()
		if !changed {
			break
		}
		v = next
	}
	if !found {
		return s
	}
	return blot(s, hide)
}

// mark notes which bytes of the text stand for a secret.
func (r *Redactor) mark(v view, hide []bool) (found bool) {
	text := string(lower(v.text))
	for _, needle := range r.needles {
		for at := 0; ; {
			i := strings.Index(text[at:], needle)
			if i < 0 {
				break
			}
			at += i + len(needle)
			found = true
			for j := v.at(at - len(needle)); j < min(v.at(at), len(hide)); j++ {
				hide[j] = true
			}
		}
	}
	return found
}

// blot puts three stars in the place of what is hidden.
func blot(s string, hide []bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if !hide[i] {
			b.WriteByte(s[i])
			i++
			continue
		}
		b.WriteString("***")
		for i < len(s) && hide[i] {
			i++
		}
	}
	return b.String()
}

// Value blots out what is secret in a JSON-ready value; the one given stays as
// it is.
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
	b, err := json.Marshal(v) // a number, or what a program made of one
	if err != nil {
		b = []byte(fmt.Sprint(v))
	}
	if clean := r.Text(string(b)); clean != string(b) {
		return clean
	}
	return v
}

// causer is an error that is more than its text: with its cause changed, what it
// says beside stays.
type causer interface {
	WithCause(change func(error) error) error
}

// Err blots out what is secret in an error's text; what kind it is of stays.
func (r *Redactor) Err(err error) error {
	if r == nil || err == nil {
		return err
	}
	if c, ok := err.(causer); ok { //nolint:errorlint // what is wrapped in another is part of that one's text
		return c.WithCause(r.Err)
	}
	text := Truncate(err.Error(), ErrorTextMax)
	clean := r.Text(text)
	if clean == err.Error() {
		return err
	}
	if len(text) > ErrorTextMax { // half a secret may stand where it was cut
		clean = Truncate(clean, ErrorTextMax/2)
	}
	return &blotted{clean, err}
}

// blotted is an error whose text may be shown.
type blotted struct {
	text string
	err  error
}

func (b *blotted) Error() string { return b.text }

// Unwrap gives the error with its secrets, to be classified.
func (b *blotted) Unwrap() error { return b.err }

// view is a text, or what its escapes stand for.
type view struct {
	text []byte
	from []int // where in the first text each byte begins, and the end; nil: there
}

func (v view) at(i int) int {
	if v.from == nil {
		return i
	}
	return v.from[i]
}

// unescaped reads percent-encoding and the escapes of JSON.
func (v view) unescaped() (view, bool) {
	if !bytes.ContainsAny(v.text, `%\`) {
		return v, false
	}
	next := view{make([]byte, 0, len(v.text)), make([]int, 0, len(v.text)+1)}
	for i := 0; i < len(v.text); {
		var char [utf8.UTFMax]byte
		n, size := unescape(v.text[i:], char[:])
		for _, c := range char[:n] {
			next.text, next.from = append(next.text, c), append(next.from, v.at(i))
		}
		i += size
	}
	next.from = append(next.from, v.at(len(v.text)))
	return next, len(next.text) < len(v.text)
}

// unescape reads one character: how many bytes it has, and how many it took.
func unescape(b, char []byte) (n, size int) {
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

// lower folds the letters of ASCII and leaves every other byte in its place.
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

// Truncate shortens a text to so many bytes, without cutting a character.
func Truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most] + "…"
}
