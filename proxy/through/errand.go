package through

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"sundry/cache/web"
	"sundry/metrics/panics"
	"sundry/upstreams/lib/redact"
)

// errand is what a flight does: ask the origin, and keep what may be kept.
type errand struct {
	*call
	stored   *web.Object  // is validated; nil: there is none
	variants web.Variants // that the request does not select, of which the origin may name one
	prefix   *web.Object  // a part that is stored and is to be completed; nil: there is none
	asIs     bool         // with the caller's conditions: the answer is for that one alone
	leads    bool         // the caller gets the responses before the final one (RFC 9110, section 15.2)
	status   web.CacheStatus
}

// errFlight: what carried a flight out has ended without an answer.
var errFlight = errors.New("the request to the origin ended without an answer")

// run carries out a flight.
func (e *errand) run(f *flight) {
	b := e.head(f)
	if b == nil {
		return
	}
	if !b.keeps {
		f.unkeep()
	}
	b.read()
}

// head carries out a flight until its answer is known, as it always becomes. The flight ends then, or once the body has been
// read that it returns.
func (e *errand) head(f *flight) (b *arrival) {
	a := answer{err: errFlight, status: e.status}
	defer func() {
		e.flights.known(f, a)
		if b == nil {
			e.flights.remove(f)
		}
	}()
	if stored, ok := e.storedMeanwhile(); ok {
		a = stored
		return nil
	}
	if a, b = e.asked(f.ctx); b != nil {
		b.flight = f
	}
	return b
}

// asked asks the origin, if need be twice.
func (e *errand) asked(ctx context.Context) (answer, *arrival) {
	resp, got, err := e.ask(ctx, e.leads, http.MethodGet, e.header(), false)
	if err != nil {
		return e.failed(err), nil
	}
	if a, ok := e.validated(got); ok {
		_ = resp.Body.Close() // there is none, or it is given up
		return a, nil
	}
	if e.astray(got) {
		_ = resp.Body.Close() // given up
		if e.prefix != nil {
			e.drop(e.prefix, got) // or the next request would come to the same
		}
		return (&errand{call: e.call, status: e.status}).asked(ctx)
	}
	return e.received(resp, got)
}

// storedMeanwhile is what another flight has stored since this caller looked, or what stands in since it has failed.
func (e *errand) storedMeanwhile() (a answer, ok bool) {
	if e.asIs || e.prefix != nil {
		return a, false
	}
	if o := e.latest(); o != nil && standsIn(o, e.q, e.began, e.now()) {
		return e.reused(o), true
	}
	o := e.selected()
	if o == nil || o == e.stored || o.Part != nil || o.Judge(&e.q.Directives, e.began) != web.Reuse {
		return a, false
	}
	return e.reused(o), true
}

func (e *errand) reused(o *web.Object) answer {
	return answer{object: o, status: web.CacheStatus{Hit: true, TTL: o.Left(e.began), Detail: "memory"}, shared: true}
}

// rests reports whether what is stored stands in for an origin that has failed a moment ago, and is not asked again already.
func (e *errand) rests() bool {
	return e.stored != nil && standsIn(e.stored, e.q, e.began, e.now())
}

// standsIn is rests for a response, and a request that began then.
func standsIn(o *web.Object, q *web.Request, began, now time.Time) bool {
	return o.Rests(now) && !q.NoCache && o.Left(began) <= 0 && o.Usable(false, began)
}

// astray reports whether an answer is to the conditions that the origin was asked with and of no use: a 304 about something
// else than is stored, or a part that does not go on where what is stored ends, be it that nothing does.
func (e *errand) astray(got *web.Response) bool {
	switch {
	case got.Status == http.StatusNotModified:
		return e.stored != nil || len(e.variants) > 0
	case got.Status == http.StatusPartialContent && e.prefix != nil:
		part := e.prefix.Part
		return !web.Continues(e.prefix.Tag(), web.Range{First: part.Last + 1, Last: -1}, part.Total, got.Header)
	case got.Status == http.StatusRequestedRangeNotSatisfiable:
		return e.prefix != nil // nobody has asked for a range
	}
	return false
}

// joined is the head of a body of which the prefix is stored and the rest is arriving.
func (e *errand) joined(got *web.Response) *web.Response {
	r := &web.Response{Status: http.StatusOK, Header: web.Updated(e.prefix.Header, got.Header), Requested: got.Requested, Received: got.Received}
	delete(r.Header, "Content-Range")
	r.Header["Content-Length"] = []string{itoa(e.prefix.Part.Total)}
	return r
}

// header is what the origin is asked with.
func (e *errand) header() http.Header {
	h := e.forwarded()
	if e.asIs {
		return h
	}
	web.RemoveConditions(h)
	switch {
	case e.stored != nil:
		web.AddValidators(h, e.stored.Header, nil)
	case len(e.variants) > 0:
		if tags := e.variants.Tags(&e.selector); len(tags) > 0 {
			web.AddValidators(h, nil, tags)
		}
	case e.prefix != nil:
		h["Range"] = []string{"bytes=" + itoa(e.prefix.Part.Last+1) + "-"}
		delete(h, "If-Range")
		if tag := e.prefix.Tag(); tag != "" {
			h["If-Range"] = []string{tag}
		}
	}
	return h
}

// failed answers from what is stored where the origin cannot be reached, or says why not. Where all callers have left, nobody
// knows whether it can: who asks and leaves must not keep others from asking. Nor must a client over its rate limit.
func (e *errand) failed(err error) answer {
	o := e.latest()
	switch {
	case o == nil, errors.Is(err, context.Canceled), !o.Usable(true, e.now()):
		return answer{err: err, status: e.status, shared: true}
	case isLimited(err):
		return e.standIn(o, 0)
	}
	return e.stale(o, 0)
}

// latest returns the stored response that may take the place of an answer of the origin: the one that the client found, or a
// newer one that is in memory by now. nil means that there was none, or that it has been purged since.
func (e *errand) latest() *web.Object {
	if e.stored == nil {
		return nil
	}
	if o := e.selected(); o != nil && o.Part == nil && !o.Requested.Before(e.stored.Requested) {
		return o
	}
	if e.store.IsPurged(e.key, e.stored) {
		return nil
	}
	return e.stored
}

// stale is what is stored, in the place of an answer that the origin did not give.
func (e *errand) stale(o *web.Object, status int) answer {
	o.Failed(e.now())
	return e.standIn(o, status)
}

// standIn returns a stored response as the answer. status is what the origin has answered; 0 means nothing.
func (e *errand) standIn(o *web.Object, status int) answer {
	s := e.status
	s.Hit, s.Status, s.TTL = true, status, o.Left(e.now())
	return answer{object: o, status: s, shared: true}
}

// validated is the answer where the origin's is about what is stored; false: it is a new one.
func (e *errand) validated(got *web.Response) (a answer, ok bool) {
	switch {
	case got.Status == http.StatusNotModified && e.stored != nil:
		if !web.SameRepresentation(got.Header, e.stored.Header) {
			e.drop(e.stored, got)
			return a, false
		}
		return e.update(e.stored, got), true
	case got.Status == http.StatusNotModified && len(e.variants) > 0:
		if o := e.variants.Tagged(got.Header.Get("Etag"), &e.selector); o != nil {
			return e.update(o, got), true
		}
	case web.StatusIsTrouble(got.Status):
		if o := e.latest(); o != nil && o.Usable(false, e.now()) {
			return e.stale(o, got.Status), true
		}
	}
	return a, false
}

// update is a stored response with what a 304 says anew, which is stored in its place.
func (e *errand) update(old *web.Object, got *web.Response) answer {
	r := &web.Response{Status: old.Status, Header: web.Updated(old.Header, got.Header), Requested: got.Requested, Received: got.Received}
	t := web.TermsOf(r, &e.Rules)
	storable := web.Storable(e.q, r, &t, &e.Rules)
	o := web.NewObject(r, &t, &e.selector, &e.Rules).With(old.Body, old.Part)
	if len(o.Tags) == 0 {
		o.Tags = old.Tags
	}
	s := e.status
	s.Status = http.StatusNotModified
	switch {
	case storable:
		s.Stored = e.put(e.key, o)
	case !web.Storable(&web.Request{}, r, &t, &e.Rules): // or it is only this caller's request that forbids it
		e.drop(old, got)
	}
	return answer{object: o, status: s, shared: s.Stored && mayShare(r, &t)}
}

// mayShare reports whether what may be stored answers those who have waited for it as well: how long it took does not count.
func mayShare(got *web.Response, t *web.Terms) bool {
	return !t.NoCache && t.Left(got.Requested) > 0
}

// arrival is a body that arrives, to be read into the spool of an answer.
type arrival struct {
	*errand
	flight *flight
	resp   *http.Response
	joins  bool // the prefix that is stored
	keeps  bool // it is kept if it is whole
	// unstored says why it is not stored; nil means that it may be, or that nobody counts it.
	unstored *web.Finding
}

// received is the answer that a new response is, and its body, which is kept if it may be.
func (e *errand) received(resp *http.Response, got *web.Response) (answer, *arrival) {
	b := &arrival{errand: e, resp: resp, joins: e.prefix != nil && got.Status == http.StatusPartialContent}
	if b.joins {
		got = e.joined(got)
	}
	t := web.TermsOf(got, &e.Rules)
	mayStore := web.Storable(e.q, got, &t, &e.Rules)
	fits := resp.ContentLength <= e.Most
	b.keeps = mayStore && fits
	b.unstored = e.whyUnstored(e.q, got, mayStore, fits)
	tells := got.Status < http.StatusInternalServerError && !web.RefusesOne(got.Status) // an error says nothing of what is stored
	if e.stored != nil && tells && (!fits || !web.Storable(&web.Request{}, got, &t, &e.Rules)) {
		e.outdate(got.Header)
	}
	a := answer{object: web.NewObject(got, &t, &e.selector, &e.Rules), status: e.status, trailer: &resp.Trailer}
	a.status.Stored = b.keeps
	a.shared = mayStore && mayShare(got, &t) && e.reachesAll(expectedLength(resp), a.object)
	a.spool = e.newSpool(resp, a.shared)
	if k := e.flightKey(); a.shared || k.isForAll() && !e.q.IsDisguised(got.Header, &e.Rules) {
		e.markers.set(markerKey{k.key, k.site, k.credentials}, !a.shared, got.Received)
	}
	return a, b
}

// outdate ends the stale windows of the stored response. The header is that of the new response, which has no effect if it may be for its
// client alone.
func (e *errand) outdate(h http.Header) {
	if e.stored != nil && !e.isPersonal(h) {
		e.stored.Outdate()
	}
}

// drop drops a stored response that the origin's answer does not fit, unless the answer is for its client alone.
func (e *errand) drop(o *web.Object, got *web.Response) {
	if !e.isPersonal(got.Header) {
		e.store.Drop(e.key, o, got.Requested)
	}
}

// read reads the body, and ends the flight.
func (b *arrival) read() {
	f := b.flight
	defer func() { _ = b.resp.Body.Close() }() // read to its end, or given up
	err := errFlight                           // remains only after a panic
	defer func() {
		b.flights.remove(f) // first: the memory of an ended spool counts only for clients that read it already
		f.answer.spool.Close(err)
	}()
	if b.joins {
		_, _ = f.answer.spool.Write(b.prefix.Body) // into memory
	}
	var keep func(body []byte) bool
	if b.keeps {
		keep = b.keep
	}
	err = b.copyBody(f.answer.spool, b.resp, keep, f.cancel)
	if err == nil && b.unstored != nil {
		b.countUnstored(*b.unstored)
	}
}

// isShort reports whether the body has as a rule come with its head.
func (b *arrival) isShort() bool {
	const most = 16 << 10
	return b.resp.ContentLength >= 0 && b.resp.ContentLength <= most && !b.joins
}

const (
	// shareWindow is how much of a body that is not kept its readers may be apart.
	shareWindow = 16 << 20
	// streamWindow is that of a body that has one reader.
	streamWindow = 256 << 10
)

// reachesAll reports whether readers of any pace get all of a body: it fits into memory, or its rest can be asked for. Where its
// length is not known, it mostly does.
func (e *errand) reachesAll(length int64, o *web.Object) bool {
	return length <= max(e.Most, shareWindow) || o.Resumes()
}

// newSpool returns the spool of a response. A body that is not stored is at most streamWindow bytes ahead of its fastest reader.
func (e *errand) newSpool(resp *http.Response, shared bool) *web.Spool {
	window := e.window(resp.ContentLength, shared)
	ahead := window
	if resp.ContentLength > e.Most {
		ahead = streamWindow
	}
	return web.NewSpool(window, ahead, resp.ContentLength, e.store.Spools, e.client)
}

// window is how much of a body is in memory while it arrives: all of it where it is kept.
func (e *errand) window(length int64, shared bool) int64 {
	switch {
	case e.asIs, length > e.Most && !shared:
		return streamWindow
	case length > e.Most:
		return shareWindow
	case length < 0 && shared:
		return max(e.Most+1, shareWindow)
	}
	return max(e.Most+1, streamWindow) // or one that nobody reads could not be seen to be longer
}

// keep stores a response with its body, and reports whether it did; of a 206, as much as it has. nil means that the body is
// too long.
func (b *arrival) keep(body []byte) bool {
	e, f, o := b.errand, b.flight, b.flight.answer.object
	if body == nil {
		b.unstored = e.whyUnstored(e.q, &o.Response, true, false)
		f.unkeep()
		e.outdate(o.Header)
		return false
	}
	if n := o.Header.Get("Content-Length"); n != "" && n != itoa(int64(len(body))) && o.Status != http.StatusPartialContent {
		return false // put together of parts that are none of it
	}
	var part *web.Part
	if o.Status == http.StatusPartialContent {
		p, ok := web.StoredPart(o.Header, int64(len(body)))
		if !ok {
			return false
		}
		p.Elsewhere = p.BeginsElsewhere(e.r.Header)
		part = &p
	}
	stored := e.put(e.key, o.With(body, part))
	if stored {
		b.flights.remove(f) // later clients get the stored response, which counts in their own share
	}
	return stored
}

// errIdle: nothing of a body came, or was read, for too long.
var errIdle = errors.New("the body stands still")

// copyBody reads a body to its end. One that stands still for longer than Idle, be it that nobody reads it, is given up.
// Unless nil, keep is called with a complete body before anybody gets its last byte: a client that has it finds it stored; or with
// nil, once the body is longer than Most. If keep reports that the body is stored, and Unsent has memory for it, readers continue
// with the stored body.
func (c *call) copyBody(to *web.Spool, resp *http.Response, keep func(body []byte) bool, giveUp func()) error {
	timer := time.AfterFunc(c.Idle, c.panics.Func(panics.Fill, func() {
		to.Close(errIdle)
		giveUp()
	}))
	defer timer.Stop()
	for length := int64(0); ; {
		room, err := to.Room()
		if err != nil {
			return err
		}
		n, err := resp.Body.Read(room)
		length += int64(n)
		if keep != nil && length > c.Most {
			keep(nil)
			keep = nil
		}
		if keep != nil && (errors.Is(err, io.EOF) || err == nil && length == resp.ContentLength) {
			if body, whole := to.Completed(n); whole && keep(body) && c.Unsent.Hold(c.client, body) == nil {
				to.Settle(body, func() { c.Unsent.Release(c.client, body) })
			}
			keep = nil
		}
		to.Wrote(n)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return redact.WithoutQuotes(err)
		}
		timer.Reset(c.Idle)
	}
}
