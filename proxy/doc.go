// Package proxy serves the public HTTP API. It promises that every request gets
// exactly one well-formed answer: in the form that the caller asked for, with
// headers that give its age, its source and how the cache came to it, or an
// error body of one shape, whose status tells what went wrong.
//
// A request goes through routing, the rate limit of its client, parameters, the
// near tier, admission, the cache (which asks the upstreams where it has to),
// the response, metrics and one log line. A hit takes the same way and is ready
// before admission: what is cached is always served.
package proxy
