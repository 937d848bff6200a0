// Package web keeps what HTTP says about caching, and nothing else: whether a response may be stored and for whom, how
// long it is fresh, which stored one answers a request, what to ask an origin with, and what its reply does to what is
// stored (RFC 9111, with RFC 5861, 8246, 9110, 9211 and 9213), as rules without state, whose time is an argument. A Store keeps
// objects by these rules, here and in Redis, a Spool a body that arrives; nothing is fetched. Fields that callers pass are read and
// never changed, unless it is said.
package web
