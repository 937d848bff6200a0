package proxy

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sundry/cache"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
)

// failure is what a caller is told when there is no answer. Its message is
// ours: upstream text, addresses and causes stay in the log.
type failure struct {
	status    int
	kind      string // from the contract's closed list
	parameter string
	message   string
	retry     time.Duration // Retry-After; 0 for none
	control   string        // Cache-Control; "" for no-store
	cause     error         // for the log
}

// The closed list of error types, with their statuses.
const (
	typeMissing     = "missing_parameter"
	typeInvalid     = "invalid_parameter"
	typeForbidden   = "forbidden_target"
	typeNotFound    = "not_found"
	typeMethod      = "method_not_allowed"
	typeLimited     = "rate_limited"
	typeInternal    = "internal"
	typeUnavailable = "upstream_unavailable"
	typeOverloaded  = "overloaded"
	typeTimeout     = "upstream_timeout"
)

// errorTypes is the closed list, as it is published.
func errorTypes() []string {
	return []string{typeMissing, typeInvalid, typeForbidden, typeNotFound, typeMethod, typeLimited, typeInternal, typeUnavailable, typeOverloaded, typeTimeout}
}

// statusClientClosed is what the log says of callers who left; nobody receives it.
const statusClientClosed = 499

func parameterFailure(err *catalog.ParamError) *failure {
	kind, status := typeInvalid, http.StatusBadRequest
	switch {
	case err.Missing:
		kind = typeMissing
	case err.Forbidden:
		kind, status = typeForbidden, http.StatusForbidden
	}
	return &failure{status: status, kind: kind, parameter: err.Parameter, message: err.Message}
}

func notFound(message string) *failure {
	return &failure{status: http.StatusNotFound, kind: typeNotFound, message: message}
}

func overloaded() *failure {
	return &failure{status: http.StatusServiceUnavailable, kind: typeOverloaded, retry: time.Second,
		message: "too many requests are waiting; try again in a moment"}
}

func limited(wait time.Duration) *failure {
	return &failure{status: http.StatusTooManyRequests, kind: typeLimited, retry: max(wait, time.Second),
		message: "too many requests from your address; try again later"}
}

// classify is the one place where an error becomes a status.
func classify(ctx context.Context, err error) *failure {
	if errors.Is(err, errShed) || errors.Is(err, cache.ErrBusy) {
		f := overloaded() // the context is not asked: that would begin a wait
		f.cause = err
		return f
	}
	f := &failure{status: http.StatusInternalServerError, kind: typeInternal, message: "something went wrong here", cause: err}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		f.status = statusClientClosed
		return f
	}
	if paused, ok := errors.AsType[*cache.PausedError](err); ok {
		f.retry = paused.Retry
	}
	var typed *upstreams.Error
	if errors.As(err, &typed) {
		f.parameter = typed.Parameter
	}
	switch upstreams.KindOf(err) {
	case upstreams.Invalid:
		f.status, f.kind, f.message = http.StatusBadRequest, typeInvalid, typed.Message
	case upstreams.Forbidden:
		f.status, f.kind, f.message = http.StatusForbidden, typeForbidden, "this address must not be reached from here"
	case upstreams.Negative:
		f.status, f.kind, f.message = http.StatusNotFound, typeNotFound, "there is no such thing"
	case upstreams.Timeout:
		f.status, f.kind, f.message = http.StatusGatewayTimeout, typeTimeout, "no upstream answered in time; try again later"
	case upstreams.Busy:
		f.status, f.kind, f.message = http.StatusServiceUnavailable, typeOverloaded, "too much of this kind is being done; try again in a moment"
		f.retry = max(f.retry, time.Second)
	case upstreams.Unavailable, upstreams.Limited, upstreams.Rejected, upstreams.Malformed:
		f.status, f.kind, f.message = http.StatusBadGateway, typeUnavailable, "no upstream can answer this at the moment; try again later"
	}
	return f
}

// failPage sends a failure that is no endpoint's.
func (s *Server) failPage(w http.ResponseWriter, r *http.Request, f *failure) {
	s.fail(&request{w: w, r: r, id: requestID(r)}, outcomeError, f)
}

// fail answers with an error document. Refusals come in floods: nothing here
// reflects, formats or copies what stands ready.
func (s *Server) fail(req *request, o outcome, f *failure) {
	req.outcome, req.status, req.failed = o, f.status, f
	if f.status == statusClientClosed {
		return
	}
	h := req.w.Header()
	if req.hit.Meta.Source != "" {
		h["Sundry-Source"] = []string{req.hit.Meta.Source}
	}
	if req.hit.State != cache.Absent {
		h["Cache-Status"], h["Age"] = []string{string(appendCacheStatus(nil, &req.hit))}, []string{seconds(req.hit.Age)}
	}
	req.sent = s.writeError(req, f, s.errorFormat(req))
}

// errorFormat is how the caller wants to be told what went wrong.
func (s *Server) errorFormat(req *request) catalog.Manner {
	var e *catalog.Endpoint
	if req.route != nil {
		e = req.route.endpoint
	}
	m := e.Manner(req.r.URL.RawQuery)
	m.Text = m.Text || req.in.Form != nil && req.in.Form.Kind == "text"
	if req.r.Method != http.MethodGet && req.r.Method != http.MethodHead {
		m.Callback = "" // no script asks so
	}
	return m
}

// writeError sends the failure: an envelope, one line for who asked for text, or a
// call of the caller's function. Browsers run no script whose status is an
// error, so that one tells its status inside alone.
func (s *Server) writeError(req *request, f *failure, format catalog.Manner) int {
	h, status, control := req.w.Header(), f.status, f.control
	body := make([]byte, 0, 2*len(f.message)+len(f.parameter)+len(format.Callback)+len(req.id)+128)
	switch {
	case format.Text:
		h["Content-Type"] = s.preset.text
		body = append(append(body, f.message...), '\n')
	case format.Callback != "":
		h["Content-Type"] = s.preset.script
		body = append(append(append(body, "/**/"...), format.Callback...), '(')
		body = append(f.appendJSON(body, req.id), ");"...)
		status, control = http.StatusOK, ""
	default:
		h["Content-Type"] = s.preset.json
		body = f.appendJSON(body, req.id)
	}
	s.setErrorHeaders(h, f, req.id, control, len(body))
	req.begin(status)
	if req.r.Method == http.MethodHead {
		return 0
	}
	n, _ := req.w.Write(body) // a caller who left needs no answer
	return n
}

// setErrorHeaders assigns the headers that every failure has.
func (s *Server) setErrorHeaders(h http.Header, f *failure, id, control string, length int) {
	v := []string{id, strconv.Itoa(length), control, ""} // one block
	h["X-Request-Id"], h["Content-Length"] = v[0:1:1], v[1:2:2]
	h["X-Content-Type-Options"], h["Access-Control-Allow-Origin"] = s.preset.nosniff, s.preset.anyone
	h["Cache-Control"] = s.preset.noStore
	if control != "" {
		h["Cache-Control"] = v[2:3:3]
	}
	if f.retry > 0 {
		v[3] = strconv.FormatInt(ceilSeconds(f.retry), 10)
		h["Retry-After"] = v[3:4:4]
	}
}

// appendJSON appends the failure's document.
func (f *failure) appendJSON(b []byte, id string) []byte {
	b = strconv.AppendInt(append(b, `{"code":`...), int64(f.status), 10)
	b = appendText(append(b, `,"message":`...), f.message)
	b = appendText(append(b, `,"error":{"type":`...), f.kind)
	if f.parameter != "" {
		b = appendText(append(b, `,"parameter":`...), f.parameter)
	}
	b = appendText(append(b, `,"request_id":`...), id)
	return append(b, "}}"...)
}

// appendText appends a string of JSON: what JSON, or a script in which it stands,
// cannot hold is escaped, and what is not UTF-8 replaced.
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	b = append(b, '"')
	done := 0
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(append(b, s[done:i]...), '\\', c)
			done = i + 1
		case c < ' ':
			b = append(append(b, s[done:i]...), '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			done = i + 1
		case c == 0xe2 && (s[i:i+3] == "\u2028" || s[i:i+3] == "\u2029"):
			b = append(append(b, s[done:i]...), '\\', 'u', '2', '0', '2', '8'+s[i+2]&1)
			done = i + 3
		}
	}
	return append(append(b, s[done:]...), '"')
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
