package httpsource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"sundry/upstreams"
	"sundry/upstreams/jq"
	"sundry/upstreams/redact"
)

// request renders the call, and gives the body that it sends beside it.
func (g *getter) request(ctx context.Context, in *upstreams.Input) (*http.Request, []byte, error) {
	method, typ, body, err := g.body(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, g.target(in), reader(body))
	if err != nil {
		return nil, nil, errors.New("request cannot be built") // the cause would tell the URL, and with it secrets
	}
	req.Header.Set("User-Agent", userAgent)
	if typ != "" {
		req.Header.Set("Content-Type", typ)
	}
	in.Bear(req.Header)
	if g.trace {
		for name, v := range in.Call.Trace {
			req.Header.Set(name, v)
		}
	}
	for _, p := range g.headers {
		req.Header.Set(p.name, p.value.Render(in.Values, jq.EscapeHeader))
	}
	return req, body, nil
}

// target is the URL with its placeholders filled.
func (g *getter) target(in *upstreams.Input) string {
	var b strings.Builder
	b.WriteString(g.base.String())
	b.WriteString(g.path.Render(in.Values, jq.EscapePath))
	if len(g.query) > 0 {
		b.WriteString("?" + encodePairs(g.query, in.Values))
	}
	if !g.raw.IsZero() {
		escape := url.QueryEscape
		if g.encoded {
			escape = jq.EscapeHeader // which keeps it on its line
		}
		b.WriteString("?" + g.raw.Render(in.Values, escape))
	}
	return b.String()
}

// encodePairs writes names and values as in a query or a form. The literals of
// the values were escaped at load.
func encodePairs(pairs []pair, values map[string]any) string {
	var b strings.Builder
	for i, p := range pairs {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(url.QueryEscape(p.name) + "=" + p.value.Render(values, url.QueryEscape))
	}
	return b.String()
}

// body is what is sent, and by which method.
func (g *getter) body(ctx context.Context, in *upstreams.Input) (method, typ string, body []byte, err error) {
	switch {
	case g.form != nil:
		return http.MethodPost, "application/x-www-form-urlencoded", []byte(encodePairs(g.form, in.Values)), nil
	case g.json != nil:
		v, err := g.json.One(ctx, nil, in.Env)
		if err != nil {
			return "", "", nil, fmt.Errorf("json: %w", err)
		}
		if g.signs && len(in.Hidden) > 0 {
			in.Derive(v, redact.SignatureMin)
		}
		body, err := plainJSON(v)
		return http.MethodPost, "application/json", body, err
	}
	return http.MethodGet, "", nil, nil
}

// reader is of a type that net/http can rewind when it must send again.
func reader(body []byte) io.Reader {
	if body == nil {
		return http.NoBody
	}
	return bytes.NewReader(body)
}

// plainJSON writes <, > and & as themselves.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
