package through

import (
	"net/http"
	"time"

	"sundry/cache/web"
	"sundry/metrics/words"
)

// Foreseen is what would become of a GET, as far as what is stored tells: no origin is asked.
type Foreseen struct {
	// Path is that at the origin, with its query, Key the one of the store.
	Path, Key string
	// Variants are what is stored of it, Selected that of them which the request selects; nil: none.
	Variants web.Variants
	Selected *web.Object
	// Verdict is what Selected is good for.
	Verdict web.Verdict
	Status  web.CacheStatus
	// Refused is the status with which it would be refused: 400 for a path with a segment .., 504 where nothing stored answers a
	// request with only-if-cached; 0: it would not be.
	Refused int
	// Unstored says that none of the first responses of the API could be stored, why, and what to do; zero means that one was
	// stored, or that too few have come.
	Unstored words.Text
}

// Foresee says what Serve would do with a GET. A request without a Host is taken to be at the site of the newest stored response.
func (h *Handler) Foresee(r *http.Request) Foreseen {
	passed := upgradeOf(r) != nil || web.Preconditions(r.Header)
	_, trusted := h.Client(r)
	r = h.heard(r, trusted)
	f, now, q := Foreseen{Path: h.PathOf(r)}, h.now(), web.NewRequest(r, &h.Rules)
	f.Key, f.Unstored = h.Name+f.Path, h.Unstored()
	if mayLeadUp(f.Path) {
		f.Refused = http.StatusBadRequest
		return f
	}
	selector := h.store.Selector(r.Header, &h.Rules)
	selector.Site = h.told(siteOfRequest(r, trusted), r.Host)
	if stored := h.store.Get(f.Key); r.Host == "" && len(stored) > 0 {
		selector.Site = stored[0].Site
	}
	f.Variants = h.store.Find(r.Context(), f.Key, &selector, &h.Rules, now)
	f.Selected = f.Variants.Select(&selector, h.Rules.Languages)
	switch {
	case passed:
		f.Status.Fwd = "request"
	case f.Selected != nil:
		f.judge(r, q, now)
	case q.OnlyIfCached:
		f.Refused = http.StatusGatewayTimeout
	case len(f.Variants) > 0:
		f.Status.Fwd = "vary-miss"
	default:
		f.Status.Fwd = "uri-miss"
		if h.markers.has(markerKey{f.Key, selector.Site, h.Rules.HasCredentials(r.Header)}, now) {
			f.Status.Detail = "unshared"
		}
	}
	return f
}

// judge is what becomes of a request for what is stored.
func (f *Foreseen) judge(r *http.Request, q *web.Request, now time.Time) {
	o := f.Selected
	f.Verdict = o.Judge(&q.Directives, now)
	if o.Part != nil && !o.PartAnswers(r.Header) {
		f.Verdict, f.Status.Fwd = web.Validate, "partial"
		if q.OnlyIfCached {
			f.Refused = http.StatusGatewayTimeout
		}
		return
	}
	switch {
	case f.Verdict == web.Refuse:
		f.Refused = http.StatusGatewayTimeout
	case f.Verdict != web.Validate, standsIn(o, q, now, now):
		f.Status = web.CacheStatus{Hit: true, TTL: o.Left(now), Detail: "memory"}
	case o.Left(now) > 0:
		f.Status.Fwd = "request"
	default:
		f.Status.Fwd = "stale"
	}
}
