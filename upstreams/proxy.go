package upstreams

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"sundry/metrics/words"
	"sundry/upstreams/declare"
)

// Proxy is a proxy for requests to declared hosts, or the order to use none.
type Proxy struct{ url *url.URL } // nil: none

// directly is how an operator writes that no proxy is to be used.
const directly = "direct"

// errProxy says what is expected, without the value: it may hold a password.
var errProxy = words.NewError("expected the URL of an http, https, socks5 or socks5h proxy, such as socks5://127.0.0.1:1080, or direct", "应为 http、https、socks5 或 socks5h 代理的 URL（冒号和点用半角），例如 socks5://127.0.0.1:1080，或 direct")

// ParseProxy reads the URL of a proxy, which may have a user and a password, or
// direct.
func ParseProxy(s string) (Proxy, error) {
	if s == directly {
		return Proxy{}, nil
	}
	u, ok := declare.Address(s, "http", "https", "socks5", "socks5h")
	if !ok || u.Path != "" && u.Path != "/" {
		return Proxy{}, errProxy
	}
	return Proxy{u}, nil
}

// Proxies say through which proxy requests to declared hosts go. Connections to
// caller-supplied targets never go through one: it would resolve and connect without
// the SSRF guard. (The hosts of share links are declared ones: see httpsource.)
type Proxies struct {
	// Default is for all sources; nil: that of HTTP_PROXY, HTTPS_PROXY and NO_PROXY.
	Default *Proxy
	// Of are for an endpoint, or for one of its sources (endpoint/source).
	Of map[string]*Proxy
}

// proxyOf is the proxy of a source; nil: that of the process's environment.
func (env *Environment) proxyOf(endpoint, source string) *Proxy {
	all := &env.Outgoing().Proxies
	return cmp.Or(all.Of[endpoint+"/"+source], all.Of[endpoint], all.Default)
}

// Proxied reports whether a source's requests to declared hosts go through a proxy.
func (env *Environment) Proxied(endpoint, source string, req *http.Request) bool {
	if p := env.proxyOf(endpoint, source); p != nil {
		return p.url != nil
	}
	u, err := http.ProxyFromEnvironment(req)
	return u != nil || err != nil
}

// proxyKey finds a request's *Proxy in its context.
type proxyKey struct{}

// chooseProxy implements http.Transport.Proxy.
func chooseProxy(req *http.Request) (*url.URL, error) {
	if p, ok := req.Context().Value(proxyKey{}).(*Proxy); ok {
		return p.url, nil
	}
	u, err := http.ProxyFromEnvironment(req)
	if err != nil {
		return nil, errors.New("HTTP_PROXY or HTTPS_PROXY of the environment is not a URL") // without the value, which may hold a password
	}
	return u, nil
}

// proxied carries the requests of one source through its proxy.
type proxied struct {
	next             http.RoundTripper
	env              *Environment
	endpoint, source string
}

// RoundTrip implements http.RoundTripper. A failure of the proxy says so, and not
// that the host failed.
func (p proxied) RoundTrip(req *http.Request) (*http.Response, error) {
	proxy := p.env.proxyOf(p.endpoint, p.source)
	if proxy != nil {
		req = req.WithContext(context.WithValue(req.Context(), proxyKey{}, proxy))
	}
	resp, err := p.next.RoundTrip(req)
	switch {
	case err != nil && ofProxy(err):
		return nil, proxyFailure(err)
	case err != nil && proxy != nil && proxy.url != nil:
		return nil, fmt.Errorf("through the proxy: %w", err)
	case err == nil && resp.StatusCode == http.StatusProxyAuthRequired:
		_ = resp.Body.Close()
		return nil, proxyFailure(proxyRefusal{resp.StatusCode})
	}
	return resp, err
}

// proxyRefusal is the status with which a proxy refused to connect.
type proxyRefusal struct{ status int }

func (e proxyRefusal) Error() string {
	return fmt.Sprintf("it refused the connection with status %d %s", e.status, http.StatusText(e.status))
}

// checkConnect implements http.Transport.OnProxyConnectResponse.
func checkConnect(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode != http.StatusOK {
		return proxyRefusal{resp.StatusCode}
	}
	return nil
}

// ofProxy reports whether a request failed before the proxy was connected to its
// host.
func ofProxy(err error) bool {
	if _, refused := errors.AsType[proxyRefusal](err); refused {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "proxyconnect" || op.Op == "socks connect")
}

func proxyFailure(err error) error {
	kind := KindOf(err)
	if kind == Internal {
		kind = Unavailable
	}
	return &Error{Kind: kind, Err: fmt.Errorf("proxy: %w", err)}
}
