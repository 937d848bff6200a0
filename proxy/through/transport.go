package through

import (
	"cmp"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"

	"sundry/upstreams/host"
)

// Connections are the settings of the connections to an origin.
type Connections struct {
	Connect   time.Duration // to connect, TLS included
	Head      time.Duration // until the head of a response, once the request is sent
	KeepAlive bool
	// TLS is not changed; nil means the usual settings.
	TLS *tls.Config
}

// transports hold the connections to an origin.
type transports struct {
	transport *http.Transport
	brief     *http.Transport // for requests that cannot be repeated
	upgrade   *http.Transport // for requests that change the protocol, which HTTP/2 cannot
	cleartext *http.Transport // for HTTP/2 without TLS
}

// briefly is the idle timeout of connections for such requests. Origins close theirs after 2 s (gunicorn), or 5 s (Node, Apache). A request
// on its way is then lost, and net/http repeats only requests that change nothing and have no body.
const briefly = time.Second

// expectTime limits the wait for an origin to say whether it wants the body of a request with Expect (RFC 9110, section 10.1.1). After it, the
// origin is taken not to know the field.
const expectTime = time.Second

func newTransports(c *Connections, dial dialFunc) transports {
	dial = within(c.Connect, toSocket(dial)) // or it is the system's two minutes
	secure := cmp.Or(c.TLS, &tls.Config{}).Clone()
	secure.ClientSessionCache = tls.NewLRUClientSessionCache(0) // a connection for each upload takes no full handshake
	resting := func(most time.Duration, http2 bool) *http.Transport {
		transport := &http.Transport{
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				if err != nil {
					return nil, err
				}
				socket, in := openSocket(conn)
				return &headFilter{Conn: socket, in: in}, nil
			},
			ResponseHeaderTimeout: c.Head, ExpectContinueTimeout: expectTime, ForceAttemptHTTP2: http2,
			DisableCompression: true, DisableKeepAlives: !c.KeepAlive, MaxIdleConnsPerHost: 64, IdleConnTimeout: most,
			MaxResponseHeaderBytes: maxHead, HTTP2: host.HTTP2(), TLSClientConfig: secure.Clone(),
		}
		transport.DialTLSContext = within(c.Connect, func(ctx context.Context, network, address string) (net.Conn, error) {
			return dialTLS(ctx, network, address, dial, transport.TLSClientConfig)
		})
		return transport
	}
	t := transports{transport: resting(time.Minute, true), brief: resting(briefly, true), upgrade: resting(briefly, false), cleartext: resting(time.Minute, true)}
	t.cleartext.DialContext = dial // the header filter is for HTTP/1.1
	t.cleartext.Protocols = new(http.Protocols)
	t.cleartext.Protocols.SetUnencryptedHTTP2(true)
	return t
}

// transportOf returns the transport for requests to an address that can be repeated.
func (t *transports) transportOf(target *Target) *http.Transport {
	if target.HTTP2 {
		return t.cleartext
	}
	return t.transport
}

// Close closes idle connections.
func (t *transports) Close() {
	for _, one := range [...]*http.Transport{t.transport, t.brief, t.upgrade, t.cleartext} {
		one.CloseIdleConnections()
	}
}
