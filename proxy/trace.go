package proxy

import (
	"net/http"
	"strings"
)

// traceState is the longest tracestate that is passed on (W3C Trace Context
// asks for at least 512 characters).
const traceState = 512

// traceParent returns the request's traceparent (W3C Trace Context); "" where there
// is none, or where it is not well-formed.
func traceParent(r *http.Request) string {
	v := headerOf(r, "Traceparent")
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

// traceHeaders returns the headers that are passed on to upstreams to join traces
// across services. We add no span of our own: upstreams get the caller's.
func traceHeaders(req *request) map[string]string {
	trace := map[string]string{"X-Request-Id": req.id}
	if parent := traceParent(req.r); parent != "" {
		trace["Traceparent"] = parent
		if state := headerOf(req.r, "Tracestate"); state != "" && len(state) <= traceState {
			trace["Tracestate"] = state
		}
	}
	return trace
}
