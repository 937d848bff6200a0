package proxy

import (
	"net/http"
	"strconv"
)

// page sends a page for people.
func (s *Server) page(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'")
	s.document(w, r, "text/html; charset=utf-8", body)
}

// description sends the description of the API for machines.
func (s *Server) description(w http.ResponseWriter, r *http.Request) {
	if body, ok := s.made(w, s.set.Load().openAPI); ok {
		w.Header()["Access-Control-Allow-Origin"] = s.fixed.anyone
		s.document(w, r, "application/json; charset=utf-8", body)
	}
}

// reference sends the description of the API for people.
func (s *Server) reference(w http.ResponseWriter, r *http.Request) {
	if body, ok := s.made(w, s.set.Load().docs); ok {
		s.page(w, r, body)
	}
}

// made gives what is made when it is first asked for.
func (s *Server) made(w http.ResponseWriter, make func() ([]byte, error)) ([]byte, bool) {
	body, err := make()
	if err != nil {
		s.cfg.Log.Error("describe the API", "error", err)
		http.Error(w, "the description cannot be made", http.StatusInternalServerError)
	}
	return body, err == nil
}

func (s *Server) document(w http.ResponseWriter, r *http.Request, typ string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", typ)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=60")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a caller who left needs no page
	}
}

func (s *Server) probe(w http.ResponseWriter, ok bool) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("draining\n"))
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}
