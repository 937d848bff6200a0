package proxy

import (
	"net/http"
	"strconv"

	"sundry/cache"
	"sundry/proxy/pages"
)

// page answers with the page at a path, which is generated when it is first
// asked for.
func (s *Server) page(w http.ResponseWriter, r *http.Request, path string) {
	set := s.current.Load().pages
	if set == nil {
		s.failPage(w, r, notFound("there is no catalog yet"))
		return
	}
	d, err := set.Document(path)
	if err != nil {
		s.cfg.Log.Error("make a page", "path", r.URL.Path, "error", err)
		s.failPage(w, r, &failure{status: http.StatusInternalServerError, kind: typeInternal, message: "this page cannot be made"})
		return
	}
	s.document(w, r, d)
}

func (s *Server) document(w http.ResponseWriter, r *http.Request, d *pages.Document) {
	h := w.Header()
	s.setCommonHeaders(h, requestID(r))
	h.Set("Cache-Control", "public, max-age=60")
	h["Vary"] = s.preset.vary
	h.Set("Etag", d.ETag)
	if matches(r.Header["If-None-Match"], d.ETag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body, coding := d.Body(acceptedCodings(r.Header["Accept-Encoding"]))
	if coding != cache.Identity {
		h.Set("Content-Encoding", coding.String())
	}
	if d.Policy != "" {
		h.Set("Content-Security-Policy", d.Policy)
	}
	h.Set("Content-Type", d.Type)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) //nolint:gosec // the request only chooses among pages; a write that fails has no reader
	}
}
