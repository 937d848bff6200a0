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

// picks is how many candidates are tried for a picture that comes.
const picks = 3

// through picks a link from the pool and brings the picture that it leads to.
// One that does not come is passed over for another.
func (s *Server) through(x *exchange) (cache.Hit, error) {
	key := x.in.Key()
	want := cache.Want{Form: x.in.Form.FormIndex()}
	var failed error
	for range picks {
		hit, err := s.look(x, x.route.space, key, want, loader{x})
		if err != nil || hit.Meta.Negative || hit.Missing || hit.Rep.Location == "" {
			return hit, err
		}
		p := x.in.Picture(hit.Rep.Location)
		found, err := s.look(x, x.route.pictures, p.Key(), cache.Want{Form: p.FormIndex()}, p)
		if err == nil {
			found.Meta.Source, found.Meta.LastResort = hit.Meta.Source, hit.Meta.LastResort
			found.Random, found.Rep.ETag = true, ""
			return found, nil
		}
		if failed = err; (waiting{x}).Err() != nil {
			break
		}
	}
	return cache.Hit{}, fmt.Errorf("picture of a link: %w", failed)
}

// loader fills from a request's input. It is a pointer in disguise, so that a
// hit, which needs none, pays nothing for it.
type loader struct{ x *exchange }

// Load implements cache.Loader. The fill may outlive the request: it reads the
// input and the headers, which nobody writes any more, and leaves the
// connection alone.
func (l loader) Load(ctx context.Context, covered bool) (cache.Content, error) {
	fill := catalog.Fill{
		Input: l.x.in, Trace: traceOf(l.x), Client: l.x.caller, Loop: loop.Of(l.x.r.Header[loop.Header]),
	}
	return fill.Load(ctx, covered)
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
