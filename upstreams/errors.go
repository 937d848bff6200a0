package upstreams

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams/host"
)

// ErrorKind classifies a failure by what should follow from it.
type ErrorKind uint8

// The kinds. After Invalid, Forbidden and Negative no other source is asked: it
// would say the same (a Negative leads to the next source where the chain may not be
// negative or the source says so). The others lead to the next source.
const (
	Internal    ErrorKind = iota // a mistake of this service
	Invalid                      // the caller's input cannot be answered
	Forbidden                    // the input leads to an address that the SSRF guard refuses
	Negative                     // the upstream says that it does not exist
	Unavailable                  // no answer, or one that says "not now"
	Timeout                      // no answer in time
	Limited                      // rate limited by the upstream
	Rejected                     // the breaker is open
	Throttled                    // the source's declared rate is used up; it was not called
	Busy                         // too many concurrent calls
	Malformed                    // an answer of an unexpected form
	Skipped                      // the source does not serve this input
	errorKinds
)

// String names the kind in metrics, logs and judge rules.
func (k ErrorKind) String() string {
	return [...]string{"internal", "invalid", "forbidden", "negative", "unavailable", "timeout",
		"limited", "rejected", "throttled", "busy", "malformed", "skipped", "unknown"}[min(k, errorKinds)]
}

// ParseErrorKind reads what String writes.
func ParseErrorKind(name string) (ErrorKind, bool) {
	for k := range errorKinds {
		if k.String() == name {
			return k, true
		}
	}
	return errorKinds, false
}

// Error is a failed attempt, or the failure of a whole chain.
type Error struct {
	Kind       ErrorKind
	Source     string        // "" for a chain
	Status     int           // HTTP status of the upstream, 0 without one
	RetryAfter time.Duration // what the upstream asked for, 0 without
	Parameter  string        // of Invalid and Forbidden: whose value it is
	// Message is for the caller: ours, never the upstream's. The zero value stands
	// for a standard one by kind.
	Message words.Text
	// Reason says in one word why the source could not answer, for the sources after it:
	// $cause. "" means that it is not known.
	Reason string
	// Next: a Negative leads to the next source.
	Next bool
	Err  error // for the log
}

func (e *Error) Error() string {
	s := e.Kind.String()
	if e.Source != "" {
		s = e.Source + ": " + s
	}
	if e.Status != 0 {
		s = fmt.Sprintf("%s (status %d)", s, e.Status)
	}
	if e.Err != nil {
		s += ": " + e.cause()
	}
	return s
}

// cause is the text of the cause, which may begin with the kind, as that of host.ErrRejected does.
func (e *Error) cause() string { return strings.TrimPrefix(e.Err.Error(), e.Kind.String()+": ") }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Mistaken is the error of a parameter's value that a source cannot answer. The caller
// is told what is wrong.
func Mistaken(parameter string, err error, wrong words.Text) *Error {
	return &Error{Kind: Invalid, Parameter: parameter, Err: err, Message: words.Sayf("parameter %s: %s", "参数 %s 有误：%s", parameter, wrong)}
}

// WithCause is the error with its cause changed; the one given stays as it is.
func (e *Error) WithCause(change func(error) error) error {
	if e.Err == nil {
		return e
	}
	changed := *e
	changed.Err = change(e.Err)
	return &changed
}

// KindOf classifies any error: an Error by its kind, the rest by what the
// standard library says of it.
func KindOf(err error) ErrorKind {
	var typed *Error
	var network net.Error
	switch {
	case errors.As(err, &typed):
		return typed.Kind
	case errors.Is(err, host.ErrBusy):
		return Busy
	case errors.Is(err, host.ErrRejected):
		return Rejected
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return Timeout
	case errors.As(err, &network):
		return Unavailable
	}
	return Internal
}

// Errorf is a failure of this kind, with a formatted cause.
func Errorf(kind ErrorKind, format string, args ...any) *Error {
	return &Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// definite reports whether the chain ends.
func (k ErrorKind) definite() bool { return k == Invalid || k == Forbidden || k == Negative }

// healthOf is what the result of an attempt says about its host.
func healthOf(err error) host.Health {
	if err == nil {
		return host.Healthy
	}
	switch k := KindOf(err); {
	case errors.Is(err, context.Canceled):
		return host.Ignored // shutdown, or all clients disconnected
	case k == Unavailable, k == Timeout, k == Limited:
		return host.Failing
	}
	return host.Healthy
}

// StatusOf is the HTTP status that an attempt failed with; 0 without one.
func StatusOf(err error) int {
	if typed, ok := errors.AsType[*Error](err); ok {
		return typed.Status
	}
	return 0
}

// ErrTooLarge means that a reply exceeds its limit.
var ErrTooLarge = errors.New("reply exceeds its limit")

// WhyFailed is what an operator is told of a failed call: its error, in Chinese after what it comes to, if that is known.
func WhyFailed(err error) words.Text {
	why := words.Name(err.Error())
	what := words.Failure(err)
	refusal, refused := errors.AsType[*Refusal](err)
	failed, ofSource := errors.AsType[*Error](err)
	switch bad := ofSource && failed.Status >= http.StatusBadRequest; {
	case refused && refusal.Page:
		what = words.Say("a web page, not the data", "返回的是网页，不是数据")
	case what == why && bad:
		what = words.Sayf("status %d", "状态码 %d", failed.Status)
	case what == why:
		return why
	}
	return words.Say(why.EN(), words.Detailed(what, err).ZH())
}
