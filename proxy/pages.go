package proxy

import (
	"net/http"
	"strconv"

	"sundry/cache"
	"sundry/proxy/pages"
)

// servePage answers with the page at a path.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request, path string) {
	set := s.current.Load().pages
	if set == nil {
		s.failPage(w, r, notFound("the catalog is not loaded yet"))
		return
	}
	d, err := set.Document(path)
	if err != nil {
		s.cfg.Log.Error("generating a page failed", "path", r.URL.Path, "error", err)
		s.failPage(w, r, &failure{status: http.StatusInternalServerError, errorType: typeInternal, message: "this page could not be generated"})
		return
	}
	s.serveDocument(w, r, d)
}

func (s *Server) serveDocument(w http.ResponseWriter, r *http.Request, d *pages.Document) {
	h := w.Header()
	s.setCommonHeaders(h, requestIDOf(r.Header["X-Request-Id"]).String())
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
	if d.CSP != "" {
		h.Set("Content-Security-Policy", d.CSP)
	}
	h.Set("Content-Type", d.Type)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) //nolint:gosec // the path only selects a generated page; a failed write has no reader
	}
}
