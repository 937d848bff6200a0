package proxy

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"runtime/debug"
	"sync/atomic"
	"time"

	"sundry/cache"
	"sundry/upstreams/catalog"
	"sundry/upstreams/loop"
)

// request is one request on its way through the front.
type request struct {
	w      http.ResponseWriter
	r      *http.Request
	id     string
	start  time.Time
	caller netip.Addr
	route  *route // nil: there is none of that name
	in     catalog.Input
	hit    cache.Hit
	wait   atomic.Pointer[waitState] // nil: nothing was waited for

	outcome    outcome
	headerSent bool // the header is written: what goes wrong now cannot be told
	aborted    bool // it did
	status     int
	sent       int
	failed     *failure
}

// serveAPI takes a request for an endpoint through every step.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request, name string) {
	req := &request{w: w, r: r, id: requestID(r), start: time.Now(), route: s.current.Load().routes[name]}
	defer s.finish(req)
	if f := s.checkRequest(req); f != nil {
		s.fail(req, f.outcome(), f)
		return
	}
	if r.Method == http.MethodOptions {
		s.preflight(req)
		return
	}
	s.answer(req)
}

// requestID keeps an id that came with the request when it is harmless, or
// makes one.
func requestID(r *http.Request) string {
	if id := headerOf(r, "X-Request-Id"); id != "" && len(id) <= 64 && plainToken(id) {
		return id
	}
	var b [8]byte
	n := rand.Uint64()
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	return hex.EncodeToString(b[:])
}

func plainToken(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// headerOf reads a header by its canonical name, without canonicalising.
func headerOf(r *http.Request, name string) string {
	if v := r.Header[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// checkRequest refuses what cannot be served at all.
func (s *Server) checkRequest(req *request) *failure {
	switch req.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
	default:
		req.w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		return &failure{status: http.StatusMethodNotAllowed, kind: typeMethod,
			message: fmt.Sprintf("method %.20q is not allowed; want GET, HEAD or OPTIONS", req.r.Method)}
	}
	if req.route == nil {
		return notFound("there is no such endpoint; the list is at " + s.cfg.BasePath + "/")
	}
	req.caller = callerOf(req.r, req.route.settings.Trusted, req.route.settings.Forwarded)
	return s.limitRate(req)
}

// answer parses, asks the cache, and responds.
func (s *Server) answer(req *request) {
	var bad *catalog.ParamError
	req.in, bad = req.route.endpoint.Parse(req.r.URL.RawQuery, catalog.Caller{Addr: req.caller, Header: req.r.Header})
	if bad != nil {
		s.fail(req, outcomeInvalid, parameterFailure(bad))
		return
	}
	hit, err := s.fetch(req)
	if err != nil {
		f := classify(waitContext{req}, err)
		if f.kind == typeOverloaded {
			s.metrics.shed.Inc()
		}
		s.fail(req, f.outcome(), f)
		return
	}
	req.hit, req.outcome = hit, outcomeOf(&hit)
	switch {
	case hit.Meta.Negative:
		f := notFound(hit.Message)
		f.control = string(appendNegativeControl(nil, &req.in, &hit))
		s.fail(req, outcomeNegative, f)
	case hit.Missing:
		f := notFound("this answer has no form " + req.in.Form.Name)
		f.control = string(appendNegativeControl(nil, &req.in, &hit))
		s.fail(req, req.outcome, f)
	default:
		req.status, req.sent = s.respond(req)
		if req.status == http.StatusNotModified {
			req.outcome = outcomeNotModified
		}
	}
}

// fetch asks the cache.
func (s *Server) fetch(req *request) (cache.Hit, error) {
	if req.in.Form.Through != nil {
		return s.fetchPicture(req)
	}
	want := cache.Want{Form: req.in.Form.FormIndex()}
	if req.in.Callback == "" && req.in.Tail == "" {
		want.Accept = acceptedCodings(req.r.Header["Accept-Encoding"])
	}
	return s.lookup(req, req.route.space, req.in.Key(), want, loader{req})
}

// pictureAttempts is how many candidates are tried for a picture that comes.
const pictureAttempts = 3

// fetchPicture picks a link from the pool and brings the picture that it leads to.
// One that does not come is passed over for another.
func (s *Server) fetchPicture(req *request) (cache.Hit, error) {
	key := req.in.Key()
	want := cache.Want{Form: req.in.Form.FormIndex()}
	var failed error
	for range pictureAttempts {
		hit, err := s.lookup(req, req.route.space, key, want, loader{req})
		if err != nil || hit.Meta.Negative || hit.Missing || hit.Rep.Location == "" {
			return hit, err
		}
		p := req.in.Picture(hit.Rep.Location)
		found, err := s.lookup(req, req.route.pictures, p.Key(), cache.Want{Form: p.FormIndex()}, p)
		if err == nil {
			found.Meta.Source, found.Meta.LastResort = hit.Meta.Source, hit.Meta.LastResort
			found.Random, found.Rep.ETag = true, ""
			return found, nil
		}
		if failed = err; (waitContext{req}).Err() != nil {
			break
		}
	}
	return cache.Hit{}, fmt.Errorf("picture of a link: %w", failed)
}

// loader fills from a request's input. It is a pointer in disguise, so that a
// hit, which needs none, pays nothing for it.
type loader struct{ req *request }

// Load implements cache.Loader. The fill may outlive the request: it reads the
// input and the headers, which nobody writes any more, and leaves the
// connection alone.
func (l loader) Load(ctx context.Context, covered bool) (cache.Content, error) {
	fill := catalog.Fill{
		Input: l.req.in, Trace: traceHeaders(l.req), Client: l.req.caller, Loop: loop.Of(l.req.r.Header[loop.Header]),
	}
	return fill.Load(ctx, covered)
}

// preflight answers a browser's question whether it may ask (CORS).
func (s *Server) preflight(req *request) {
	h := req.w.Header()
	s.setCommonHeaders(h, req.id)
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "*")
	h.Set("Access-Control-Max-Age", "86400")
	h.Set("Allow", "GET, HEAD, OPTIONS")
	h.Set("Cache-Control", "no-store")
	req.begin(http.StatusNoContent)
	req.status, req.outcome = http.StatusNoContent, outcomeBypass
}

// finish recovers, counts and logs. An exchange that ends without an answer, or
// in the middle of one, ends its connection: net/http would make an empty 200
// of the first, and a whole answer of the second.
func (s *Server) finish(req *request) {
	if p := recover(); p != nil {
		s.failPanic(req, p)
	}
	req.wait.Load().end()
	took := time.Since(req.start)
	if req.route != nil {
		req.route.metrics.observe(req.outcome, req.status, took, req.id)
	} else {
		s.unrouted.observe(req.outcome, req.status, took, req.id)
	}
	s.log(req, took)
	if req.status == statusClientClosed || req.aborted {
		panic(http.ErrAbortHandler)
	}
}

// failPanic tells the caller, unless the answer has begun.
func (s *Server) failPanic(req *request, p any) {
	f := &failure{status: http.StatusInternalServerError, kind: typeInternal, message: "something went wrong here",
		cause: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
	if req.headerSent {
		req.outcome, req.status, req.failed, req.aborted = outcomeError, f.status, f, true
		return
	}
	h := req.w.Header()
	connection := h["Connection"]
	clear(h) // of what was said of another answer
	req.hit = cache.Hit{}
	if connection != nil {
		h["Connection"] = connection
	}
	s.fail(req, outcomeError, f)
}
