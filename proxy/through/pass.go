package through

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"sundry/cache/web"
	"sundry/metrics/panics"
)

// pass sends a request on to the origin and its answer back. What the answer says about what
// is stored is done: an unsafe method makes it unusable, a HEAD may update it.
func (c *call) pass() {
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	status := web.CacheStatus{Fwd: "method"}
	if c.r.Method == http.MethodGet || c.r.Method == http.MethodHead {
		status.Fwd = "request"
	}
	if err := c.count(); err != nil {
		c.failPass(&answer{err: err, status: status})
		return
	}
	u, err := c.receiveBody(ctx)
	if err != nil {
		c.failUpload(err)
		return
	}
	defer u.end()
	defer u.drain(c.r.ProtoMajor)
	if err := c.mayWait(); err != nil {
		c.failPass(&answer{err: err, status: status})
		return
	}
	resp, got, err := c.ask(ctx, true, c.r.Method, c.forwarded(), true) //nolint:bodyclose // passOn and switchProtocols do
	switch broken := u.failure(); {
	case err != nil && broken != nil:
		c.failUpload(broken)
		return
	case err != nil:
		c.failPass(&answer{err: err, status: status})
		return
	}
	u.answered.Store(true)
	if got.Status == http.StatusSwitchingProtocols {
		c.switchProtocols(resp, status)
		return
	}
	c.passOn(resp, got, status, cancel)
}

// passOn answers with the response of the origin, body by body as it comes. cancel ends the request to the origin.
func (c *call) passOn(resp *http.Response, got *web.Response, status web.CacheStatus, cancel func()) {
	defer func() { _ = resp.Body.Close() }() // read to its end, or given up
	if web.Invalidates(c.r.Method, got.Status) {
		c.invalidate(got)
	}
	if c.r.Method == http.MethodHead {
		c.headSays(got)
	}
	t := web.TermsOf(got, &c.Rules)
	window, keeps := int64(streamWindow), c.contentOfTarget(got, &t) && resp.ContentLength <= c.Most
	if keeps {
		window = max(c.Most, window)
	}
	spool := web.NewSpool(window, window, resp.ContentLength, c.store.Spools, c.client)
	a := &answer{object: web.NewObject(got, &t, &c.selector, &c.Rules), spool: spool, status: status, trailer: &resp.Trailer}
	var keep func(body []byte) bool
	if keeps {
		keep = func(body []byte) bool {
			if body == nil {
				return false // too long
			}
			kept := a.object.With(body, nil)
			kept.Requested = got.Received.Add(time.Millisecond) // it is what the method has led to
			return c.put(c.key, kept)
		}
	}
	spool.Hold()
	defer spool.Release()
	defer spool.Close(errCallerGone)
	receive := func() { spool.Close(c.copyBody(spool, resp, keep, cancel)) }
	if resp.ContentLength == 0 {
		receive() // before the header, which then ends the response: in gRPC, it holds the status
	} else {
		c.panics.Go(panics.Request, receive)
	}
	c.setHeader(a)
	c.w.WriteHeader(got.Status)
	c.send(a, 0, -1)
}

// ask sends a request to the origin, and returns its response with when it was asked for and received. interim means that the client gets
// the responses before the final one.
func (c *call) ask(ctx context.Context, interim bool, method string, h http.Header, body bool) (*http.Response, *web.Response, error) {
	requested := c.now()
	resp, err := c.reach(c.traced(ctx, interim), method, h, body)
	c.endWait()
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode < http.StatusOK && !c.switches(resp) {
		_ = resp.Body.Close() // of another protocol, or of none
		return nil, nil, errNotFinal
	}
	c.Response(resp.Header)
	if c.Compress {
		compress(resp, method, web.ReducedCodings(c.r.Header["Accept-Encoding"])) // h has what the file makes of it
	}
	return resp, &web.Response{Status: resp.StatusCode, Header: resp.Header, Requested: requested, Received: c.now()}, nil
}

// errNotFinal: what follows on the connection would be taken for something else by who is in front; net/http writes no such status.
var errNotFinal = errors.New("the origin has answered with a status below 200: it has changed the protocol, for which nobody has asked, or speaks another one")

// traced is for a request to the origin: the header of its response is awaited, and those of interim ones are sent to the client.
func (c *call) traced(ctx context.Context, interim bool) context.Context {
	trace := &httptrace.ClientTrace{GotConn: c.gotConnection}
	if interim {
		trace.Got1xxResponse = c.sendInterim
	}
	return httptrace.WithClientTrace(ctx, trace)
}

func (c *call) gotConnection(got httptrace.GotConnInfo) {
	c.connected.Store(true)
	awaitHead(got)
}

// sendInterim sends an interim response, whose fields are not those of the final one. It is called by another goroutine, and
// does nothing once the caller is answered, or where it would take one for the answer (RFC 9110, section 15.2). net/http sends
// a 100 by itself.
func (c *call) sendInterim(code int, fields textproto.MIMEHeader) error {
	c.waiting.Lock()
	defer c.waiting.Unlock()
	if c.over || code == http.StatusContinue || !c.r.ProtoAtLeast(1, 1) {
		return nil
	}
	h, own := http.Header(fields), c.w.Header()
	c.Response(h)
	maps.Copy(own, h)
	c.w.WriteHeader(code)
	c.endlessly()
	for name := range h {
		delete(own, name)
	}
	return nil
}

// invalidate purges the stored responses that a request has changed, according to its response:
//
//   - the responses of its URI, and of the URIs of the same host that the response names (RFC 9111, section 4.4);
//   - the destination of a COPY or MOVE, and what is below a collection that was removed, moved or replaced (RFC 4918);
//   - the cache groups that the response names (RFC 9875).
//
// Responses that were requested before are not stored any more.
func (c *call) invalidate(got *web.Response) {
	c.store.Purge(web.Purge{At: got.Received, Key: c.key})
	for _, uri := range [...]string{got.Header.Get("Location"), got.Header.Get("Content-Location"), c.destination()} {
		if key, ok := c.sameHost(uri); ok && key != c.key {
			c.store.Purge(web.Purge{At: got.Received, Key: key})
		}
	}
	c.store.PurgeGroups(c.Name, got.Header["Cache-Group-Invalidation"], got.Received)
	if !changesCollections(got.Status) {
		return
	}
	if c.r.Method == "MOVE" || c.r.Method == http.MethodDelete && strings.HasSuffix(c.key, "/") { // others remove no collections, but many items
		c.store.PurgeBelow(c.key, got.Received)
	}
	if key, ok := c.sameHost(c.destination()); ok {
		c.store.PurgeBelow(key, got.Received)
	}
}

// changesCollections reports whether WebDAV says by a status that collections were removed or replaced (RFC 4918, sections 9.6.1, 9.8.5 and
// 9.9.4). Many applications answer every method with 200 and a page, or redirect to a login: anybody could purge all of their responses.
func changesCollections(status int) bool {
	return status == http.StatusCreated || status == http.StatusNoContent || status == http.StatusMultiStatus
}

// destination is what a COPY or MOVE leads to; "": the request is another one.
func (c *call) destination() string {
	if c.r.Method != "COPY" && c.r.Method != "MOVE" {
		return ""
	}
	return c.r.Header.Get("Destination")
}

// sameHost is the key of a URI that an answer names; false: it is of another host, or none.
func (c *call) sameHost(reference string) (key string, ok bool) {
	if reference == "" {
		return "", false
	}
	base := &url.URL{Scheme: "http", Host: c.r.Host, Path: c.r.URL.Path, RawQuery: c.r.URL.RawQuery}
	u, err := base.Parse(reference)
	if err != nil || !strings.EqualFold(u.Host, base.Host) && !c.origin.isTarget(u.Host) {
		return "", false
	}
	path, _ := c.origin.targets[0].below(c.PathOf(&http.Request{URL: u}))
	return c.Name + path, true
}

// headSays lets the answer to a HEAD update what is stored for GET, or remove it (RFC 9111, section 4.3.5).
func (c *call) headSays(got *web.Response) {
	o := c.selected()
	if o == nil || o.Part != nil || got.Status != http.StatusOK || o.Status != http.StatusOK || c.r.ContentLength != 0 {
		return
	}
	t := web.TermsOf(got, &c.Rules)
	switch {
	case c.isPersonal(got.Header) && !web.Storable(c.q, got, &t, &c.Rules): // it is about what that client alone gets
	case !web.HeadAgrees(got.Header, o.Header):
		c.store.Drop(c.key, o, got.Requested)
	case web.HasValidator(got.Header): // or nothing says that it is about what is stored
		(&errand{call: c}).update(o, got)
	}
}

// contentOfTarget reports whether the answer to a POST is what a GET of the same URI would get, and says for how long
// (RFC 9110, section 9.3.3).
func (c *call) contentOfTarget(got *web.Response, t *web.Terms) bool {
	if c.r.Method != http.MethodPost || got.Status != http.StatusOK || !t.Explicit || got.Header.Get("Content-Location") == "" {
		return false
	}
	key, ok := c.sameHost(got.Header.Get("Content-Location"))
	return ok && key == c.key && web.Storable(c.q, got, t, &c.Rules)
}

// failPass answers that the origin could not be asked; a stored response to a HEAD may stand in for it.
func (c *call) failPass(a *answer) {
	if c.r.Method == http.MethodHead {
		if o := c.selected(); o != nil && o.Part == nil && o.Usable(true, c.now()) {
			a.status.Hit = true
			c.respond(&answer{object: o, status: a.status})
			return
		}
	}
	c.failOrigin(a)
}

// partial answers a request for more than the part that is stored. A beginning is completed if that costs no request more; else all is
// requested again.
func (c *call) partial(o *web.Object) {
	if c.q.OnlyIfCached {
		c.refuse(http.StatusGatewayTimeout, ErrOnlyIfCached)
		return
	}
	e := &errand{call: c, status: web.CacheStatus{Fwd: "partial"}}
	_, ranged := web.WantedRange(c.r.Header)
	if !ranged && o.IsCompletable() && o.Judge(&c.q.Directives, c.began) == web.Reuse {
		e.prefix = o
	}
	c.fly(e)
}
