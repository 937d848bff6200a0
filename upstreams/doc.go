// Package upstreams calls other people's services. A source is one call that an
// endpoint's catalog file declares; a chain is sources in order, with failover. It
// knows no kind of source: those are in upstreams/httpsource and upstreams/kinds.
// What the package promises:
//
//   - Everything a source needs is compiled at load: templates, jq programs,
//     judge rules. A mistake is reported with its line, and nothing is parsed
//     while a request waits.
//   - One rule for all: a definite answer, success or negative, ends the chain, unless
//     the source says that its negative ones do not; a source that is unavailable, late,
//     rate limited or malformed leads to the next.
//   - One breaker per upstream host. Negative answers never count against it, nor do
//     client disconnects.
//   - No upstream can do harm: time, size and concurrency are bounded, pictures are
//     verified, redirects stay with declared hosts.
//   - No upstream text, address or credential gets into an error for a caller.
//
// A call of a chain goes down through these, some of which do the next more than once:
//
//   - Chain.Do answers a call; pass.failover goes from source to source.
//   - planned.ask asks one of them if it serves the call, within its part of the time.
//   - Source.attemptWithRetries makes attempts, while one more may succeed.
//   - Source.attempt makes one, and reports it.
//   - Source.execute makes the steps, the source's own request, and data of the reply.
//   - Send makes one request through the breaker of its host, and judges the reply.
//   - Fetch sends it, reads the reply up to its limit, and decodes it.
package upstreams
