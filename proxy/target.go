package proxy

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"sundry/proxy/site/pages"
)

// targetTail ends the path of where an endpoint tells what it would redirect to, below
// the path of its page.
const targetTail = "/target"

// targetOf is the endpoint that a path asks for the target of; "" for other paths.
func targetOf(path string) string {
	name, below := strings.CutPrefix(path, pages.ReferencePath+"/")
	name, ok := strings.CutSuffix(name, targetTail)
	if !below || !ok || strings.Contains(name, "/") {
		return ""
	}
	return name
}

// serveTarget answers as the endpoint does, but tells where a redirect leads instead of
// sending the client there: browsers follow redirects, and do not let the scripts of a
// page see where to. It is for the page on which endpoints are tried.
func (s *Server) serveTarget(w http.ResponseWriter, r *http.Request, name string) {
	asked := *r
	asked.URL = &url.URL{Path: s.cfg.BasePath + "/api/" + name, RawQuery: r.URL.RawQuery}
	s.serveEndpoint(&targetWriter{ResponseWriter: w, head: r.Method == http.MethodHead}, &asked, name)
}

// targetWriter turns a redirect into an answer with its target (RFC 2483), which is nobody's
// to keep.
type targetWriter struct {
	http.ResponseWriter
	head bool // of a HEAD request
	told bool // the target was written; what follows is of the redirect
}

// WriteHeader implements http.ResponseWriter.
func (w *targetWriter) WriteHeader(status int) {
	h := w.Header()
	to := h.Get("Location")
	if status != http.StatusFound || to == "" {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.told = true
	body := to + "\r\n"
	h.Del("Location")
	h.Set("Sundry-Redirect", strconv.Itoa(status)+" "+http.StatusText(status))
	h.Set("Content-Type", "text/uri-list; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	w.ResponseWriter.WriteHeader(http.StatusOK)
	if !w.head {
		_, _ = io.WriteString(w.ResponseWriter, body) // a failed write has no reader
	}
}

// Write implements http.ResponseWriter.
func (w *targetWriter) Write(b []byte) (int, error) {
	if w.told {
		return len(b), nil
	}
	return w.ResponseWriter.Write(b)
}
