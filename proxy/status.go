package proxy

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sundry/proxy/site/i18n"
	"sundry/proxy/site/pages"
	"sundry/proxy/site/status"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
	"sundry/upstreams/lib/words"
)

// statusEvery is how often the status is looked at, however many ask for it.
const statusEvery = 3 * time.Second

// statusBoard holds the status as it was a moment ago, with its documents.
type statusBoard struct {
	every  time.Duration
	last   atomic.Pointer[statusSheet]
	making sync.Mutex
}

// statusSheet is the status of an instant. Each document is made when it is first asked
// for.
type statusSheet struct {
	until time.Time
	of    *snapshot
	json  func() (*pages.Document, error)
	pages map[i18n.Language]func() (*pages.Document, error)
}

// statusSheet returns the status: that of a moment ago, or a new one. While one caller makes
// it, the others get the one before.
func (s *Server) statusSheet(now time.Time) *statusSheet {
	b, current := &s.status, s.current.Load()
	last := b.last.Load()
	if last != nil && last.of == current && now.Before(last.until) {
		return last
	}
	if last != nil && last.of == current {
		if !b.making.TryLock() {
			return last
		}
	} else {
		b.making.Lock()
	}
	defer b.making.Unlock()
	if made := b.last.Load(); made != last && made.of == current {
		return made
	}
	made := s.newStatusSheet(current)
	made.until = now.Add(b.every)
	b.last.Store(made)
	return made
}

func (s *Server) newStatusSheet(current *snapshot) *statusSheet {
	history := s.History()
	report := status.Of(&history, time.Now(), subjects(current.catalog))
	sheet := &statusSheet{
		of: current, pages: map[i18n.Language]func() (*pages.Document, error){},
		json: sync.OnceValues(func() (*pages.Document, error) { return pages.StatusJSON(&report) }),
	}
	for _, l := range i18n.All() {
		sheet.pages[l] = sync.OnceValues(func() (*pages.Document, error) { return current.pages.Status(l, &report) })
	}
	return sheet
}

// subjects are the endpoints that the status is about. Without a catalog there are none.
func subjects(c *catalog.Catalog) []status.Subject {
	if c == nil {
		return nil
	}
	all := make([]status.Subject, len(c.Endpoints))
	for i, e := range c.Endpoints {
		all[i] = status.Subject{Name: e.Name, Blocked: !slices.ContainsFunc(e.Sources(), callable)}
	}
	return all
}

// callable reports whether calls of a source get past the breaker of its host.
func callable(s *upstreams.Source) bool { return s.Host() == nil || s.Host().State() != "open" }

// isStatus reports whether the status is at a path below the base path.
func (s *Server) isStatus(path string) bool {
	return s.current.Load().pages != nil && (path == pages.StatusJSONPath || strings.TrimSuffix(path, "/") == pages.StatusPath)
}

// serveStatus answers with the status, as a page or for programs.
func (s *Server) serveStatus(w http.ResponseWriter, r *http.Request, path string) {
	sheet, in := s.statusSheet(time.Now()), i18n.Choice{}
	made, page := sheet.json, path != pages.StatusJSONPath
	if page {
		in = i18n.OfPage(r, i18n.Chinese)
		made = sheet.pages[in.Language]
	}
	d, err := made()
	if err != nil {
		s.cfg.Log.Error("generating the status failed", "error", err)
		s.failPage(w, r, &failure{status: http.StatusInternalServerError, errorType: typeInternal, message: words.Say("this page could not be generated", "页面生成失败")})
		return
	}
	s.serveDocument(w, r, d, page, in)
}
