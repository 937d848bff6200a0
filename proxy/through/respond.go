package through

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"sundry/cache/web"
	"sundry/metrics/panics"
	"sundry/proxy/express"
	"sundry/upstreams/host"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// respond sends an answer, or 503 if too many responses wait for the client already.
func (c *call) respond(a *answer) {
	switch {
	case a.err != nil:
		c.failOrigin(a)
		return
	case a.spool == nil && c.r.Method != http.MethodHead && !c.notModified(a.object):
		if err := c.Unsent.Hold(c.client, a.object.Body); err != nil {
			c.failOrigin(&answer{err: err, status: a.status})
			return
		}
		defer c.Unsent.Release(c.client, a.object.Body)
	}
	c.respondWith(a)
}

// notModified reports whether 304 answers the request.
func (c *call) notModified(o *web.Object) bool {
	return o.Status == http.StatusOK && web.NotModified(c.r.Header, &o.Response)
}

// respondWith answers with 304, with a range, or with the whole, as the request says.
func (c *call) respondWith(a *answer) {
	o, h := a.object, c.w.Header()
	c.setHeader(a)
	wanted, ranged := web.WantedRange(c.r.Header)
	switch {
	case c.notModified(o):
		web.ForNotModified(h)
		c.w.WriteHeader(http.StatusNotModified)
	case o.Part != nil && ranged:
		c.respondPart(a, wanted)
	case o.Status == http.StatusOK && ranged && c.r.Method == http.MethodGet && web.IfRange(c.r.Header, o.Header) && c.length(a) > 0:
		c.respondRange(a, wanted)
	default:
		c.w.WriteHeader(o.Status)
		c.send(a, 0, -1)
	}
}

// length is that of the body; -1: it is not known yet.
func (c *call) length(a *answer) int64 {
	if a.spool == nil {
		return int64(len(a.object.Body))
	}
	n, err := strconv.ParseInt(a.object.Header.Get("Content-Length"), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (c *call) respondRange(a *answer, wanted web.Wanted) {
	h, total := c.w.Header(), c.length(a)
	r, ok := wanted.Of(total)
	if !ok {
		h.Set("Content-Range", "bytes */"+itoa(total))
		delete(h, "Content-Length")
		delete(h, "Content-Type")
		c.w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
		return
	}
	c.sendRange(a, r, total, r.First)
}

// sendRange sends a range of a whole of that many bytes, which lies at an offset of the answer's body.
func (c *call) sendRange(a *answer, r web.Range, total, offset int64) {
	h := c.w.Header()
	h.Set("Content-Range", r.ContentRange(total))
	h.Set("Content-Length", itoa(r.Length()))
	c.w.WriteHeader(http.StatusPartialContent)
	c.send(a, offset, r.Length())
}

// respondPart sends a range of a part that is stored, which holds it.
func (c *call) respondPart(a *answer, wanted web.Wanted) {
	part := a.object.Part
	r, ok := part.Holds(wanted)
	if !ok {
		r = part.Range
	}
	c.sendRange(a, r, part.Total, r.First-part.First)
}

// setHeader puts the fields of an answer into the caller's, and notes where it comes from.
func (c *call) setHeader(a *answer) {
	o, h, now := a.object, c.w.Header(), c.now()
	c.w.Cache, c.w.Age = a.status, o.Age(now)
	c.setFields(h, o, a.status.Hit || a.status.Shared, now)
	if a.status.Hit || a.status.Shared || a.spool == nil || c.w.Age >= time.Second {
		h["Age"] = []string{itoa(int64(c.w.Age / time.Second))}
	}
	h["Cache-Status"] = append(slices.Clip(h["Cache-Status"]), a.status.String())
	if c.id != "" && (!a.status.Hit || a.status.Fwd != "") {
		h["X-Request-Id"] = []string{c.id}
	}
}

// setFields puts those of a response into a header, but for how old it is and where it comes from. reused: it is, without
// validation.
func (h *Handler) setFields(to http.Header, o *web.Object, reused bool, now time.Time) {
	maps.Copy(to, o.Header)
	if reused {
		o.RemoveUnshared(to)
	}
	if _, ok := to["Content-Type"]; !ok {
		to["Content-Type"] = nil // or net/http guesses one
	}
	if _, ok := web.Date(to.Get("Date"), now); !ok {
		to.Set("Date", o.Received.UTC().Format(http.TimeFormat))
	}
	h.addVia(to, "1.1 "+via)
}

// send writes n bytes of the body from an offset on, as they come; -1: all. A body that is cut off is cut off for the
// caller as well, who would take it for the whole one.
func (c *call) send(a *answer, from, n int64) {
	if c.r.Method == http.MethodHead {
		return
	}
	if a.spool == nil {
		body := a.object.Body[from:]
		if n >= 0 {
			body = body[:n]
		}
		_, _ = express.Write(&c.w, body, c.Idle) // the caller has left
		return
	}
	p := pace{idle: c.Idle, rate: slowest}
	if length := c.length(a); length >= 0 {
		if a.status.Stored {
			p.rate = express.SlowestReader
		}
		if n < 0 {
			n = length - from // a client that has it all may leave before the end is seen
		}
	}
	at, err := c.stream(a.spool, from, n, &p)
	if errors.Is(err, web.ErrLagging) {
		err = c.goOn(a, at, from, n, &p)
	}
	if err != nil {
		c.abort(err)
		return
	}
	c.sendTrailer(a)
}

// abort ends the connection of a caller, who would take what has come for a whole answer, once the handler returns.
func (c *call) abort(err error) { c.w.Err, c.cut = err, true }

// gone ends the request of a caller who has left.
func (c *call) gone() {
	c.w.Err = http.ErrAbortHandler
	panic(http.ErrAbortHandler)
}

var errCallerGone = fmt.Errorf("the caller has left: %w", http.ErrAbortHandler)

// stream writes a body while it arrives, and returns up to where it came. Each time that there is nothing more for the
// moment, what was written is sent. A client that is slower than its pace counts as gone. The caller holds the spool.
func (c *call) stream(s *web.Spool, from, n int64, p *pace) (at int64, err error) {
	control := http.NewResponseController(&c.w)
	var stored []byte // counts in the share of the client that made the request, and of each that reads it
	defer func() { c.Unsent.Release(c.client, stored) }()
	for at = from; n < 0 || at < from+n; {
		b, wait, err := s.Next(at)
		if body := s.Stored(); stored == nil && body != nil {
			if err := c.Unsent.Hold(c.client, body); err != nil {
				return at, err
			}
			stored = body
		}
		switch {
		case errors.Is(err, io.EOF):
			return at, nil
		case err != nil:
			return at, err
		case wait != nil:
			_ = control.Flush()
			select {
			case <-wait:
			case <-c.r.Context().Done():
				return at, errCallerGone
			}
			continue
		}
		if n >= 0 {
			b = b[:min(int64(len(b)), from+n-at)]
		}
		now := time.Now()
		_ = control.SetWriteDeadline(now.Add(p.left())) // a test's writer has none
		if _, err := c.w.Write(b); err != nil {
			return at, errCallerGone
		}
		p.note(time.Since(now), len(b))
		at += int64(len(b))
	}
	return at, nil
}

// goOn asks the origin for the rest of a body of which this caller is too slow a reader. Without a strong tag nobody knows
// that it would be the rest of the same one.
func (c *call) goOn(a *answer, at, from, n int64, p *pace) error {
	h := c.forwarded()
	web.RemoveConditions(h)
	rest, wanted := web.Range{First: at, Last: -1}, "bytes="+itoa(at)+"-"
	if n >= 0 {
		rest.Last = from + n - 1
		wanted += itoa(rest.Last)
	}
	h["Range"], h["If-Range"] = []string{wanted}, []string{a.object.Tag()}
	resp, got, err := c.ask(c.r.Context(), false, http.MethodGet, h, false)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }() // read to its end, or given up
	if got.Status != http.StatusPartialContent || !web.Continues(a.object.Tag(), rest, c.length(a), got.Header) {
		return web.ErrLagging
	}
	more := web.NewSpool(streamWindow, streamWindow, resp.ContentLength, c.store.Spools, c.client)
	more.Hold()
	defer more.Release()
	defer more.Close(errCallerGone)
	c.panics.Go(panics.Fill, func() { more.Close(c.copyBody(more, resp, nil, func() { _ = resp.Body.Close() })) })
	if sent, err := c.stream(more, 0, -1, p); err != nil || web.IsWholePart(got.Header, sent) {
		return err
	}
	return web.ErrLagging
}

func (c *call) sendTrailer(a *answer) {
	if a.trailer == nil || len(*a.trailer) == 0 {
		return
	}
	_ = http.NewResponseController(&c.w).Flush() // or an empty body gets a Content-Length in HTTP/1.1, and no trailer can follow
	changed := a.trailer.Clone()
	cleanTrailer(changed)
	c.Response(changed)
	for name := range *a.trailer {
		if lines, ok := changed[name]; ok { // what is added is in the head
			c.w.Header()[http.TrailerPrefix+name] = lines
		}
	}
}

// These are what callers are told.
var (
	// ErrNoAnswer is an origin that could not be asked, or whose answer is none.
	ErrNoAnswer = errors.New("the origin gave no answer")
	// ErrPaused is an origin whose breaker is open.
	ErrPaused = errors.New("the origin has failed, and is not asked for a while")
	// ErrThrottled is a rate that is used up.
	ErrThrottled = errors.New("the origin has been asked as often as it may be for now")
	// ErrTimeout is an origin that is too slow for the API's `timeout`.
	ErrTimeout = errors.New("the origin did not answer in time")
	// ErrReplay is why no connection is made in replay, which answers what was recorded: of APIs nothing is.
	ErrReplay = errors.New("there is no network in replay")
)

// failOrigin answers that the origin could not be asked.
func (c *call) failOrigin(a *answer) {
	f := &Failure{http.StatusServiceUnavailable, ErrNoAnswer, retryAfter}
	limited, isLimit := errors.AsType[*LimitedError](a.err)
	throttled, isQuota := errors.AsType[*host.ThrottledError](a.err)
	switch {
	case isLimit:
		*f = Failure{http.StatusTooManyRequests, limited, max(limited.Wait+time.Second-1, time.Second).Truncate(time.Second)}
	case errors.Is(a.err, ErrShed):
		f.Err = ErrShed
	case errors.Is(a.err, express.ErrUnsent):
		f.Err = express.ErrUnsent
	case isQuota:
		f.Err, f.RetryAfter = ErrThrottled, throttled.Wait.Truncate(time.Second)+time.Second
	case errors.Is(a.err, host.ErrRejected):
		f.Err = ErrPaused
	case errors.Is(a.err, host.ErrBusy):
	case isTimeout(a.err), errors.Is(a.err, context.DeadlineExceeded):
		*f = Failure{Status: http.StatusGatewayTimeout, Err: ErrTimeout}
	case errors.Is(a.err, ErrReplay):
		*f = Failure{Status: http.StatusBadGateway, Err: ErrReplay}
	default:
		*f = Failure{Status: http.StatusBadGateway, Err: ErrNoAnswer}
	}
	c.w.Cache, c.w.Err = a.status, a.err
	c.w.Header()["Cache-Status"] = []string{a.status.String()}
	c.failAs(f)
	c.log.Debug("origin failed", "api", c.Name, "error", a.err)
}

// retryAfter is when a caller may ask again whose request was not sent to the origin.
const retryAfter = 10 * time.Second

// fail answers with an error of this service's own.
func (c *call) fail(status int, err error) { c.failAs(&Failure{Status: status, Err: err}) }

// refuse counts the request against the rate limit of its client, and answers with an error of this service's own.
func (c *call) refuse(status int, err error) {
	if limited := c.count(); limited != nil {
		c.failOrigin(&answer{err: limited})
		return
	}
	c.fail(status, err)
}

func (c *call) failAs(f *Failure) {
	h := c.w.Header()
	if f.RetryAfter > 0 {
		h["Retry-After"] = []string{itoa(int64(f.RetryAfter / time.Second))}
	}
	if c.Fail != nil {
		c.Fail(&c.w, c.r, c.id, f)
		return
	}
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	c.w.WriteHeader(f.Status)
	_, _ = fmt.Fprintf(&c.w, "%s: %v\n", c.Name, f.Err)
}
