package proxy

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/cache"
	"sundry/cache/web"
	"sundry/proxy/express"
	"sundry/proxy/ratelimit"
	"sundry/proxy/through"
	"sundry/upstreams/loop"
)

// Fields that the lane reads, by their place in laneFields.
const (
	laneAcceptEncoding = iota
	laneIfNoneMatch
	laneRequestID
	laneXForwardedFor
	laneForwarded
	laneAgent
	laneHint
	laneLoop
	laneLanguage
)

func laneFields() []string {
	own := []string{
		laneAcceptEncoding: "Accept-Encoding", laneIfNoneMatch: "If-None-Match", laneRequestID: "X-Request-Id",
		laneXForwardedFor: "X-Forwarded-For", laneForwarded: "Forwarded", laneAgent: "User-Agent",
		laneHint: "Sec-Ch-Ua-Mobile", laneLoop: loop.Header, laneLanguage: "Accept-Language",
	}
	for _, name := range slices.Concat(through.Deciding(), web.Routing(), varyingFields(), web.Credentials()) {
		if !slices.Contains(own, name) {
			own = append(own, name)
		}
	}
	return own
}

// lane answers requests in front of net/http whose answers lie ready: what they ask is
// in the parse cache, and the entry is fresh and in the hot table. It goes by the same rules
// as ServeHTTP, and what is to be logged, refused or refreshed goes there.
type lane struct {
	*Server
	scratch sync.Pool // of *prepared
	date    atomic.Pointer[dateLine]
	apis    *apiLane
}

// prepared is an answer that lies ready, while it is put together. It is used again for
// other requests.
type prepared struct {
	answer  cache.Answer
	picture picture
	reply   reply
	caller  netip.Addr
	allowed ratelimit.Allowance
}

// Lane returns the express lane in front of this server. reg takes its metrics; nil
// for none.
func (s *Server) Lane(reg prometheus.Registerer) (*express.Lane, error) {
	l := &lane{Server: s, apis: newAPILane(laneFields())}
	l.scratch.New = func() any { return &prepared{} }
	return express.New(express.Config{Answerer: l, Fields: laneFields(), Unsent: s.cfg.Unsent, Registerer: reg, Panics: s.cfg.Panics})
}

// Answer implements express.Answerer.
func (l *lane) Answer(q *express.Request, r *express.Response) bool {
	now := l.current.Load()
	if len(now.apis) > 0 {
		path, inside := strings.CutPrefix(q.Path, l.cfg.BasePath)
		if rt := now.apiAt(q.Host, path, inside); rt != nil {
			return l.answerAPI(rt, now, q, r)
		}
	}
	rt := now.paths[q.Path]
	if rt == nil || l.draining.Load() || q.Has(laneLoop) && now.settings.LoopID.In(q.Lines(laneLoop)) {
		return false
	}
	a := l.scratch.Get().(*prepared) //nolint:forcetypeassert // New makes no other
	defer l.release(a)
	parsed := l.prepare(a, rt, q)
	if parsed == nil {
		return false
	}
	a.reply.compose(&parsed.in, a.found(parsed), requestIDOf(q.Lines(laneRequestID)), q.Lines(laneIfNoneMatch))
	rt.settings.limiter.describe(&a.reply.head, &a.allowed)
	r.Buf, r.Body = a.reply.appendTo(r.Buf, l.dateLine(q.Arrived), q.Head)
	r.Client = rt.settings.clientOf(a.caller)
	l.count(a, rt, parsed, q)
	return true
}

// release forgets what a has of the request.
func (l *lane) release(a *prepared) {
	a.reply.head.values[fieldRequestID] = headValue{}
	l.scratch.Put(a)
}

// prepare finds the answer; nil: it does not lie ready.
func (l *lane) prepare(a *prepared, rt *route, q *express.Request) *meaning {
	caller := callerAddress(q.Peer, q.Lines(laneXForwardedFor), q.Lines(laneForwarded), rt.settings.Trusted, rt.settings.Forwarded)
	key := rt.parses.keyFor(q.Query, caller, laneClient{q}, q.Arrived)
	parsed := rt.parses.find(&key)
	if parsed == nil {
		return nil
	}
	want := l.wantOf(&parsed.in, q.Query, q.Lines(laneAcceptEncoding), q.Lines(laneLanguage))
	if !a.find(rt, parsed, want, q.Arrived) || !l.skipsLog(rt.settings.HitSample) {
		return nil
	}
	// Last, because it counts the request. A refusal does not: net/http makes it.
	a.caller = caller
	if a.allowed = rt.settings.limiter.Allow(caller, q.Arrived); !a.allowed.OK {
		l.hitCount.Add(^uint64(0)) // no hit
		return nil
	}
	return parsed
}

// find finds what the cache has. Of a pool whose pictures go through this service, that is the
// picture of a link that is drawn; if it does not lie ready, net/http draws anew, so a picture
// that was not fetched yet comes a little later.
func (a *prepared) find(rt *route, parsed *meaning, want cache.Want, at time.Time) bool {
	if !rt.space.GetHot(parsed.key, want, at, &a.answer) || a.answer.Meta.Negative || a.answer.Missing {
		return false
	}
	if parsed.in.Form.PictureProxy == nil {
		return true
	}
	return a.answer.Rep.Location != "" && a.picture.find(rt, parsed, &a.answer, at)
}

// found is what find found to send.
func (a *prepared) found(parsed *meaning) *cache.Answer {
	if parsed.in.Form.PictureProxy != nil {
		return &a.picture.answer
	}
	return &a.answer
}

// picture is what a link leads to.
type picture struct {
	key    string
	answer cache.Answer
}

func (p *picture) find(rt *route, parsed *meaning, link *cache.Answer, at time.Time) bool {
	fetch := parsed.in.PictureFetch(link.Rep.Location)
	p.key = fetch.Key()
	if !rt.pictures.GetHot(p.key, cache.Want{Form: fetch.FormIndex()}, at, &p.answer) {
		return false
	}
	isPictureOf(link, &p.answer)
	return true
}

// laneClient is the client of a request in the lane.
type laneClient struct{ *express.Request }

func (c laneClient) agent() string { return c.Field(laneAgent) }
func (c laneClient) hint() string  { return c.Field(laneHint) }

// count counts the answer as ServeHTTP does.
func (l *lane) count(a *prepared, rt *route, parsed *meaning, q *express.Request) {
	outcome := outcomeHit
	if a.reply.status == http.StatusNotModified {
		outcome = outcomeNotModified
	}
	rt.space.Served(parsed.key, &a.answer)
	if parsed.in.Form.PictureProxy != nil {
		rt.pictures.Served(a.picture.key, &a.picture.answer)
	}
	rt.metrics.observeHit(outcome, a.reply.status, time.Since(q.Arrived))
}

// dateLine is the field Date for one second.
type dateLine struct {
	second int64
	text   string
}

// dateLine returns the line for an instant. It is made once a second.
func (l *lane) dateLine(at time.Time) string {
	second := at.Unix()
	if d := l.date.Load(); d != nil && d.second == second {
		return d.text
	}
	d := &dateLine{second, "Date: " + at.UTC().Format(http.TimeFormat) + "\r\n"}
	l.date.Store(d)
	return d.text
}
