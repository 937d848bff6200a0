package proxy

import (
	"net/http"
	"strconv"

	"sundry/cache/entry"
	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
	"sundry/proxy/site/pages"
)

// pageAt returns what is at a path below the base path: a page, or a file that belongs to
// the pages.
func (s *Server) pageAt(path string) pages.Place {
	if set := s.current.Load().pages; set != nil {
		return set.At(path)
	}
	return pages.Place{}
}

// servePage answers with a page in the language that the visitor prefers, or a file.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request, place pages.Place) {
	var in i18n.Choice
	switch place.Kind {
	case pages.Page:
		in = s.cfg.Languages.OfPage(r)
	case pages.Answer:
		in = s.cfg.Languages.OfAnswer(r.URL.RawQuery, r.Header)
	case pages.Absent, pages.File:
	}
	d, err := place.Make(in.Language)
	if err != nil {
		s.cfg.Log.Error("generating a page failed", "path", r.URL.Path, "error", err)
		s.failPage(w, r, &failure{status: http.StatusInternalServerError, errorType: typeInternal, message: words.Say("this page could not be generated", "页面生成失败")})
		return
	}
	s.serveDocument(w, r, d, place.Kind, in)
}

// remember keeps a language that was asked for in the query, such as by the switch on
// every page, in the visitor's browser. It is the visitor's only: no shared cache may
// keep the answer.
func (s *Server) remember(w http.ResponseWriter, in i18n.Choice) (done bool) {
	if in.Vary != "" {
		return false
	}
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // scripts may read it, and it says nothing that has to be kept secret
		Name: i18n.Cookie, Value: in.String(), Path: s.cfg.BasePath + "/", MaxAge: 365 * 24 * 60 * 60, SameSite: http.SameSiteLaxMode,
	})
	return true
}

// caching says for how long browsers and caches may show a document without asking
// again. One that sets a cookie is kept by nobody: who chooses the language, another, and
// the first again within a minute has to get the cookie each time.
func caching(d *pages.Document, setsCookie bool) string {
	switch {
	case setsCookie:
		return "no-store"
	case d.Immutable:
		return "public, max-age=31536000, immutable"
	case d.Passing:
		return "public, max-age=15"
	}
	return "public, max-age=60"
}

// serveDocument answers with a document, of whose language the choice was made; a file has
// none.
func (s *Server) serveDocument(w http.ResponseWriter, r *http.Request, d *pages.Document, kind pages.Kind, in i18n.Choice) {
	h := w.Header()
	s.setCommonHeaders(h, requestIDOf(r.Header["X-Request-Id"]).String())
	h["Vary"] = s.preset.vary
	h.Set("Cache-Control", caching(d, kind == pages.Page && s.remember(w, in)))
	if kind != pages.File {
		h.Set("Content-Language", in.Tag())
	}
	if in.Vary != "" {
		h.Set("Vary", "Accept-Encoding, "+in.Vary)
	}
	h.Set("Etag", d.ETag)
	if matches(r.Header["If-None-Match"], d.ETag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body, coding := d.Body(acceptedCodings(r.Header["Accept-Encoding"]))
	if coding != entry.Identity {
		h.Set("Content-Encoding", coding.String())
	}
	if d.CSP != "" {
		h.Set("Content-Security-Policy", d.CSP)
		h.Set("Referrer-Policy", "same-origin")
	}
	h.Set("Content-Type", d.Type)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) //nolint:gosec // the path only selects a generated page; a failed write has no reader
	}
}
