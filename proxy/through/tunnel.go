package through

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"

	"sundry/cache/web"
	"sundry/metrics/panics"
)

// upgradeOf returns the protocols that a request offers to change to on its connection (RFC 9110, section 7.8); nil means none. HTTP/2
// is not among them: clients offer it by the way (RFC 9113, section 3.1), and an origin would get requests in it past
// everything that bounds and changes them. A request with a body is none either: how long its body is would be bounded by nobody.
func upgradeOf(r *http.Request) []string {
	to := r.Header["Upgrade"]
	if r.ContentLength != 0 || len(to) == 0 || !httpguts.HeaderValuesContainsToken(r.Header["Connection"], "upgrade") {
		return nil
	}
	if strings.Contains(strings.ToLower(strings.Join(to, ",")), "h2c") {
		return nil
	}
	return to
}

// switches reports whether an origin changes to a protocol that the client has offered.
func (c *call) switches(resp *http.Response) bool {
	t, ok := resp.Body.(*transfer)
	if !ok || resp.StatusCode != http.StatusSwitchingProtocols {
		return false
	}
	_, ok = t.ReadCloser.(io.ReadWriteCloser)
	return ok && httpguts.HeaderValuesContainsToken(c.upgrade, resp.Header.Get("Upgrade"))
}

// switchProtocols connects the client with the origin, which has changed the protocol, until one of them closes its connection or
// both are idle for Tunnel. What the client has sent before it got the 101 reaches the origin.
func (c *call) switchProtocols(resp *http.Response, status web.CacheStatus) {
	defer func() { _ = resp.Body.Close() }() // closed already
	conn, in, err := http.NewResponseController(&c.w).Hijack()
	if err != nil {
		c.failOrigin(&answer{err: err, status: status})
		return
	}
	defer c.Ended(conn)
	defer func() { _ = conn.Close() }() // closed already
	c.w.Code, c.w.Cache = resp.StatusCode, status
	t := &tunnel{client: conn, origin: resp.Body, idle: c.Tunnel}
	t.ends = time.AfterFunc(t.idle, c.panics.Func(panics.Request, t.close))
	defer t.ends.Stop()
	defer context.AfterFunc(c.r.Context(), c.panics.Func(panics.Request, t.close))()
	if c.sendSwitch(conn, resp) != nil {
		t.close()
		return
	}
	var both sync.WaitGroup
	both.Add(1)
	c.panics.Go(panics.Request, func() {
		defer both.Done()
		t.copy(resp.Body.(*transfer).ReadCloser.(io.ReadWriteCloser), in.Reader)
	})
	t.copy(conn, resp.Body)
	both.Wait()
}

// spellAsRFC spells the fields of WebSockets as RFC 6455 does: some servers and clients compare them by case.
func spellAsRFC(h http.Header) {
	for _, name := range [...]string{"Sec-WebSocket-Accept", "Sec-WebSocket-Extensions", "Sec-WebSocket-Key", "Sec-WebSocket-Protocol", "Sec-WebSocket-Version"} {
		canonical := http.CanonicalHeaderKey(name)
		if lines, ok := h[canonical]; ok {
			delete(h, canonical)
			h[name] = lines
		}
	}
}

// sendSwitch sends the response of an origin that changes the protocol.
func (c *call) sendSwitch(to io.Writer, resp *http.Response) error {
	h := resp.Header.Clone()
	maps.DeleteFunc(h, func(name string, _ []string) bool { return slices.Contains(c.Rules.Tags, name) })
	h["Connection"] = []string{"Upgrade"}
	c.addVia(h, "1.1 "+via)
	spellAsRFC(h)
	if c.id != "" {
		h["X-Request-Id"] = []string{c.id}
	}
	return (&http.Response{StatusCode: resp.StatusCode, ProtoMajor: 1, ProtoMinor: 1, Header: h}).Write(to)
}

// tunnel is a connection to a client and one to an origin, between which all bytes are copied.
type tunnel struct {
	client net.Conn
	origin io.Closer
	idle   time.Duration
	ends   *time.Timer
}

func (t *tunnel) close() {
	_ = t.client.Close() // its end is all that matters
	_ = t.origin.Close()
}

// copy copies to the end of a direction, and passes the end on. If it cannot, or a connection breaks off, both are closed.
func (t *tunnel) copy(to io.Writer, from io.Reader) {
	buf := make([]byte, 16<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			t.ends.Reset(t.idle)
			if _, broken := to.Write(buf[:n]); broken != nil {
				t.close()
				return
			}
			t.ends.Reset(t.idle)
		}
		if err == nil {
			continue
		}
		half, ok := to.(interface{ CloseWrite() error })
		if !errors.Is(err, io.EOF) || !ok || half.CloseWrite() != nil {
			t.close()
		}
		return
	}
}
