package proxy

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"sundry/cache"
	"sundry/cache/clients"
	"sundry/cache/entry"
	"sundry/metrics/panics"
	"sundry/metrics/words"
	"sundry/proxy/mcp"
	"sundry/proxy/ratelimit"
	"sundry/proxy/site/i18n"
	"sundry/upstreams/catalog"
	"sundry/upstreams/loop"
)

// request is an HTTP request while it is served, with what each step found. It is used
// again for another, unless a fill may still read it.
type request struct {
	w       http.ResponseWriter
	r       *http.Request
	id      requestID
	start   time.Time
	caller  netip.Addr
	allowed ratelimit.Allowance       // the rate limiter's answer; zero: not limited
	route   *route                    // nil: no such endpoint
	in      *catalog.Input            // what the query means; nil before that is known
	parsed  catalog.Input             // *in, unless that was remembered
	key     string                    // of the answer
	answer  cache.Answer              // what the cache answered, a hit or not
	wait    atomic.Pointer[waitState] // nil: it did not wait
	called  atomic.Int64              // how long sources were called for it, in ns

	outcome    outcome
	near       bool // answered from the near tier
	lent       bool // a fill may hold it, and outlive the answer
	headerSent bool // from now on an error cannot be reported to the caller
	aborted    bool // an error occurred after that: the connection is aborted
	status     int
	sent       int
	failed     *failure
}

// serveEndpoint takes a request for an endpoint through every step. An unknown name, such
// as "", is answered with 404.
func (s *Server) serveEndpoint(w http.ResponseWriter, r *http.Request, name string) {
	req := s.requests.Get().(*request)
	req.w, req.r, req.id, req.start = w, r, requestIDOf(r.Header["X-Request-Id"]), time.Now()
	req.route = s.current.Load().routes[name]
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

// checkRequest refuses a method that is not allowed, an unknown endpoint and a
// client over its rate limit.
func (s *Server) checkRequest(req *request) *failure {
	switch req.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
	default:
		if req.r.URL.Path == s.cfg.BasePath+mcp.Path { // its clients send nothing but POST
			break
		}
		req.w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		return methodRefused(req.r.Method)
	}
	if req.route == nil {
		return notFound(s.nothingAt(req.r.URL.Path))
	}
	req.caller = req.route.settings.callerOf(req.r)
	return s.limitRate(req)
}

// parseQuery finds out what the query means: that is remembered, or parsed.
func (req *request) parseQuery() *catalog.ParamError {
	rt, query := req.route, req.r.URL.RawQuery
	if rt.parses.keepsValues() {
		key := rt.parses.keyFor(query, req.caller, headerClient(req.r.Header), req.start)
		if known := rt.parses.find(&key); known != nil {
			req.in, req.key = &known.in, known.key
			return nil
		}
	}
	var bad *catalog.ParamError
	req.parsed, bad = rt.endpoint.Parse(query, req.client())
	if req.in = &req.parsed; bad == nil {
		req.key = req.in.Key()
	}
	return bad
}

// clientID is whom the request counts for; a trusted proxy that names no client is nobody.
func (req *request) clientID() clients.ID { return req.route.settings.clientOf(req.caller) }

func (req *request) client() catalog.Caller {
	return catalog.Caller{Addr: req.caller, Header: req.r.Header}
}

// remember what the query means, once it was answered from the near tier.
func (req *request) remember() {
	if req.in == &req.parsed && req.near {
		req.route.parses.remember(req.r.URL.RawQuery, req.client(), req.start)
	}
}

// answer parses the parameters, asks the cache, and responds.
func (s *Server) answer(req *request) {
	if bad := req.parseQuery(); bad != nil {
		s.fail(req, outcomeInvalid, parameterFailure(bad))
		return
	}
	if err := s.getFromCache(req); err != nil {
		s.failAnswer(req, err)
		return
	}
	answer := &req.answer
	req.outcome = outcomeOf(answer)
	switch {
	case answer.Meta.Negative:
		f := notFound(words.Unpack(answer.Message))
		f.cacheControl = string(appendNegativeControl(nil, req.in, answer))
		s.fail(req, outcomeNegative, f)
	case answer.Missing:
		f := notFound(words.Say("this answer is not available in the format "+req.in.Form.Name, "这个响应没有 "+req.in.Form.Name+" 格式"))
		f.cacheControl = string(appendNegativeControl(nil, req.in, answer))
		s.fail(req, req.outcome, f)
	default:
		if err := s.respond(req); err != nil {
			s.failAnswer(req, err)
			return
		}
		if req.status == http.StatusNotModified {
			req.outcome = outcomeNotModified
		}
		req.remember()
	}
}

// failAnswer answers with the error of the cache, or of an answer that cannot be sent.
func (s *Server) failAnswer(req *request, err error) {
	req.answer = cache.Answer{}
	f := classify(waitContext{req}, err)
	if f.errorType == typeOverloaded {
		s.metrics.shed.Inc()
	}
	s.fail(req, f.outcome(), f)
}

// getFromCache gets the answer from the cache, in the form and a coding that the request
// accepts.
func (s *Server) getFromCache(req *request) error {
	if req.in.Form.PictureProxy != nil {
		var err error
		req.answer, err = s.getPicture(req)
		return err
	}
	return s.get(req, req.route.space, req.key, s.wantOf(req.in, req.r.URL.RawQuery, req.r.Header["Accept-Encoding"], req.r.Header["Accept-Language"]), loader{req}, &req.answer)
}

// wantOf is the representation that a request asks for: in the caller's language if there is one
// for each, and in no coding if something stands around its body.
func (s *Server) wantOf(in *catalog.Input, rawQuery string, acceptEncoding, acceptLanguage []string) cache.Want {
	want := cache.Want{Form: in.Form.Index}
	if in.Form.English != nil && s.cfg.Languages.OfLines(in.Endpoint.LanguageQuery(rawQuery), acceptLanguage).Language == i18n.English {
		want.Form = in.Form.English.Index
	}
	if in.Callback == "" && in.Tail == "" && in.Form.Kind != "script" {
		want.Accept = acceptedCodings(acceptEncoding)
	}
	return want
}

// Bounds of the search for a picture: so many are fetched, of so many links that are
// picked. A link to a host that failed just now is not followed: where three of four links
// lead there, one in a hundred million requests finds no other.
const (
	pictureAttempts = 3
	pictureDraws    = 64
)

// getPicture picks a link of the pool at random and returns the picture behind it.
// If that cannot be fetched, it picks a link to another host; if none leads to a picture,
// the answer is the redirect to one: the caller may reach what this service does not.
func (s *Server) getPicture(req *request) (cache.Answer, error) {
	want := cache.Want{Form: req.in.Form.Index}
	var link cache.Answer
	var failed []string // hosts
	for range pictureDraws {
		if err := s.get(req, req.route.space, req.key, want, loader{req}, &link); err != nil || link.Meta.Negative || link.Missing || link.Rep.Location == "" {
			return link, err
		}
		if len(failed) > 0 && slices.Contains(failed, hostOf(link.Rep.Location)) {
			continue
		}
		found, err := s.pictureOf(req, &link)
		if err == nil {
			return found, nil
		}
		if (waitContext{req}).Err() != nil {
			return cache.Answer{}, fmt.Errorf("picture of a link: %w", err)
		}
		if failed = append(failed, hostOf(link.Rep.Location)); len(failed) == pictureAttempts {
			break
		}
	}
	return link, nil
}

// pictureOf is the picture that a link of the pool leads to.
func (s *Server) pictureOf(req *request, link *cache.Answer) (cache.Answer, error) {
	p := req.in.PictureFetch(link.Rep.Location)
	var found cache.Answer
	err := s.get(req, req.route.pictures, p.Key(), cache.Want{Form: p.FormIndex()}, pictureLoader{p, req}, &found)
	isPictureOf(link, &found)
	return found, err
}

// isPictureOf makes a picture the answer to a request for which its link was drawn.
func isPictureOf(link, found *cache.Answer) {
	found.Meta.Source, found.Meta.LastResort = link.Meta.Source, link.Meta.LastResort
	found.Random, found.Rep.ETag = true, ""
}

// hostOf is the host of a link; "" for one that cannot be read.
func hostOf(link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	return u.Host
}

// loader fills an entry from a request's input. It is a single pointer, so that
// making it an interface allocates nothing for a hit, which needs none.
type loader struct{ req *request }

// Load implements cache.Loader. The fill may outlive the request: it only reads
// the input and the request's headers, which nothing writes any more, and counts its time.
func (l loader) Load(ctx context.Context, hasCopy bool) (entry.Content, error) {
	load := catalog.Loader{
		Input: *l.req.in, Trace: traceOf(l.req), Loop: loop.Marks(l.req.r.Header[loop.Header]),
	}
	defer l.req.countCall(time.Now())
	return load.Load(ctx, hasCopy)
}

// countCall counts the time of a call of sources that began then.
func (req *request) countCall(began time.Time) { req.called.Add(int64(time.Since(began))) }

// pictureLoader fetches the picture behind a link for a request.
type pictureLoader struct {
	*catalog.PictureFetch
	req *request
}

// Load implements cache.Loader.
func (l pictureLoader) Load(ctx context.Context, hasCopy bool) (entry.Content, error) {
	defer l.req.countCall(time.Now())
	return l.PictureFetch.Load(ctx, hasCopy)
}

// Withholds implements cache.QuotaAware.
func (l loader) Withholds(ctx context.Context, worth func(left float64) bool) bool {
	load := catalog.Loader{Input: *l.req.in}
	return load.Withholds(ctx, worth)
}

// preflight answers a CORS preflight request.
func (s *Server) preflight(req *request) {
	h := req.w.Header()
	s.setCommonHeaders(h, req.id.String())
	if req.allowed.Low {
		req.route.settings.limiter.setHeaders(h, &req.allowed)
	}
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS")
	h.Set("Access-Control-Allow-Headers", "*")
	h.Set("Access-Control-Max-Age", "86400")
	h.Set("Allow", "GET, HEAD, OPTIONS")
	h.Set("Cache-Control", "no-store")
	req.begin(http.StatusNoContent)
	req.status, req.outcome = http.StatusNoContent, outcomeBypass
}

// finish recovers from a panic, counts and logs. A request that ends without an answer, or in
// the middle of one, aborts its connection: net/http would send an empty 200 for
// the first, and end the second as if it were complete.
func (s *Server) finish(req *request) {
	if p := recover(); p != nil {
		req.lent = true // who knows
		s.failPanic(req, s.cfg.Panics.Caught(panics.Request, p))
	}
	req.wait.Load().end()
	s.account(req)
	if req.status == statusClientClosed || req.aborted {
		panic(http.ErrAbortHandler)
	}
	if !req.lent {
		*req = request{}
		s.requests.Put(req)
	}
}

// account counts and logs a request that has been answered.
func (s *Server) account(req *request) {
	took := time.Since(req.start)
	if req.route != nil {
		req.route.metrics.observe(req, took)
	} else {
		s.unrouted.observe(req, took)
	}
	s.log(req, took)
}

// failPanic answers with an error, unless the answer has begun.
func (s *Server) failPanic(req *request, caught error) {
	f := internalFailure(caught)
	if req.headerSent {
		req.outcome, req.status, req.failed, req.aborted = outcomeError, f.status, f, true
		return
	}
	h := req.w.Header()
	connection := h["Connection"]
	clear(h) // of the answer that was being prepared
	req.answer, req.allowed = cache.Answer{}, ratelimit.Allowance{}
	if connection != nil {
		h["Connection"] = connection
	}
	s.fail(req, outcomeError, f)
}
