package proxy

import (
	"context"
	"errors"
	"net/http"
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

func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
