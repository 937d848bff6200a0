package proxy

import (
	"net/http"
	"strconv"
)

// Paths of probes. They are below ownPrefix, too, where an API may have all other paths.
const (
	healthPath = "/healthz"
	readyPath  = "/readyz"
	ownPrefix  = "/-"
)

// SetReady sets what /readyz answers: whether this instance is ready for traffic.
func (s *Server) SetReady(ready bool) { s.ready.Store(ready) }

// Drain turns readiness off and makes every answer from now on the last of its
// connection (Connection: close), so that clients with idle connections go to
// another instance before the listener closes.
func (s *Server) Drain() {
	s.ready.Store(false)
	s.draining.Store(true)
}

// Ready reports whether this instance is ready for traffic.
func (s *Server) Ready() bool { return s.ready.Load() }

// probe answers a health check.
func (s *Server) probe(w http.ResponseWriter, r *http.Request, ok bool) {
	h, status, word := w.Header(), http.StatusOK, "ok\n"
	if !ok {
		status, word = http.StatusServiceUnavailable, "draining\n"
	}
	s.setCommonHeaders(h, requestIDOf(r.Header["X-Request-Id"]).String())
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", contentText)
	h.Set("Content-Length", strconv.Itoa(len(word)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(word)) // a failed write has no reader
	}
}
