// Package upstreams asks other people's services and understands their
// answers. A source is one call that an endpoint's catalog file declares; a
// chain is sources in order. What the package promises:
//
//   - Everything a source needs is compiled at load: templates, jq programs,
//     judge rules. A mistake is reported with its line, and nothing is parsed
//     while a request waits.
//   - One rule for all: a definite answer, good or negative, ends the chain; what
//     is unavailable, late, limited or malformed leads to the next source.
//   - One breaker per upstream host. Negatives never count against it, nor do
//     callers who leave.
//   - No upstream can hurt: time, size and concurrency are bounded, pictures are
//     verified, redirects stay with declared hosts.
//   - No upstream text, address or credential gets into an error for a caller.
//
// The life of an attempt: render the request, send it, read what fits under the
// cap, decode, judge, map to data, fetch the picture it leads to.
package upstreams
