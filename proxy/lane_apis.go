package proxy

import (
	"slices"
	"strings"
	"time"

	"sundry/cache/web"
	"sundry/proxy/express"
	"sundry/proxy/through"
)

// varyingFields are those by which the lane knows which response of an API a request selects; one that is selected by another
// field is left to net/http.
func varyingFields() []string {
	return []string{"Accept", "Accept-Encoding", "Accept-Language", "Cookie", "Origin", "User-Agent"}
}

// apiLane knows the places of fields in laneFields.
type apiLane struct {
	deciding    []int
	routing     []routingField
	credentials []int
	selecting   map[string]int // those by which responses are selected, and credentials
}

// routingField is one of web.Routing.
type routingField struct {
	name  string
	place int
}

func newAPILane(fields []string) *apiLane {
	a := &apiLane{selecting: map[string]int{}}
	for _, name := range through.Deciding() {
		a.deciding = append(a.deciding, slices.Index(fields, name))
	}
	for _, name := range slices.Concat(varyingFields(), web.Routing(), web.Credentials(), []string{"Forwarded"}) {
		a.selecting[name] = slices.Index(fields, name)
	}
	for _, name := range web.Credentials() {
		a.credentials = append(a.credentials, slices.Index(fields, name))
	}
	for _, name := range web.Routing() {
		a.routing = append(a.routing, routingField{name, slices.Index(fields, name)})
	}
	return a
}

// plain reports whether a request has no field by which something else than a fresh response may be its answer.
func (a *apiLane) plain(q *express.Request) bool {
	return !slices.ContainsFunc(a.deciding, q.Has)
}

// laneSelector selects the responses for a request in the lane. It makes a web.Selector once one of them takes it.
type laneSelector struct {
	*apiLane
	q       *express.Request
	handler *through.Handler
	trusted bool // the request comes by a proxy whose word is believed
	site    string
	made    *web.Selector
}

// selects reports whether the request selects a response; not known: the lane cannot tell.
func (s *laneSelector) selects(o *web.Object) (yes, known bool) {
	for _, name := range o.Names {
		if _, read := s.selecting[name]; !read {
			return false, false
		}
	}
	if s.made == nil {
		routed := s.routed(s.q, s.trusted)
		if o.Site == s.site && len(o.Names) == 0 && len(routed) == 0 && (!o.ByDefault || !slices.ContainsFunc(s.credentials, s.q.Has)) {
			return true, true
		}
		made := s.handler.Selector(&laneRequest{s.apiLane, s.q, s.trusted}, routed)
		made.Site = s.site
		s.made = &made
	}
	return s.made.Selects(o), true
}

// laneRequest has the fields of a request in the lane.
type laneRequest struct {
	*apiLane
	q       *express.Request
	trusted bool
}

// Lines implements web.Fields.
func (r *laneRequest) Lines(name string) []string {
	if !through.IsHeard(name, r.trusted) {
		return nil
	}
	return r.q.Lines(r.selecting[name])
}

// routed are the fields of web.Routing of a request that go on to the origin.
func (a *apiLane) routed(q *express.Request, trusted bool) (names []string) {
	for _, f := range a.routing {
		if q.Has(f.place) && through.IsHeard(f.name, trusted) {
			names = append(names, f.name)
		}
	}
	return names
}

// siteOf returns the site of a request (see web.Selector).
func (a *apiLane) siteOf(h *through.Handler, q *express.Request, trusted bool) string {
	var proxys web.Fields
	if trusted {
		proxys = &laneRequest{a, q, trusted}
	}
	return h.Site(q.Host, q.Secure, proxys)
}

// answerAPI answers what lies ready of an API, by the same rules as serveThrough. Such answers do not count against the rate limit.
func (l *lane) answerAPI(rt *apiRoute, now *generation, q *express.Request, r *express.Response) bool {
	id := now.settings.LoopID
	if l.draining.Load() || !l.apis.plain(q) || q.Has(laneLoop) && id.In(q.Lines(laneLoop)) {
		return false
	}
	target, ok := rt.target(q)
	if !ok {
		return false
	}
	trusted := isTrusted(q.Peer, now.settings.Trusted)
	selector := laneSelector{apiLane: l.apis, q: q, handler: rt.handler, trusted: trusted, site: l.apis.siteOf(rt.handler, q, trusted)}
	head, body, res, ok := rt.handler.Ready(r.Buf, target, selector.selects, q.Arrived)
	if !ok || !l.skipsLog(now.settings.HitSample) {
		return false
	}
	if r.Buf = head; !q.Head {
		caller := callerAddress(q.Peer, q.Lines(laneXForwardedFor), q.Lines(laneForwarded), now.settings.Trusted, now.settings.Forwarded)
		r.Body, r.Client = body, now.settings.clientOf(caller)
	}
	rt.metrics.observeHit(outcomeHit, res.Code, time.Since(q.Arrived))
	return true
}

// target is the path of a request at the origin, with its query, where no rule changes that.
func (rt *apiRoute) target(q *express.Request) (target string, ok bool) {
	if len(rt.Query.Dropped) > 0 || rt.Query.Sorted {
		return "", false
	}
	target = strings.TrimPrefix(q.Target, rt.prefix)
	return target, strings.HasPrefix(target, "/")
}
