package kinds

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sundry/upstreams"
	"sundry/upstreams/lib/guard"
)

// The user and the password of the proxies.
const (
	proxyUser     = "somebody"
	proxyPassword = "geheim-31415"
)

// httpProxy is an HTTP proxy with a password: it tunnels CONNECT, and passes on
// other requests.
type httpProxy struct {
	*httptest.Server
	tunnels, passed atomic.Int32
	status          atomic.Int32 // of its replies to CONNECT, where not 0
}

func newHTTPProxy(t *testing.T) *httpProxy {
	t.Helper()
	p := &httpProxy{}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *httpProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(proxyUser+":"+proxyPassword))
	switch status := int(p.status.Load()); {
	case r.Header.Get("Proxy-Authorization") != want:
		w.WriteHeader(http.StatusProxyAuthRequired)
	case r.Method == http.MethodConnect && status != 0:
		w.WriteHeader(status)
	case r.Method == http.MethodConnect:
		p.tunnels.Add(1)
		w.WriteHeader(http.StatusOK)
		client, buffered, err := http.NewResponseController(w).Hijack()
		if err == nil {
			join(client, buffered, r.Host)
		}
	default:
		p.passed.Add(1)
		r.RequestURI = ""
		r.Header.Del("Proxy-Authorization")
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}
}

// join connects a client with a host until one of them closes.
func join(client net.Conn, from io.Reader, host string) {
	defer client.Close()
	upstream, err := net.Dial("tcp", host)
	if err != nil {
		return
	}
	defer upstream.Close()
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(upstream, from); _ = upstream.(*net.TCPConn).CloseWrite() })
	both.Go(func() { _, _ = io.Copy(client, upstream); _ = client.Close() })
	both.Wait()
}

// socksProxy is a SOCKS5 proxy with a password (RFC 1928, RFC 1929).
type socksProxy struct {
	net.Listener
	joined atomic.Int32
	names  atomic.Value // the last name that it was asked to resolve
}

func newSOCKSProxy(t *testing.T) *socksProxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &socksProxy{Listener: l}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { p.serve(client) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); running.Wait() })
	return p
}

func (p *socksProxy) serve(client net.Conn) {
	defer client.Close()
	r := bufio.NewReader(client)
	host, err := handshake(r, client)
	if err != nil {
		return
	}
	p.names.Store(host)
	p.joined.Add(1)
	join(client, r, host)
}

// handshake checks the password, and reads which host the client wants.
func handshake(r *bufio.Reader, w io.Writer) (host string, err error) {
	if _, err = readCounted(r, 1); err != nil { // version, methods
		return "", err
	}
	_, _ = w.Write([]byte{5, 2}) // user and password
	user, err := readCounted(r, 1)
	if err != nil {
		return "", err
	}
	password, err := readCounted(r, 0)
	if err != nil {
		return "", err
	}
	if string(user) != proxyUser || string(password) != proxyPassword {
		_, _ = w.Write([]byte{1, 1})
		return "", errors.New("wrong password")
	}
	_, _ = w.Write([]byte{1, 0})
	head := make([]byte, 4) // version, connect, reserved, type of the address
	if _, err = io.ReadFull(r, head); err != nil {
		return "", err
	}
	var name []byte
	if head[3] == 3 {
		name, err = readCounted(r, 0)
	} else {
		name = make([]byte, map[byte]int{1: net.IPv4len, 4: net.IPv6len}[head[3]])
		_, err = io.ReadFull(r, name)
		name = []byte(net.IP(name).String())
	}
	port := make([]byte, 2)
	if _, e := io.ReadFull(r, port); err != nil || e != nil {
		return "", errors.Join(err, e)
	}
	_, _ = w.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	return net.JoinHostPort(string(name), fmt.Sprint(int(port[0])<<8|int(port[1]))), nil
}

// readCounted skips some bytes, and reads a text after a byte with its length.
func readCounted(r *bufio.Reader, skip int) ([]byte, error) {
	if _, err := r.Discard(skip); err != nil {
		return nil, err
	}
	n, err := r.ReadByte()
	if err != nil {
		return nil, err
	}
	text := make([]byte, n)
	_, err = io.ReadFull(r, text)
	return text, err
}

func withPassword(address, scheme, password string) string {
	return (&url.URL{Scheme: scheme, User: url.UserPassword(proxyUser, password), Host: address}).String()
}

func mustProxy(t *testing.T, address string) upstreams.Proxy {
	t.Helper()
	p, err := upstreams.ParseProxy(address)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// through makes a source of the host that goes through a proxy.
func through(t *testing.T, env *upstreams.Environment, host, proxy string) *upstreams.Source {
	t.Helper()
	p := mustProxy(t, proxy)
	env.SetOutgoing(upstreams.Outgoing{Proxies: upstreams.Proxies{Default: &p}})
	return compile(t, env, "name: one\nhttp: {url: "+host+"/x}")
}

// TestRequestsGoThroughTheProxy of either kind, to plain hosts and to those with TLS.
func TestRequestsGoThroughTheProxy(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"a":1}`) })
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	web, socks := newHTTPProxy(t), newSOCKSProxy(t)
	for proxy, used := range map[string]func() int32{
		withPassword(web.Listener.Addr().String(), "http", proxyPassword):   func() int32 { return web.passed.Load() + web.tunnels.Load() },
		withPassword(socks.Addr().String(), "socks5", proxyPassword):        socks.joined.Load,
		withPassword(socks.Addr().String(), "socks5h", proxyPassword) + "/": socks.joined.Load,
	} {
		for _, host := range []string{plain.URL, secure.URL} {
			env := environment(t)
			env.Transport.(*http.Transport).TLSClientConfig = secure.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
			before := used()
			if _, err := through(t, env, host, proxy).Probe(t.Context(), &upstreams.Call{}, nil); err != nil || used() != before+1 {
				t.Errorf("%s through %s: %v, used %d times", host, proxy, err, used()-before)
			}
			env.CloseIdle()
		}
	}
	if web.tunnels.Load() != 1 || web.passed.Load() != 1 {
		t.Errorf("%d tunnels, %d passed on", web.tunnels.Load(), web.passed.Load())
	}
}

// TestNamesAreResolvedByTheSOCKSProxy, by socks5 as by socks5h.
func TestNamesAreResolvedByTheSOCKSProxy(t *testing.T) {
	host := upstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) })
	host = strings.Replace(host, "127.0.0.1", "localhost", 1)
	socks, env := newSOCKSProxy(t), environment(t)
	if _, err := through(t, env, host, withPassword(socks.Addr().String(), "socks5", proxyPassword)).Probe(t.Context(), &upstreams.Call{}, nil); err != nil || "http://"+socks.names.Load().(string) != host {
		t.Errorf("%v: it was asked for %v", err, socks.names.Load())
	}
	env.CloseIdle()
}

// TestFailuresOfTheProxy say so, without its password, and the next source answers.
func TestFailuresOfTheProxy(t *testing.T) {
	host := upstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"a":1}`) })
	secure := strings.Replace(host, "http:", "https:", 1)
	web, socks, refusing := newHTTPProxy(t), newSOCKSProxy(t), newHTTPProxy(t)
	refusing.status.Store(http.StatusForbidden)
	gone := httptest.NewServer(nil)
	gone.Close()
	dead := gone.Listener.Addr().String()
	for name, row := range map[string]struct{ proxy, host, want string }{
		"dead, plain":             {withPassword(dead, "http", proxyPassword), host, "proxy: proxyconnect tcp: dial tcp " + dead},
		"dead, tunnel":            {withPassword(dead, "http", proxyPassword), secure, "proxy: proxyconnect tcp: dial tcp " + dead},
		"dead, SOCKS":             {withPassword(dead, "socks5", proxyPassword), host, "proxy: "},
		"wrong password, plain":   {withPassword(web.Listener.Addr().String(), "http", "geheim-2"), host, "proxy: it refused the connection with status 407"},
		"wrong password, tunnel":  {withPassword(web.Listener.Addr().String(), "http", "geheim-2"), secure, "proxy: it refused the connection with status 407"},
		"wrong password, SOCKS":   {withPassword(socks.Addr().String(), "socks5", "geheim-2"), host, "proxy: socks connect"},
		"refuses to connect":      {withPassword(refusing.Listener.Addr().String(), "http", proxyPassword), secure, "proxy: it refused the connection with status 403 Forbidden"},
		"no TLS behind the proxy": {withPassword(web.Listener.Addr().String(), "http", proxyPassword), secure, "through the proxy: "},
	} {
		t.Run(name, func(t *testing.T) {
			env := environment(t)
			first := through(t, env, row.host, row.proxy)
			second := compile(t, env, "name: second\ncomputed: {}\nmap: '{b: 2}'")
			chain := upstreams.NewChain("test", []*upstreams.Source{first, second}, true, env)
			var shown strings.Builder
			a, err := chain.Do(t.Context(), &upstreams.Call{}, false, func(a upstreams.AttemptReport) { fmt.Fprintln(&shown, a.Result, a.Err, a.Stages) })
			if err != nil || a.Source != "second" {
				t.Fatalf("%v %v, want the second source's answer", a, err)
			}
			for _, f := range env.Journal.Failures() {
				fmt.Fprintln(&shown, f.Err)
			}
			if !strings.Contains(shown.String(), "unavailable one: unavailable: "+row.want) || strings.Contains(shown.String(), "geheim") || strings.Contains(shown.String(), proxyUser) {
				t.Errorf("shown: %s\nwant %s, and no password", &shown, row.want)
			}
			env.CloseIdle()
		})
	}
}

// TestProxiesOfSources: the most special setting counts, and a change applies to the
// next request.
func TestProxiesOfSources(t *testing.T) {
	host := upstream(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) })
	web, env := newHTTPProxy(t), environment(t)
	s := compile(t, env, "name: one\nhttp: {url: "+host+"/x}")
	proxy, none := mustProxy(t, withPassword(web.Listener.Addr().String(), "http", proxyPassword)), mustProxy(t, "direct")
	for i, row := range []struct {
		set  upstreams.Proxies
		used int32
	}{
		{upstreams.Proxies{}, 0},
		{upstreams.Proxies{Default: &proxy}, 1},
		{upstreams.Proxies{Default: &none}, 0},
		{upstreams.Proxies{Default: &proxy, Of: map[string]*upstreams.Proxy{"test": &none}}, 0},
		{upstreams.Proxies{Default: &none, Of: map[string]*upstreams.Proxy{"test": &proxy}}, 1},
		{upstreams.Proxies{Of: map[string]*upstreams.Proxy{"test": &none, "test/one": &proxy}}, 1},
		{upstreams.Proxies{Default: &proxy, Of: map[string]*upstreams.Proxy{"test/other": &none, "other": &none}}, 1},
	} {
		env.SetOutgoing(upstreams.Outgoing{Proxies: row.set})
		before := web.passed.Load()
		if _, err := s.Probe(t.Context(), &upstreams.Call{}, nil); err != nil || web.passed.Load()-before != row.used {
			t.Errorf("row %d: %v, used %d times, want %d", i, err, web.passed.Load()-before, row.used)
		}
	}
	env.CloseIdle()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// TestTargetsAreNeverReachedThroughTheProxy: it would resolve and connect without the
// SSRF guard.
func TestTargetsAreNeverReachedThroughTheProxy(t *testing.T) {
	host := upstream(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	web, env := newHTTPProxy(t), environment(t)
	env.Guard = guard.New(guard.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Web: func(uint16) bool { return true }})
	proxy := mustProxy(t, withPassword(web.Listener.Addr().String(), "http", proxyPassword))
	env.SetOutgoing(upstreams.Outgoing{Proxies: upstreams.Proxies{Default: &proxy}})
	s := compile(t, env, "name: one\nshortlink: {}\nmap: .", "url")
	if _, err := s.Probe(t.Context(), &upstreams.Call{Params: map[string]any{"url": host + "/x"}}, nil); err != nil {
		t.Error(err)
	}
	if n := web.passed.Load() + web.tunnels.Load(); n != 0 {
		t.Errorf("%d requests through the proxy", n)
	}
}

// TestShortLinksAreResolvedThroughTheProxy: their hosts are those of a table, some of
// which cannot be reached without one.
func TestShortLinksAreResolvedThroughTheProxy(t *testing.T) {
	var asked atomic.Value
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method + " " + r.Host)
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(web.Close)
	env := environment(t)
	proxy := mustProxy(t, web.URL)
	env.SetOutgoing(upstreams.Outgoing{Proxies: upstreams.Proxies{Default: &proxy}})
	s := compile(t, env, "name: one\nbefore: [{name: link, share: $params.url}]\ncomputed: {}\nmap: $vars.link", "url")
	_, err := s.Probe(t.Context(), &upstreams.Call{Params: map[string]any{"url": "https://t.co/abc"}}, nil)
	if got, _ := asked.Load().(string); got != "CONNECT t.co:443" || err == nil || !strings.Contains(err.Error(), "proxy") {
		t.Errorf("%q %v", got, err)
	}
}

func TestParseProxy(t *testing.T) {
	for _, text := range []string{"http://a:1", "https://a", "socks5://u:p@[::1]:1080", "socks5h://a/", "direct"} {
		if _, err := upstreams.ParseProxy(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "a:1", "127.0.0.1:1080", "socks4://a", "http://", "http://:1", "http://a/path", "http://a?geheim", "http://a#geheim", "http://u:geheim@a:b", "http://a:99999"} {
		if _, err := upstreams.ParseProxy(text); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
