package proxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

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
	f := &failure{status: http.StatusInternalServerError, kind: typeInternal, message: "something went wrong here", cause: err}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		f.status = statusLeft
		return f
	}
	if errors.Is(err, errShed) || errors.Is(err, cache.ErrBusy) {
		f = overloaded()
		f.cause = err
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

type errorEnvelope struct {
	Code    int         `json:"code"`
	Message string      `json:"message"`
	Error   errorDetail `json:"error"`
}

type errorDetail struct {
	Type      string `json:"type"`
	Parameter string `json:"parameter,omitempty"`
	RequestID string `json:"request_id"`
}

// write sends the failure: an envelope, one line for who asked for text, or a
// call of the caller's function. Browsers run no script whose status is an
// error, so that one tells its status inside alone.
func (f *failure) write(x *exchange, manner catalog.Manner) int {
	h, status, control := x.w.Header(), f.status, cmp.Or(f.control, "no-store")
	if f.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int((f.retry+time.Second-1)/time.Second)))
	}
	var body []byte
	switch {
	case manner.Text:
		h.Set("Content-Type", "text/plain; charset=utf-8")
		body = []byte(f.message + "\n")
	case manner.Callback != "":
		h.Set("Content-Type", "text/javascript; charset=utf-8")
		body = slices.Concat([]byte("/**/"+manner.Callback+"("), f.document(x.id), []byte(");"))
		status, control = http.StatusOK, "no-store"
	default:
		h.Set("Content-Type", contentJSON)
		body = f.document(x.id)
	}
	h.Set("Cache-Control", control)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.begin(status)
	if x.r.Method == http.MethodHead {
		return 0
	}
	n, _ := x.w.Write(body) // a caller who left needs no answer
	return n
}

func (f *failure) document(id string) []byte {
	b, err := marshal(errorEnvelope{f.status, f.message, errorDetail{f.kind, f.parameter, id}})
	if err != nil {
		return []byte(`{"code":500,"message":"something went wrong here"}`)
	}
	return b
}

// marshal leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b jsonBuffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.trimmed(), err
}

type jsonBuffer struct{ b []byte }

func (j *jsonBuffer) Write(p []byte) (int, error) { j.b = append(j.b, p...); return len(p), nil }

// trimmed drops the newline that the encoder ends with.
func (j *jsonBuffer) trimmed() []byte {
	if n := len(j.b); n > 0 && j.b[n-1] == '\n' {
		return j.b[:n-1]
	}
	return j.b
}

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
