// Package proxy serves the public HTTP API. It promises that every request gets
// exactly one well-formed answer: in the form that the caller asked for, with
// headers that give its age, its source and whether it was a hit, or an error with
// a type of a closed list, as JSON, text or JSONP. Only a connection that the
// client closed, or an answer that failed halfway, ends without one.
//
// A request goes through routing, the rate limit of its client, parameters, the
// near tier, admission, the cache (which asks the upstreams where it has to),
// the response, metrics and the log. A hit needs no admission, so it is served
// under overload too.
package proxy
