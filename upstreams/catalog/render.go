package catalog

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"sundry/cache/entry"
	"sundry/upstreams"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/jq"
)

// Content types of what is made here.
const (
	typeJSON = "application/json; charset=utf-8"
	typeText = "text/plain; charset=utf-8"
	typeMark = "text/markdown; charset=utf-8"
	typeCode = "text/javascript; charset=utf-8"
)

// compressMin is the size below which a body fits into one packet anyway, and is not
// worth compressing.
const compressMin = 1 << 10

// render makes all bodies of a form.
func (f *Form) render(ctx context.Context, a *upstreams.Answer, env *jq.Env) (entry.Form, error) {
	if f.each == nil {
		b, err := f.body(ctx, a, a.Data, env)
		if err != nil || b == nil {
			return nil, err
		}
		return entry.Form{*b}, nil
	}
	var out entry.Form
	var failed error
	err := f.each.Each(ctx, a.Data, env, func(candidate any) bool {
		b, err := f.body(ctx, a, candidate, env)
		if err != nil || b == nil {
			failed = err
			return err == nil
		}
		out = append(out, *b)
		return true
	})
	return out, errors.Join(err, failed)
}

// Present makes the values that callers see of mapped data: of a pool, as many
// as most. What cannot be presented is left out.
func (f *Form) Present(ctx context.Context, data any, env *jq.Env, most int) []any {
	candidates := []any{data}
	if f.each != nil {
		candidates = nil
		_ = f.each.Each(ctx, data, env, func(v any) bool {
			candidates = append(candidates, v)
			return len(candidates) < most
		})
	}
	var out []any
	for _, v := range candidates {
		made, err := f.make.One(ctx, v, env)
		if err != nil {
			continue
		}
		if seen, err := f.seen(made); err == nil {
			out = append(out, seen)
		}
	}
	return out
}

// Check makes the form of an answer, and returns an error if that cannot be made. empty: there
// is nothing of this form.
func (f *Form) Check(ctx context.Context, a *upstreams.Answer, env *jq.Env) (empty bool, err error) {
	bodies, err := f.render(ctx, a, env)
	return len(bodies) == 0, err
}

// Text is what callers see of mapped data in a form of text: of a pool, the first
// candidate.
func (f *Form) Text(ctx context.Context, data any, env *jq.Env) (string, error) {
	bodies, err := f.render(ctx, &upstreams.Answer{Data: data}, env)
	if err != nil || len(bodies) == 0 {
		return "", err
	}
	return string(bodies[0].Data), nil
}

// seen is what callers see of a value: with all declared fields.
func (f *Form) seen(v any) (any, error) {
	b, err := f.Ordered(v)
	if err != nil {
		return nil, err
	}
	var out any
	err = json.Unmarshal(b, &out)
	return out, err
}

// body makes one body; nil when the answer has none of this form.
func (f *Form) body(ctx context.Context, a *upstreams.Answer, data any, env *jq.Env) (*entry.Body, error) {
	if f.make == nil {
		return picture(a.Blob)
	}
	if f.english {
		in := *env
		in.English, env = true, &in
	}
	v, err := f.make.One(ctx, data, env)
	if err != nil {
		return nil, err
	}
	if f.Kind == "json" {
		return f.jsonBody(v)
	}
	text, ok := v.(string)
	switch {
	case v == nil:
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("expected a text, got %T", v)
	case f.Kind == "markdown":
		return f.plain(typeMark, line(text)), nil
	case f.Kind == "script":
		return f.literal(text)
	case f.Kind == "redirect":
		return redirectBody(text)
	case f.Kind == "interstitial":
		return f.interstitial(text)
	case f.Kind == "picture":
		return dataPicture(text)
	}
	return f.plain(typeText, line(text)), nil
}

// line is a text that ends as lines do, so that a terminal's prompt or another
// answer does not follow on the same one.
func line(s string) []byte {
	s = strings.TrimRight(s, "\r\n")
	return append(append(make([]byte, 0, len(s)+1), s...), '\n')
}

// literal is a text as a JavaScript string, which the server wraps into a call. It has
// nothing in it that could end the string or a script element around it.
func (f *Form) literal(text string) (*entry.Body, error) {
	b, err := json.Marshal(text) // escapes <, > and &, and the line separators of Unicode
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return f.plain(typeCode, b), nil
}

// The envelope of a JSON answer, around its data.
const (
	envelopeHead = `{"code":200,"message":"ok","data":`
	envelopeTail = `}`
)

func (f *Form) jsonBody(v any) (*entry.Body, error) {
	b, err := f.Answer(v)
	if err != nil {
		return nil, err
	}
	return f.plain(typeJSON, b), nil
}

// Answer is the JSON around data that the form presents: with all fields that are
// declared, in the order of the file.
func (f *Form) Answer(data any) ([]byte, error) {
	b, err := encode(envelopeHead, data, f.fields, envelopeTail)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return b, nil
}

// Ordered is the JSON of data that a source mapped, with its fields in the order of
// this form's answer.
func (f *Form) Ordered(data any) ([]byte, error) { return encode("", data, f.fields, "") }

// plain is a text body with its ETag: a weak one, since it is the same for all
// codings.
func (f *Form) plain(typ string, b []byte) *entry.Body {
	body := &entry.Body{Status: http.StatusOK, Type: typ, Data: b}
	if !f.Pool {
		body.ETag, body.Compress = "W/"+tag(b), len(b) >= compressMin
	}
	return body
}

// tag is the strong ETag of a body: its XXH64.
func tag(b []byte) string {
	text := append(make([]byte, 0, 16), '"')
	return string(append(strconv.AppendUint(text, xxhash.Sum64(b), 36), '"'))
}

// redirectBody redirects to an absolute http(s) address only.
func redirectBody(to string) (*entry.Body, error) {
	u, err := webAddress(to)
	if err != nil {
		return nil, err
	}
	return &entry.Body{Status: http.StatusFound, Type: typeText, Location: u.String(), Data: line(u.String())}, nil
}

func picture(b *upstreams.Blob) (*entry.Body, error) {
	if b == nil {
		return nil, errors.New("the source returned no picture")
	}
	return &entry.Body{Status: http.StatusOK, Type: b.Type, ETag: tag(b.Bytes), Data: b.Bytes}, nil
}

// dataPicture unpacks a data: URI. The type is that of its bytes, whatever the URI
// says.
func dataPicture(uri string) (*entry.Body, error) {
	_, encoded, ok := strings.Cut(uri, ";base64,")
	if !ok || !strings.HasPrefix(uri, "data:image/") {
		return nil, errors.New("picture: not a data URI, as in data:image/png;base64,…")
	}
	b, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("picture: %w", err)
	}
	blob, err := httpsource.Sniff(b)
	if err != nil {
		return nil, err
	}
	return picture(blob)
}
