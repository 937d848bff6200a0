// Package express answers plain requests before net/http sees them, and promises
// that nobody can tell: a request is answered here only if the Answerer has its
// whole answer, and every other byte reaches net/http as the client sent it.
//
// net/http waits for the next request of a connection inside the connection's own
// Read. There, at the boundary between two requests, the lane reads into the buffer
// that net/http lent it, answers the plain GET and HEAD requests that it finds, and
// goes on waiting. What it does not answer, it returns from Read.
//
// The lane knows no endpoint, and of HTTP only as much as it takes to see where the
// head of a plain request ends.
package express
