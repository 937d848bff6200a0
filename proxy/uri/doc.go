// Package uri checks and normalises the URI of a request before anything depends on it. It promises that all spellings of
// a path that mean the same have one form, and that no path that it accepts leads an origin out of an API.
package uri
