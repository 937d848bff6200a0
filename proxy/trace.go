package proxy

import (
	"net/http"
	"regexp"
	"strings"

	"sundry/upstreams"
)

// maxTraceState is the length of the longest tracestate that is passed on (W3C Trace
// Context asks for at least 512 characters).
const maxTraceState = 512

// traceParents matches a traceparent: version, trace, parent, flags, and what a version to
// come may add. All zeros are neither a trace nor a parent.
var traceParents = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.{0,8})?$`)

// traceParent returns the request's traceparent (W3C Trace Context); "" where there
// is none, or where it is not well-formed.
func traceParent(r *http.Request) string {
	m := traceParents.FindStringSubmatch(first(r.Header["Traceparent"]))
	if m == nil || m[1] == "ff" || m[1] == "00" && m[4] != "" || strings.Trim(m[2], "0") == "" || strings.Trim(m[3], "0") == "" {
		return ""
	}
	return m[0]
}

// traceOf is what is passed on to upstreams to join traces across services. This
// service adds no span of its own: upstreams get the caller's as parent.
func traceOf(req *request) upstreams.Trace {
	trace := upstreams.Trace{RequestID: req.id.String(), Parent: traceParent(req.r)}
	if state := first(req.r.Header["Tracestate"]); trace.Parent != "" && len(state) <= maxTraceState {
		trace.State = state
	}
	return trace
}
