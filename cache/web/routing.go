package web

import (
	"net/http"
	"slices"
)

// routing are request fields for which origins, or frameworks on them, take a request for one of another host, scheme, path or
// method than it says, and say nothing of it in Vary. What is stored for a request that has some answers only those that
// have the same, or it would be an answer to something else.
var routing = [...]string{
	"X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Scheme", "X-Forwarded-Ssl", "X-Forwarded-Prefix",
	"X-Forwarded-Path", "X-Forwarded-Uri", "X-Forwarded-Server", "X-Host", "X-Original-Host", "X-Http-Host-Override",
	"X-Original-Url", "X-Original-Uri", "X-Rewrite-Url", "X-Envoy-Original-Path", "X-Scheme", "X-Url-Scheme", "Front-End-Https", "X-Http-Method-Override",
	"X-Http-Method", "X-Method-Override",
}

// Routing are those fields.
func Routing() []string { return slices.Clone(routing[:]) }

// IsRouting reports whether a request field is one of those.
func IsRouting(name string) bool { return slices.Contains(routing[:], name) }

// Routed returns the names of those that a request has.
func Routed(request http.Header) (names []string) {
	for _, name := range routing {
		if request[name] != nil {
			names = append(names, name)
		}
	}
	return names
}

// withRouting returns the names of the fields that select a response, with the fields of routing that its request has.
func withRouting(names, routed []string) []string {
	for _, name := range routed {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
