package proxy

import (
	"net/http"
	"strconv"
)

// SetReady says whether this instance wants traffic; /readyz tells.
func (s *Server) SetReady(ready bool) { s.ready.Store(ready) }

// Drain turns readiness off, and makes every answer from now on the last of its
// connection: it says so, and callers who keep theirs leave by themselves.
func (s *Server) Drain() {
	s.ready.Store(false)
	s.draining.Store(true)
}

// Ready tells whether it does.
func (s *Server) Ready() bool { return s.ready.Load() }

func (s *Server) probe(w http.ResponseWriter, r *http.Request, ok bool) {
	h, status, word := w.Header(), http.StatusOK, "ok\n"
	if !ok {
		status, word = http.StatusServiceUnavailable, "draining\n"
	}
	s.setCommonHeaders(h, requestID(r))
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", contentText)
	h.Set("Content-Length", strconv.Itoa(len(word)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write([]byte(word)) // as above
	}
}
