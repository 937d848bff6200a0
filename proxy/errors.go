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

// statusLeft is what the log says of callers who left; nobody receives it.
const statusLeft = 499

func ofParameter(err *catalog.ParamError) *failure {
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
		f.status = statusLeft
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

// refuse sends a failure that is no endpoint's.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, f *failure) {
	s.fail(&exchange{w: w, r: r, id: requestID(r)}, outcomeError, f)
}

// fail answers with an error document. Refusals come in floods: nothing here
// reflects, formats or copies what stands ready.
func (s *Server) fail(x *exchange, o outcome, f *failure) {
	x.outcome, x.status, x.failed = o, f.status, f
	if f.status == statusLeft {
		return
	}
	h := x.w.Header()
	if x.hit.Meta.Source != "" {
		h["Sundry-Source"] = []string{x.hit.Meta.Source}
	}
	if x.hit.State != cache.Absent {
		h["Cache-Status"], h["Age"] = []string{string(appendCacheStatus(nil, &x.hit))}, []string{seconds(x.hit.Age)}
	}
	x.sent = s.write(x, f, s.mannerOf(x))
}

// mannerOf is how the caller wants to be told what went wrong.
func (s *Server) mannerOf(x *exchange) catalog.Manner {
	var e *catalog.Endpoint
	if x.route != nil {
		e = x.route.endpoint
	}
	m := e.Manner(x.r.URL.RawQuery)
	m.Text = m.Text || x.in.Form != nil && x.in.Form.Kind == "text"
	if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
		m.Callback = "" // no script asks so
	}
	return m
}

// write sends the failure: an envelope, one line for who asked for text, or a
// call of the caller's function. Browsers run no script whose status is an
// error, so that one tells its status inside alone.
func (s *Server) write(x *exchange, f *failure, manner catalog.Manner) int {
	h, status, control := x.w.Header(), f.status, f.control
	body := make([]byte, 0, 2*len(f.message)+len(f.parameter)+len(manner.Callback)+len(x.id)+128)
	switch {
	case manner.Text:
		h["Content-Type"] = s.fixed.text
		body = append(append(body, f.message...), '\n')
	case manner.Callback != "":
		h["Content-Type"] = s.fixed.script
		body = append(append(append(body, "/**/"...), manner.Callback...), '(')
		body = append(f.appendTo(body, x.id), ");"...)
		status, control = http.StatusOK, ""
	default:
		h["Content-Type"] = s.fixed.json
		body = f.appendTo(body, x.id)
	}
	s.describeFailure(h, f, x.id, control, len(body))
	x.begin(status)
	if x.r.Method == http.MethodHead {
		return 0
	}
	n, _ := x.w.Write(body) // a caller who left needs no answer
	return n
}

// describeFailure assigns the headers that every failure has.
func (s *Server) describeFailure(h http.Header, f *failure, id, control string, length int) {
	v := []string{id, strconv.Itoa(length), control, ""} // one block
	h["X-Request-Id"], h["Content-Length"] = v[0:1:1], v[1:2:2]
	h["X-Content-Type-Options"], h["Access-Control-Allow-Origin"] = s.fixed.nosniff, s.fixed.anyone
	h["Cache-Control"] = s.fixed.noStore
	if control != "" {
		h["Cache-Control"] = v[2:3:3]
	}
	if f.retry > 0 {
		v[3] = strconv.FormatInt(upSeconds(f.retry), 10)
		h["Retry-After"] = v[3:4:4]
	}
}

// appendTo appends the failure's document.
func (f *failure) appendTo(b []byte, id string) []byte {
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
