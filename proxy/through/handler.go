package through

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sundry/cache/clients"
	"sundry/cache/web"
	"sundry/metrics/panics"
	"sundry/proxy/express"
	"sundry/proxy/uri"
)

// Settings of an API.
type Settings struct {
	// Name is that of the API, in Cache-Status, metrics and logs.
	Name string
	// Prefix is cut off the path of requests; "" where a Host name is the API's.
	Prefix string
	// Hosts are the names by which clients know the API, as far as its file says.
	Hosts []string
	Rules web.Rules
	Query web.Query
	// Request and Response change the fields that the origin is asked with, and those that it answers with; nil: they do not.
	Request, Response func(http.Header)
	// Retry are the statuses after which a GET or HEAD is sent to the origin once more.
	Retry []int
	// NoVia leaves this service out of Via, in requests and responses.
	NoVia bool
	// Client returns the client of a request, and whether the request came through a trusted proxy; nil means that the client is
	// the peer.
	Client func(*http.Request) (client clients.ID, trusted bool)
	// LoopID is this service's in CDN-Loop (RFC 8586); nil or "": none.
	LoopID func() string
	// Limit counts a request of a client, which began at a time, against the client's rate limit. It is called once for each request
	// that stored responses do not answer, before the body of the request is read. If the limit is exceeded, ok is false, and wait
	// is the time until the client may send one more. nil means no limit.
	Limit func(client clients.ID, began time.Time) (wait time.Duration, ok bool)
	// Admit reports whether a request of a client, which began at a time, may wait for the origin. Leave is called when an
	// admitted request no longer waits. nil means that all may wait.
	Admit func(client clients.ID, began time.Time) bool
	Leave func(client clients.ID)
	// Transfers limits the requests at origins, from before they are sent until their responses, or tunnels, have ended. Each
	// may take a file descriptor. nil means no limit.
	Transfers *clients.Limit
	// Unsent limits the memory of stored bodies that clients let wait; nil means no limit.
	Unsent *express.Unsent
	// Fail answers a request with an error of this service's own; nil: in a line of text.
	Fail func(w http.ResponseWriter, r *http.Request, id string, f *Failure)
	// Most is the size in bytes of the largest body that is kept. Larger ones are shared while they arrive.
	Most int64
	// Upload is the size in bytes of the largest body of a request; 0 means no limit.
	Upload int64
	// Compress compresses responses without a content coding for clients that accept gzip.
	Compress bool
	// Idle is how long a body may stand still, of a request or of a response.
	Idle time.Duration
	// Tunnel is how long a connection may be idle in both directions after a change of the protocol.
	Tunnel time.Duration
	// Ended is called when the connection of a tunnel to a client is closed; nil means that nobody counts connections.
	Ended func(net.Conn)
}

// Handler serves one API.
type Handler struct {
	Settings
	origin  *Origin
	store   *web.Store
	flights flights
	markers *markers
	log     *slog.Logger
	panics  *panics.Catcher
	tells   tells
	now     func() time.Time
	moved   atomic.Bool // see Moved
	first   firstResponses
}

// New makes the handler of an API.
func New(s Settings, origin *Origin, store *web.Store, log *slog.Logger, p *panics.Catcher) *Handler {
	if s.Request == nil {
		s.Request = func(http.Header) {}
	}
	if s.Response == nil {
		s.Response = func(http.Header) {}
	}
	if s.LoopID == nil {
		s.LoopID = func() string { return "" }
	}
	if s.Client == nil {
		s.Client = peer
	}
	if s.Ended == nil {
		s.Ended = func(net.Conn) {}
	}
	return &Handler{Settings: s, origin: origin, store: store, markers: newMarkers(), log: log, panics: p, tells: tellsOf(&s, origin), now: time.Now}
}

// Moved tells that the API is served from elsewhere now, before what is kept of it is purged: what still comes from here is not kept.
func (h *Handler) Moved() { h.moved.Store(true) }

// put keeps an object, and reports whether it did.
func (h *Handler) put(key string, o *web.Object) bool {
	if h.moved.Load() || !h.store.Put(key, o) {
		return false
	}
	h.countStored(o.Status)
	return true
}

// peer returns the client that has connected.
func peer(r *http.Request) (client clients.ID, trusted bool) {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // invalid in a test
	return clients.Of(peer.Addr()), false
}

// Failure is why a request is answered by this service itself. Err is for callers: it has no address and no cause.
type Failure struct {
	Status     int
	Err        error
	RetryAfter time.Duration // 0: it does not say
}

// Result is how a request was answered.
type Result struct {
	// Path is that at the origin, with its query.
	Path  string
	Cache web.CacheStatus
	// Code is the status, 0: there was no answer; Sent, how many bytes of a body.
	Code, Sent int
	// Age of what was answered.
	Age time.Duration
	// Head is the time when the head of the response was written; zero means that none was.
	Head time.Time
	// Waited is the time that the request waited for the origin until then; 0 means that it sent no request to the origin itself.
	Waited time.Duration
	// Err is why the origin was not reached, or its answer cut off; http.ErrAbortHandler: the caller has left.
	Err error
}

// recorder notes how a request is answered.
type recorder struct {
	http.ResponseWriter
	Result
	idle time.Duration
}

// Unwrap is for http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader implements http.ResponseWriter. The time that the server has for an answer may have passed while the origin was waited
// for, or while it got a long body.
func (w *recorder) WriteHeader(code int) {
	now := time.Now()
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(now.Add(w.idle)) // a test's writer has none
	if code >= http.StatusOK || code == http.StatusSwitchingProtocols {
		w.Code, w.Head = code, now
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.Sent += n
	return n, err
}

// call is one request of a caller.
type call struct {
	*Handler
	w      recorder
	r      *http.Request
	client clients.ID
	site   site
	// upgrade are the protocols that the client offers to change to; nil means none.
	upgrade []string
	id      string // of the request, for the origin and the caller; "": it has none
	q       *web.Request
	path    string // at the origin, with the query
	key     string
	began   time.Time
	// selector tells which stored responses the request selects.
	selector web.Selector
	cut      bool // the answer has been cut off
	counted  bool // against the rate limit
	// spares: what is stored can be served if the origin is not asked, so of a quota the reserve is left to others.
	spares bool
	// connected reports whether the latest request to the origin has got a connection.
	connected atomic.Bool
	// waited is the time that the call waited for the origin, in ns.
	waited atomic.Int64

	waiting sync.Mutex // is held while a response before the final one is sent
	waits   bool       // for the head of one, and takes a place
	over    bool       // it does not any more
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.Serve(w, r, "", func(*Result) {})
}

// Serve is ServeHTTP, and tells how the request was answered: also where it panics with http.ErrAbortHandler, because a body
// was cut off or the caller has left. The id goes on to the origin, and to the caller with all but hits, which may come from the
// express lane.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, id string, tell func(*Result)) {
	client, trusted := h.Client(r)
	upgrade := upgradeOf(r)
	r = h.heard(r, trusted)
	path := h.PathOf(r)
	c := &call{Handler: h, w: recorder{ResponseWriter: w, Result: Result{Path: path}, idle: h.Idle}, r: r, client: client, site: siteOfRequest(r, trusted), upgrade: upgrade, id: id, q: web.NewRequest(r, &h.Rules), path: path, key: h.Name + path, began: h.now()}
	c.selector = h.store.Selector(r.Header, &h.Rules)
	c.selector.Client, c.selector.Site = client, h.told(c.site, r.Host)
	defer func() {
		c.w.Waited = time.Duration(c.waited.Load())
		tell(&c.w.Result)
	}()
	defer c.endWait()
	c.endlessly()
	switch {
	case r.Method == http.MethodTrace, r.Method == http.MethodConnect:
		c.refuse(http.StatusNotImplemented, errMethod)
	case mayLeadUp(c.path):
		c.refuse(http.StatusBadRequest, uri.ErrPath)
	case upgrade != nil, r.Method != http.MethodGet && r.Method != http.MethodHead, web.Preconditions(r.Header), r.ContentLength != 0:
		c.pass()
	default:
		c.cached()
	}
	if c.cut {
		panic(http.ErrAbortHandler)
	}
}

// endlessly removes the deadline for writing in HTTP/2, where it would end the request while the origin is waited for. WriteHeader sets it.
func (c *call) endlessly() {
	if c.r.ProtoMajor > 1 {
		_ = http.NewResponseController(&c.w).SetWriteDeadline(time.Time{}) // a test's writer has none
	}
}

// errMethod: TRACE would show a caller what is sent to the origin, secrets included, CONNECT connect it with any host.
var errMethod = errors.New("this method is not passed on; expected another one than TRACE and CONNECT")

// cached answers a GET or HEAD from what is stored, or through a flight.
func (c *call) cached() {
	variants := c.store.Find(c.r.Context(), c.key, &c.selector, &c.Rules, c.began)
	o := variants.Select(&c.selector, c.Rules.Languages)
	if o == nil {
		c.miss(variants)
		return
	}
	status := web.CacheStatus{Hit: true, TTL: o.Left(c.began), Detail: "memory"}
	if o.Part != nil && (c.r.Method == http.MethodHead || !o.PartAnswers(c.r.Header)) {
		c.partial(o)
		return
	}
	switch o.Judge(&c.q.Directives, c.began) {
	case web.Reuse:
		c.respond(&answer{object: o, status: status})
	case web.ReuseAndRefresh:
		c.respond(&answer{object: o, status: status})
		if !o.Rests(c.began) {
			c.refresh(o)
		}
	case web.Validate:
		c.validate(o)
	case web.Refuse:
		c.refuse(http.StatusGatewayTimeout, ErrOnlyIfCached)
	}
}

// ErrOnlyIfCached is what who asks for no more is told where nothing is stored.
var ErrOnlyIfCached = errors.New("nothing is stored that answers this request, and it asks for nothing else (only-if-cached)")

// miss asks the origin for what is not stored. Where there are variants that the request does not select, it may answer
// that one of them is meant.
func (c *call) miss(variants web.Variants) {
	status := web.CacheStatus{Fwd: "uri-miss"}
	if len(variants) > 0 {
		status.Fwd = "vary-miss"
	}
	switch {
	case c.q.OnlyIfCached:
		c.refuse(http.StatusGatewayTimeout, ErrOnlyIfCached)
	case len(variants) == 0 && c.r.Method == http.MethodGet && c.markers.has(markerKey{c.key, c.selector.Site, c.Rules.HasCredentials(c.r.Header)}, c.began):
		status.Detail = "unshared"
		c.alone(&errand{call: c, variants: variants, asIs: true, status: status})
	default:
		c.fly(&errand{call: c, variants: variants, status: status})
	}
}

// validate asks the origin whether a stored response may still be used, unless the origin has failed to answer that a moment ago.
func (c *call) validate(o *web.Object) {
	status := web.CacheStatus{Fwd: "stale"}
	if o.Left(c.began) > 0 {
		status.Fwd = "request"
	}
	e := &errand{call: c, stored: o, status: status}
	if c.r.Method == http.MethodGet && e.rests() {
		a := e.reused(o)
		c.respond(&a)
		return
	}
	c.fly(e)
}

// refresh validates behind the caller.
func (c *call) refresh(o *web.Object) {
	f, started := c.flights.join(c.r.Context(), flightKey{key: c.key, site: c.selector.Site, caller: "nobody", credentials: c.identifies()}, c.began, c.isPurged)
	if !started {
		f.leave()
		return
	}
	f.keep()
	f.leave()
	c.spares = true
	e := &errand{call: c, stored: o, status: web.CacheStatus{Fwd: "stale"}}
	c.panics.Go(panics.Fill, func() { e.run(f) })
}

// fly joins the flight for what the request asks for, or starts it, and answers with what it brings. A HEAD is passed on: it
// brings no body to share.
func (c *call) fly(e *errand) {
	if c.r.Method == http.MethodHead {
		c.pass()
		return
	}
	if e.stored != nil && e.stored.NoCache {
		c.alone(e) // what a validation brings is for that caller only
		return
	}
	if err := c.mayWait(); err != nil {
		c.shed(e, err)
		return
	}
	c.spares = c.hasPatience(e)
	f, started := c.flights.join(c.r.Context(), c.flightKey(), c.began, c.isPurged)
	if started {
		c.lead(e, f)
		return
	}
	defer f.leave()
	a := c.wait(f, e)
	switch {
	case a.err != nil && !errors.Is(a.err, context.Canceled):
	case a.err == nil && c.outOfGroups(a.object):
		c.fly(e) // on a later flight, because this one is not joined again
		return
	case a.err != nil, !c.mayHave(&a):
		c.alone(e)
		return
	default:
		a.status.Shared = true
	}
	c.respond(&a)
	c.keep(f, &a)
}

// keep lets a flight go on for the store without the caller, who has what it asked for, and needed no more of the body.
func (c *call) keep(f *flight, a *answer) {
	if a.status.Stored && !c.cut {
		f.keep()
	}
}

// lead carries out a flight, and answers with what it brings. A caller who leaves is no longer a reader, but its goroutine
// goes on while there are others.
func (c *call) lead(e *errand, f *flight) {
	stays := context.AfterFunc(c.r.Context(), c.panics.Func(panics.Fill, f.leave))
	defer func() {
		if stays() {
			f.leave()
		}
	}()
	c.keep(f, c.carry(e, f))
}

// carry carries out a flight in the caller's goroutine, which saves another one, but for a long body, which may come faster than
// this caller takes it, and where the caller may have enough of waiting. It returns what it has answered.
func (c *call) carry(e *errand, f *flight) *answer {
	e.leads = true
	if c.hasPatience(e) {
		c.panics.Go(panics.Fill, func() { e.run(f) })
		a := c.wait(f, e)
		c.respond(&a)
		return &a
	}
	b := e.head(f)
	switch {
	case b != nil && b.isShort():
		c.readAndRespond(b)
		return &f.answer
	case b != nil:
		c.panics.Go(panics.Fill, b.read)
	}
	c.respondIfThere(&f.answer)
	return &f.answer
}

// soon is when a body is not there yet.
const soon = time.Millisecond

// readAndRespond reads a short body, and answers then. If it is not there soon, another goroutine answers meanwhile.
func (c *call) readAndRespond(b *arrival) {
	a := &b.flight.answer
	answered := make(chan bool, 1)
	timer := time.AfterFunc(soon, c.panics.Func(panics.Request, func() {
		defer close(answered)
		c.respond(a)
		answered <- true
	}))
	b.read()
	if timer.Stop() {
		c.respondIfThere(a)
		return
	}
	if !<-answered { // a panic has closed it
		c.abort(errFlight)
	}
}

func (c *call) respondIfThere(a *answer) {
	if c.r.Context().Err() != nil {
		c.gone()
	}
	c.respond(a)
}

// mayHave reports whether the answer to another caller's request answers this one's. Who was there before its head came
// gets what has just been made; who comes later, what may be reused.
func (c *call) mayHave(a *answer) bool {
	switch {
	case !a.shared, !c.selector.Selects(a.object):
		return false
	case a.status.Hit, !c.began.After(a.object.Received):
		return true
	}
	return a.object.Judge(&c.q.Directives, c.began) == web.Reuse
}

// outOfGroups reports whether a cache group of the response was invalidated after the response was requested and before this request came.
func (c *call) outOfGroups(o *web.Object) bool {
	at := c.store.GroupsPurged(c.key, o)
	return !o.Requested.After(at) && !at.After(c.began)
}

// selected is what is stored here that the request selects, be it fresh or not; nil: nothing.
func (c *call) selected() *web.Object {
	return c.store.Get(c.key).Of(&c.Rules).Select(&c.selector, c.Rules.Languages)
}

// isPurged reports whether the response of a flight was purged since the flight began.
func (c *call) isPurged(f *flight) bool {
	o := f.object()
	return c.store.PurgedSince(c.key, f.began) || o != nil && c.outOfGroups(o)
}

// identifies reports whether the request may say who sends it, so that what it gets tells nothing of what others would get.
func (c *call) identifies() bool {
	return c.r.Header["Authorization"] != nil || c.Rules.HasCredentials(c.r.Header)
}

// isPersonal reports whether a response with this header tells nothing of what others would get.
func (c *call) isPersonal(response http.Header) bool {
	return c.identifies() || c.q.IsDisguised(response, &c.Rules)
}

// flightKey says what a flight is for. What only one caller may have is for that one alone.
func (c *call) flightKey() flightKey {
	k := flightKey{key: c.key, site: c.selector.Site, ranged: strings.Join(c.r.Header["Range"], ","), ifRange: strings.Join(c.r.Header["If-Range"], ","), credentials: c.Rules.HasCredentials(c.r.Header)}
	if c.r.Header["Authorization"] != nil || c.q.NoStore {
		k.caller = c.began.Format(time.RFC3339Nano) + c.r.RemoteAddr
	}
	return k
}

// alone asks the origin for this caller, because what a flight has brought was not for it.
func (c *call) alone(e *errand) {
	if err := c.mayWait(); err != nil {
		c.shed(e, err)
		return
	}
	f := newFlight(c.r.Context(), flightKey{}, c.now())
	defer f.cancel()
	defer f.leave()
	c.carry(e, f)
}
