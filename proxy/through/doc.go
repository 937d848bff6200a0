// Package through serves a whole HTTP API as it is, cached as HTTP says (RFC 9111): what a caller gets is what the origin
// answered it or another caller with, or may have. Nothing truncated is sent as whole, nothing is kept that a response or
// a request forbids to keep, and a slow or gone caller holds up nobody. The rules are those of package cache/web.
package through
