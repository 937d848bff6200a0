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
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
	"sundry/upstreams/lib/plainjson"
	"sundry/upstreams/lib/redact"
	"sundry/upstreams/lib/webpage"
)

// render fills the templates. It returns the request, and the body that it sends.
func (f *fetcher) render(ctx context.Context, a *upstreams.Attempt) (*http.Request, []byte, error) {
	method, typ, body, err := f.body(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	address := f.origin + f.path.Render(a.Values, jq.EscapePath)
	if query := f.encodeQuery(a); query != "" {
		address += "?" + query
	}
	var sent io.Reader = http.NoBody
	if body != nil {
		sent = bytes.NewReader(body) // which net/http can rewind
	}
	req, err := http.NewRequestWithContext(ctx, method, address, sent)
	if err != nil {
		return nil, nil, errors.New("request cannot be built") // without the cause, which contains the URL and so its secrets
	}
	req.Header["User-Agent"] = []string{f.agent.value()}
	if typ != "" {
		req.Header.Set("Content-Type", typ)
	}
	a.SendLoopID(req.Header)
	if f.trace {
		a.Call.Trace.AddTo(req.Header)
	}
	for _, h := range f.headers {
		if v := h.value.Render(a.Values, jq.EscapeHeader); v != "" || h.value.IsLiteral() {
			req.Header[h.name] = []string{v}
		}
	}
	return req, body, nil
}

// encodeQuery is the query of the request; "" for none.
func (f *fetcher) encodeQuery(a *upstreams.Attempt) string {
	if f.rawQuery.IsZero() {
		return encodeFields(f.query, a.Values, leaveOutEmpty)
	}
	escape := url.QueryEscape
	if f.rawQueryEncoded {
		escape = jq.EscapeHeader // only line breaks are removed
	}
	return f.rawQuery.Render(a.Values, escape)
}

// leaveOutEmpty leaves out what a query's placeholders leave empty, such as an option
// that is not set. Forms are sent whole: services sign them.
const leaveOutEmpty = true

// encodeFields writes names and values as in a query or a form. The literals of
// the values were escaped at load.
func encodeFields(fields []field, values map[string]any, leaveOut bool) string {
	var b strings.Builder
	for _, f := range fields {
		v := f.value.Render(values, url.QueryEscape)
		if v == "" && leaveOut && !f.value.IsLiteral() {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('&')
		}
		b.WriteString(f.escaped)
		b.WriteByte('=')
		b.WriteString(v)
	}
	return b.String()
}

// body is the body of the request with its method and content type.
func (f *fetcher) body(ctx context.Context, a *upstreams.Attempt) (method, typ string, body []byte, err error) {
	switch {
	case f.form != nil:
		return http.MethodPost, "application/x-www-form-urlencoded", []byte(encodeFields(f.form, a.Values, !leaveOutEmpty)), nil
	case f.json != nil:
		v, err := f.json.One(ctx, nil, a.Env)
		if err != nil {
			return "", "", nil, fmt.Errorf("json: %w", err)
		}
		body, err := plainjson.Marshal(v)
		return http.MethodPost, "application/json", body, err
	}
	return http.MethodGet, "", nil, nil
}

// send sends the request and reads the reply up to its limit.
func (f *fetcher) send(req *http.Request, a *upstreams.Attempt) (r *upstreams.Reply, body []byte, from *url.URL, err error) {
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, nil, nil, ClassifyError(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = readAtMost(&reservingReader{ctx: req.Context(), body: resp.Body, memory: &a.Memory}, resp.ContentLength, f.maxBytes)
	if err != nil {
		// Reading to the end of a short rest lets the connection be reused.
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
		return nil, nil, nil, ClassifyError(err)
	}
	return &upstreams.Reply{Status: resp.StatusCode, Header: resp.Header}, body, resp.Request.URL, nil
}

// ClassifyError turns an error of sending a request or reading its reply into an
// *upstreams.Error, unavailable unless the cause says otherwise. It removes the URL
// that net/http puts into its errors, which may contain a secret or a caller's
// input, and what they quote of a reply, which may echo them.
func ClassifyError(err error) error {
	err = redact.WithoutQuotes(webpage.Cause(err))
	if typed, ok := errors.AsType[*upstreams.Error](err); ok {
		return typed
	}
	kind := upstreams.KindOf(err)
	if kind == upstreams.Internal && !errors.Is(err, context.Canceled) {
		kind = upstreams.Unavailable // such as a refused connection, or a failed lookup
	}
	return &upstreams.Error{Kind: kind, Err: err}
}

func requestLine(r *http.Request) string { return r.Method + " " + r.URL.Redacted() }

// shownRequest returns the request line as operators see it. Where the source has secrets, it has no path, and of the
// parameters only the declared names: those of a raw query may be computed as well.
func shownRequest(r *http.Request, declared []field, a *upstreams.Attempt) string {
	if !a.Hidden {
		return requestLine(r)
	}
	var names []string
	for _, f := range declared {
		names = append(names, f.name+"=***")
	}
	if r.URL.RawQuery != "" && len(names) == 0 {
		names = []string{"***"}
	}
	shown := r.Method + " " + r.URL.Scheme + "://" + r.URL.Host + "/***"
	if len(names) > 0 {
		shown += "?" + strings.Join(names, "&")
	}
	return shown
}

// shownReply describes a reply as operators see it. Where the source has secrets, it has nothing that the service wrote.
func shownReply(r *upstreams.Reply, body []byte, a *upstreams.Attempt) string {
	if a.Hidden {
		return fmt.Sprintf("%d %s, %d bytes", r.Status, http.StatusText(r.Status), len(body))
	}
	return fmt.Sprintf("%d %s, %s, %d bytes", r.Status, http.StatusText(r.Status), r.Header.Get("Content-Type"), len(body))
}

// phoneAgent is the User-Agent of a phone's browser. Some hosts redirect that of a desktop
// to another page.
const phoneAgent = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1"

// agent is the User-Agent of requests.
type agent struct {
	env  *upstreams.Environment
	name string // browser, phone, or "" for this service's own
}

// checkAgent reports a User-Agent that is declared twice.
func (s *Spec) checkAgent(problems *declare.Problems) {
	for name, value := range s.Headers {
		if s.Agent != "" && strings.EqualFold(name, "User-Agent") {
			problems.Add(value.Line, "agent and the header User-Agent: expected only one of them")
		}
	}
}

// value is the one in force.
func (a agent) value() string {
	switch a.name {
	case "browser":
		return a.env.Outgoing().Agents.Browser
	case "phone":
		return phoneAgent
	}
	return a.env.Outgoing().Agents.Own
}
