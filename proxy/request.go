package proxy

import (
	"fmt"
	"net/http"
	"net/netip"
	"runtime/debug"
	"sync/atomic"
	"time"

	"sundry/cache"
	"sundry/upstreams/catalog"
)

// exchange is one request on its way through the front.
type exchange struct {
	w      http.ResponseWriter
	r      *http.Request
	id     string
	start  time.Time
	caller netip.Addr
	route  *route // nil: there is none of that name
	in     catalog.Input
	hit    cache.Hit
	wait   atomic.Pointer[wait] // nil: nothing was waited for

	outcome outcome
	began   bool // the header is written: what goes wrong now cannot be told
	torn    bool // it did
	status  int
	sent    int
	failed  *failure
}

// serveAPI takes a request for an endpoint through every step.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request, name string) {
	x := &exchange{w: w, r: r, id: requestID(r), start: time.Now(), route: s.set.Load().routes[name]}
	defer s.finish(x)
	if f := s.admit(x); f != nil {
		s.fail(x, f.outcome(), f)
		return
	}
	if r.Method == http.MethodOptions {
		s.preflight(x)
		return
	}
	s.answer(x)
}

// admit refuses what cannot be served at all.
func (s *Server) admit(x *exchange) *failure {
	switch x.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
	default:
		x.w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		return &failure{status: http.StatusMethodNotAllowed, kind: typeMethod,
			message: fmt.Sprintf("method %.20q is not allowed; want GET, HEAD or OPTIONS", x.r.Method)}
	}
	if x.route == nil {
		return notFound("there is no such endpoint; the list is at " + s.cfg.BasePath + "/")
	}
	x.caller = callerOf(x.r, x.route.rules.Trusted, x.route.rules.Forwarded)
	return s.keep(x)
}

// answer parses, asks the cache, and responds.
func (s *Server) answer(x *exchange) {
	var bad *catalog.ParamError
	x.in, bad = x.route.endpoint.Parse(x.r.URL.RawQuery, catalog.Caller{Addr: x.caller, Header: x.r.Header})
	if bad != nil {
		s.fail(x, outcomeInvalid, ofParameter(bad))
		return
	}
	hit, err := s.fetch(x)
	if err != nil {
		f := classify(waiting{x}, err)
		if f.kind == typeOverloaded {
			s.metrics.shed.Inc()
		}
		s.fail(x, f.outcome(), f)
		return
	}
	x.hit, x.outcome = hit, outcomeOf(&hit)
	switch {
	case hit.Meta.Negative:
		f := notFound(hit.Message)
		f.control = string(appendNegativeControl(nil, &x.in, &hit))
		s.fail(x, outcomeNegative, f)
	case hit.Missing:
		f := notFound("this answer has no form " + x.in.Form.Name)
		f.control = string(appendNegativeControl(nil, &x.in, &hit))
		s.fail(x, x.outcome, f)
	default:
		x.status, x.sent = s.respond(x)
		if x.status == http.StatusNotModified {
			x.outcome = outcomeNotModified
		}
	}
}

// fetch asks the cache.
func (s *Server) fetch(x *exchange) (cache.Hit, error) {
	if x.in.Form.Through != nil {
		return s.through(x)
	}
	want := cache.Want{Form: x.in.Form.FormIndex()}
	if x.in.Callback == "" && x.in.Tail == "" {
		want.Accept = acceptedCodings(x.r.Header["Accept-Encoding"])
	}
	return s.look(x, x.route.space, x.in.Key(), want, loader{x})
}

// preflight answers a browser's question whether it may ask (CORS).
func (s *Server) preflight(x *exchange) {
	h := x.w.Header()
	s.common(h, x.id)
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "*")
	h.Set("Access-Control-Max-Age", "86400")
	h.Set("Allow", "GET, HEAD, OPTIONS")
	h.Set("Cache-Control", "no-store")
	x.begin(http.StatusNoContent)
	x.status, x.outcome = http.StatusNoContent, outcomeBypass
}

// finish recovers, counts and logs. An exchange that ends without an answer, or
// in the middle of one, ends its connection: net/http would make an empty 200
// of the first, and a whole answer of the second.
func (s *Server) finish(x *exchange) {
	if p := recover(); p != nil {
		s.panicked(x, p)
	}
	x.wait.Load().end()
	took := time.Since(x.start)
	if x.route != nil {
		x.route.metrics.observe(x.outcome, x.status, took, x.id)
	} else {
		s.none.observe(x.outcome, x.status, took, x.id)
	}
	s.log(x, took)
	if x.status == statusLeft || x.torn {
		panic(http.ErrAbortHandler)
	}
}

// panicked tells the caller, unless the answer has begun.
func (s *Server) panicked(x *exchange, p any) {
	f := &failure{status: http.StatusInternalServerError, kind: typeInternal, message: "something went wrong here",
		cause: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
	if x.began {
		x.outcome, x.status, x.failed, x.torn = outcomeError, f.status, f, true
		return
	}
	h := x.w.Header()
	connection := h["Connection"]
	clear(h) // of what was said of another answer
	x.hit = cache.Hit{}
	if connection != nil {
		h["Connection"] = connection
	}
	s.fail(x, outcomeError, f)
}

// outcome of a failure.
func (f *failure) outcome() outcome {
	switch f.kind {
	case typeLimited:
		return outcomeLimited
	case typeOverloaded:
		return outcomeShed
	case typeNotFound:
		return outcomeNegative
	case typeMethod, typeInvalid, typeMissing, typeForbidden:
		return outcomeInvalid
	}
	if f.status == statusLeft {
		return outcomeLeft
	}
	return outcomeError
}

func outcomeOf(h *cache.Hit) outcome {
	switch {
	case h.State == cache.Absent:
		return outcomeBypass
	case h.Failed != nil:
		return outcomeStaleError
	case h.Tier == cache.Upstream && h.Coalesced:
		return outcomeCoalesced
	case h.Tier == cache.Upstream:
		return outcomeMiss
	case h.State >= cache.Grace:
		return outcomeStale
	}
	return outcomeHit
}
