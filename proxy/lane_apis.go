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
	deciding []int
	varying  map[string]int
}

func newAPILane(fields []string) *apiLane {
	a := &apiLane{varying: map[string]int{}}
	for _, name := range through.Deciding() {
		a.deciding = append(a.deciding, slices.Index(fields, name))
	}
	for _, name := range varyingFields() {
		a.varying[name] = slices.Index(fields, name)
	}
	return a
}

// plain reports whether a request has no field by which something else than a fresh response may be its answer.
func (a *apiLane) plain(q *express.Request) bool {
	return !slices.ContainsFunc(a.deciding, q.Has)
}

// selects reports whether a request selects a response, as far as the lane can tell.
func (a *apiLane) selects(q *express.Request, o *web.Object) bool {
	if len(o.Names) == 0 {
		return true
	}
	h := make(http.Header, len(o.Names))
	for _, name := range o.Names {
		i, known := a.varying[name]
		if !known {
			return false
		}
		if q.Has(i) {
			h[name] = q.Lines(i)
		}
	}
	return o.Selects(h)
}

// answerAPI answers what lies ready of an API, by the same rules as serveThrough.
func (l *lane) answerAPI(rt *apiRoute, now *generation, q *express.Request, r *express.Response) bool {
	mark := now.settings.Mark
	if l.draining.Load() || !l.apis.plain(q) || q.Has(laneLoop) && mark.In(q.Lines(laneLoop)) {
		return false
	}
	target, ok := rt.target(q)
	if !ok {
		return false
	}
	selects := func(o *web.Object) bool { return l.apis.selects(q, o) }
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
