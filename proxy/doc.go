// Package proxy is the net/http front. It promises that every request gets one
// well-formed answer: in the form that was asked for, with headers that tell
// its age, its source and how the cache came to it, or as one kind of error
// document with a status that is the truth.
//
// The life of a request: route, admission, parameters, key, cache (which asks
// the upstreams when it must), respond, one log line. A hit takes the same way
// and finds everything ready.
package proxy
