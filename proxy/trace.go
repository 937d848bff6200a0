package proxy

import (
	"net/http"
	"strings"

	"sundry/upstreams"
)

// maxTraceState is the length of the longest tracestate that is passed on (W3C Trace
// Context asks for at least 512 characters).
const maxTraceState = 512

// traceParent returns the request's traceparent (W3C Trace Context); "" where there
// is none, or where it is not well-formed.
func traceParent(r *http.Request) string {
	v := first(r.Header["Traceparent"])
	if len(v) < 55 || len(v) > 64 || v[2] != '-' || v[35] != '-' || v[52] != '-' {
		return ""
	}
	version, id, parent := v[:2], v[3:35], v[36:52]
	switch {
	case version == "ff", version == "00" && len(v) != 55, len(v) > 55 && v[55] != '-',
		!lowerHex(version), !lowerHex(id), !lowerHex(parent), !lowerHex(v[53:55]),
		strings.Trim(id, "0") == "", strings.Trim(parent, "0") == "":
		return ""
	}
	return v
}

func lowerHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// traceOf is what is passed on to upstreams to join traces across services. This
// service adds no span of its own: upstreams get the caller's as parent.
func traceOf(req *request) upstreams.Trace {
	trace := upstreams.Trace{RequestID: req.id.String(), Parent: traceParent(req.r)}
	if state := first(req.r.Header["Tracestate"]); trace.Parent != "" && len(state) <= maxTraceState {
		trace.State = state
	}
	return trace
}
