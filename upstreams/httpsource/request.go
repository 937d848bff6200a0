package httpsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"sundry/upstreams"
	"sundry/upstreams/jq"
	"sundry/upstreams/plainjson"
	"sundry/upstreams/redact"
	"sundry/upstreams/webpage"
)

// render renders the call, and gives the body that it sends beside it.
func (q *request) render(ctx context.Context, in *upstreams.Input) (*http.Request, []byte, error) {
	method, typ, body, err := q.body(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, q.target(in), reader(body))
	if err != nil {
		return nil, nil, errors.New("request cannot be built") // the cause would tell the URL, and with it secrets
	}
	req.Header.Set("User-Agent", userAgent)
	if typ != "" {
		req.Header.Set("Content-Type", typ)
	}
	in.MarkLoop(req.Header)
	if q.trace {
		for name, v := range in.Call.Trace {
			req.Header.Set(name, v)
		}
	}
	for _, p := range q.headers {
		req.Header.Set(p.name, p.value.Render(in.Values, jq.EscapeHeader))
	}
	return req, body, nil
}

// target is the URL with its placeholders filled.
func (q *request) target(in *upstreams.Input) string {
	var b strings.Builder
	b.WriteString(q.base.String())
	b.WriteString(q.path.Render(in.Values, jq.EscapePath))
	if len(q.query) > 0 {
		b.WriteString("?" + encodePairs(q.query, in.Values))
	}
	if !q.raw.IsZero() {
		escape := url.QueryEscape
		if q.encoded {
			escape = jq.EscapeHeader // which keeps it on its line
		}
		b.WriteString("?" + q.raw.Render(in.Values, escape))
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
func (q *request) body(ctx context.Context, in *upstreams.Input) (method, typ string, body []byte, err error) {
	switch {
	case q.form != nil:
		return http.MethodPost, "application/x-www-form-urlencoded", []byte(encodePairs(q.form, in.Values)), nil
	case q.json != nil:
		v, err := q.json.One(ctx, nil, in.Env)
		if err != nil {
			return "", "", nil, fmt.Errorf("json: %w", err)
		}
		if q.secretJSON && len(in.Hidden) > 0 {
			in.Derive(v, redact.SignatureMin)
		}
		body, err := plainjson.Marshal(v)
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

// send does the exchange and reads what fits under the cap.
func (q *request) send(req *http.Request, in *upstreams.Input) (*upstreams.Reply, []byte, error) {
	resp, err := q.client.Do(req)
	if err != nil {
		return nil, nil, SendError(err)
	}
	defer func() {
		// Reading a little more lets the connection be used again.
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
		_ = resp.Body.Close()
	}()
	body, err := readCapped(&metered{ctx: req.Context(), body: resp.Body, room: &in.Memory}, q.limit)
	if err != nil {
		return nil, nil, SendError(err)
	}
	return &upstreams.Reply{Status: resp.StatusCode, Header: resp.Header}, body, nil
}

// SendError classifies, and drops the URL that net/http puts into its errors:
// it may hold a secret or a caller's input.
func SendError(err error) error {
	err = webpage.Cause(err)
	if typed, ok := errors.AsType[*upstreams.Error](err); ok {
		return typed
	}
	kind := upstreams.KindOf(err)
	if kind == upstreams.Internal && !errors.Is(err, context.Canceled) {
		kind = upstreams.Unavailable // every other way in which an exchange can end
	}
	return &upstreams.Error{Kind: kind, Err: err}
}

func requestLine(r *http.Request) string { return r.Method + " " + r.URL.Redacted() }

func replyLine(r *upstreams.Reply, body []byte) string {
	return fmt.Sprintf("%d %s, %s, %d bytes", r.Status, http.StatusText(r.Status), r.Header.Get("Content-Type"), len(body))
}
