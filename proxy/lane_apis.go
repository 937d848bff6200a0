package proxy

import (
	"net/http"
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
	deciding  []int
	routing   []routingField
	selecting map[string]int // those by which responses are selected
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
	for _, name := range varyingFields() {
		a.selecting[name] = slices.Index(fields, name)
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

// selects reports whether a request selects a response; not known: the lane cannot tell. trusted: it comes by a proxy whose word is
// believed.
func (a *apiLane) selects(q *express.Request, o *web.Object, trusted bool) (yes, known bool) {
	h := a.routed(q, trusted)
	if len(o.Names) == 0 && h == nil {
		return true, true
	}
	if h == nil {
		h = make(http.Header, len(o.Names))
	}
	for _, name := range o.Names {
		i, read := a.selecting[name]
		switch {
		case read && q.Has(i):
			h[name] = q.Lines(i)
		case !read && !web.IsRouting(name):
			return false, false
		}
	}
	return o.Selects(h), true
}

// routed are the fields of web.Routing of a request that go on to the origin; nil: it has none.
func (a *apiLane) routed(q *express.Request, trusted bool) http.Header {
	var h http.Header
	for _, f := range a.routing {
		if q.Has(f.place) && through.IsHeard(f.name, trusted) {
			if h == nil {
				h = http.Header{}
			}
			h[f.name] = q.Lines(f.place)
		}
	}
	return h
}

// answerAPI answers what lies ready of an API, by the same rules as serveThrough.
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
	selects := func(o *web.Object) (yes, known bool) { return l.apis.selects(q, o, trusted) }
	head, body, res, ok := rt.handler.Ready(r.Buf, target, selects, q.Arrived)
	if !ok || !l.skipsLog(now.settings.HitSample) {
		return false
	}
	caller := callerAddress(q.Peer, q.Lines(laneXForwardedFor), q.Lines(laneForwarded), now.settings.Trusted, now.settings.Forwarded)
	if !now.settings.limiter.Allow(caller, q.Arrived).OK {
		l.hitCount.Add(^uint64(0)) // no hit
		return false
	}
	if r.Buf = head; !q.Head {
		r.Body = body
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
