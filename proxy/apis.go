package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"sundry/cache/clients"
	"sundry/cache/web"
	"sundry/metrics/panics"
	"sundry/metrics/words"
	"sundry/proxy/express"
	"sundry/proxy/through"
	"sundry/proxy/uri"
	"sundry/upstreams"
	"sundry/upstreams/catalog"
)

// apiRoute is an API that is served as it is.
type apiRoute struct {
	*catalog.API
	handler *through.Handler
	origin  *through.Origin
	metrics *endpointMetrics
	prefix  string // of its paths; "" where Host names are the API's
	load    *endpointLoad
}

// addAPIs adds the routes of a catalog's APIs to the generation that replaces another.
func (s *Server) addAPIs(next, before *generation) {
	for _, a := range next.catalog.APIs {
		rt := before.apis[a.Name]
		if rt == nil || rt.API != a {
			load := &endpointLoad{}
			if rt != nil {
				load = rt.load // requests that wait there are still counted
			}
			rt = s.newAPIRoute(a, load)
		}
		next.apis[a.Name] = rt
		for _, name := range a.Hosts {
			next.hosts[strings.TrimPrefix(name, "*")] = rt
		}
		if a.Everywhere {
			next.everywhere = rt
		}
	}
}

// watchAPIs starts the health checks of APIs that are new or have changed.
func (s *Server) watchAPIs(before, next *generation) {
	for name, rt := range next.apis {
		if before.apis[name] != rt && !s.cfg.Replay {
			rt.origin.Watch(through.Watcher{Panics: s.cfg.Panics, Log: s.cfg.Log, Observe: func(host string) func(error, time.Duration) { return s.cfg.Calls(name, host+" health") }})
		}
	}
}

// closeAPIs ends the health checks of APIs that are no longer served in this way, and the idle connections to their origins.
func closeAPIs(before, next *generation) {
	for name, rt := range before.apis {
		if next.apis[name] != rt {
			rt.origin.Close()
		}
	}
}

// forgetAPIs purges what is kept of APIs that are no longer served, or from elsewhere.
func (s *Server) forgetAPIs(before, next *generation) {
	for name, rt := range before.apis {
		if now := next.apis[name]; now == nil || now.Rules.Origin != rt.Rules.Origin {
			rt.handler.Moved()
			s.cfg.Store.Purge(web.Purge{At: time.Now(), Prefix: name + "/"})
		}
	}
}

// CloseIdle ends resting connections to the origins of APIs.
func (s *Server) CloseIdle() { closeAPIs(s.current.Load(), &generation{}) }

// OriginOf is where an API is served from. calls is who is told of the requests to a host (see through.Target).
func OriginOf(a *catalog.API, dial func(ctx context.Context, network, address string) (net.Conn, error), calls func(host string) func(err error, took time.Duration)) *through.Origin {
	targets := make([]through.Target, len(a.Targets))
	for i, t := range a.Targets {
		targets[i] = through.Target{URL: t.URL, Sent: t.Sent, Host: t.Host, Quota: t.Quota, Check: t.Check, Observe: calls(t.URL.Host)}
		if t.URL.Scheme == catalog.CleartextHTTP2 {
			targets[i].URL, targets[i].HTTP2 = &url.URL{Scheme: "http", Host: t.URL.Host, Path: t.URL.Path, RawPath: t.URL.RawPath}, true
		}
	}
	health := through.Health{Path: a.Health.Path, Every: a.Health.Every, Expect: a.Health.Expect}
	return through.NewOrigin(targets, through.Balance(a.Balance), health, through.Connections{Connect: a.Connect, Head: a.Head, KeepAlive: a.KeepAlive, TLS: a.TLS}, dial)
}

// SettingsOf are those of the handler of an API which its file has.
func SettingsOf(a *catalog.API) through.Settings {
	return through.Settings{
		Name: a.Name, Hosts: a.Hosts, Rules: a.Rules, Query: a.Query, Request: a.Request.Apply, Response: a.Received, Most: a.Body, Idle: a.Idle, Tunnel: a.Tunnel, NoVia: !a.Via, Retry: a.Retry, Upload: a.Upload, Compress: a.Compress,
	}
}

func (s *Server) newAPIRoute(a *catalog.API, load *endpointLoad) *apiRoute {
	origin := OriginOf(a, s.cfg.Dial, func(host string) func(error, time.Duration) { return s.cfg.Calls(a.Name, host) })
	settings := SettingsOf(a)
	settings.Client, settings.LoopID = s.clientOfAPI, func() string { return string(s.current.Load().settings.LoopID) }
	settings.Fail = s.failAPI
	settings.Limit = s.limitClient
	settings.Admit = func(client clients.ID, began time.Time) bool { return s.admission.enter(load, client, began) }
	settings.Leave = func(client clients.ID) { s.admission.leave(load, client) }
	settings.Transfers, settings.Unsent, settings.Ended = s.cfg.Transfers, s.cfg.Unsent, s.cfg.Ended
	if len(a.Hosts) == 0 && !a.Everywhere {
		settings.Prefix = s.cfg.BasePath + "/api/" + a.Name
	}
	return &apiRoute{API: a, prefix: settings.Prefix, load: load, handler: through.New(settings, origin, s.cfg.Store, s.cfg.Log, s.cfg.Panics), origin: origin, metrics: s.metrics.api(a.Name)}
}

func (s *Server) clientOfAPI(r *http.Request) (client clients.ID, trusted bool) {
	settings := s.current.Load().settings
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // invalid in a test
	return settings.clientOf(settings.callerOf(r)), isTrusted(peer.Addr().Unmap(), settings.Trusted)
}

// apiAt is the API that a request is for, by its Host and its path, which is without the base path if it is inside of that; nil: none.
func (g *generation) apiAt(host, path string, inside bool) *apiRoute {
	if len(g.apis) == 0 {
		return nil
	}
	if len(g.hosts) > 0 {
		if rt := g.apiNamed(hostName(host)); rt != nil {
			return rt
		}
	}
	if rt := g.everywhere; rt != nil && (!inside || path != ownPrefix+healthPath && path != ownPrefix+readyPath) {
		return rt
	}
	name, ok := strings.CutPrefix(path, "/api/")
	if !ok || !inside {
		return nil
	}
	name, _, _ = strings.Cut(name, "/")
	if rt := g.apis[name]; rt != nil && len(rt.Hosts) == 0 {
		return rt
	}
	return nil
}

// apiNamed returns the API that a name belongs to, or else the API of the longest domain that contains the name; nil means none.
func (g *generation) apiNamed(name string) *apiRoute {
	for {
		if rt := g.hosts[name]; rt != nil || name == "" {
			return rt
		}
		next := strings.IndexByte(name[1:], '.') + 1
		if next == 0 {
			return nil
		}
		name = name[next:]
	}
}

// APIOf finds the API that a request is for, and its path there.
func (s *Server) APIOf(r *http.Request) (api, path string, ok bool) {
	r = uri.Clean(r)
	below, inside := strings.CutPrefix(r.URL.Path, s.cfg.BasePath)
	rt := s.current.Load().apiAt(r.Host, below, inside)
	if rt == nil {
		return "", "", false
	}
	return rt.Name, rt.handler.PathOf(r), true
}

// hostName is the name in a Host field, in lower case.
func hostName(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// serveThrough answers a request for an API.
func (s *Server) serveThrough(w http.ResponseWriter, r *http.Request, rt *apiRoute) {
	start, id := time.Now(), requestIDOf(r.Header["X-Request-Id"]).String()
	defer s.abortPanic()
	rt.handler.Serve(w, r, id, func(res *through.Result) { s.accountAPI(r, rt, id, res, start) })
}

// abortPanic counts and logs a panic, and ends the connection of its request: half an answer is none.
func (s *Server) abortPanic() {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
		_ = s.cfg.Panics.Caught(panics.Request, p) // it is logged there
	}
	panic(http.ErrAbortHandler)
}

// accountAPI counts and logs a request that has been answered.
func (s *Server) accountAPI(r *http.Request, rt *apiRoute, id string, res *through.Result, start time.Time) {
	took, outcome := time.Since(start), outcomeOfAPI(res)
	status := res.Code
	if outcome == outcomeDisconnected {
		status = statusClientClosed
	}
	if status == http.StatusSwitchingProtocols {
		rt.metrics.count(outcome, status) // a connection may last for hours
	} else {
		rt.metrics.observeHit(outcome, status, latencyOfAPI(res, start))
	}
	if res.Waited > 0 && r.ContentLength == 0 && !res.Head.IsZero() { // or the client was waited for
		rt.metrics.added().Observe((res.Head.Sub(start) - res.Waited).Seconds())
	}
	settings := s.current.Load().settings
	if s.skipsLineOfAPI(outcome, res, start, settings) {
		return
	}
	level, ctx := slog.LevelInfo, context.Background()
	if outcome == outcomeError {
		level = slog.LevelWarn
	}
	if !s.cfg.Log.Enabled(ctx, level) {
		return
	}
	path, _, _ := strings.Cut(res.Path, "?") // a query may have secrets
	attrs := append(make([]slog.Attr, 0, 10), slog.String("id", id), slog.String("endpoint", rt.Name), slog.String("path", upstreams.Shorten(path, loggedPath)), slog.String("outcome", outcome.String()),
		slog.Int("status", status), slog.Int("bytes", res.Sent), slog.Duration("took", took))
	if res.Cache.Hit {
		attrs = append(attrs, slog.Duration("age", res.Age))
	}
	if tp := traceParent(r); tp != "" {
		attrs = append(attrs, slog.String("traceparent", tp))
	}
	if res.Err != nil && outcome != outcomeDisconnected {
		attrs = append(attrs, slog.String("cause", upstreams.Shorten(res.Err.Error(), loggedCause)))
	}
	s.writeLine(ctx, level, RequestMessage, attrs)
}

// skipsLineOfAPI reports whether a request is not logged: of those that the rate limit does not bound, only a sample is.
func (s *Server) skipsLineOfAPI(o outcome, res *through.Result, start time.Time, settings *activeSettings) bool {
	switch {
	case o == outcomeHit, o == outcomeNotModified:
		return s.hitCount.Add(1)%settings.HitSample != 0
	case o == outcomeStale:
		return !s.refusals[o].pick(start, settings.HitSample)
	case o == outcomeShed, o == outcomeLimited, o == outcomeStaleError && res.Waited == 0:
		return !s.refusals[o].pick(start, settings.RefusalSample)
	}
	return false
}

// latencyOfAPI returns the time until the head of the response was written. The time of a body depends on its size, on the client and on the
// origin, and a body may have no end.
func latencyOfAPI(res *through.Result, start time.Time) time.Duration {
	if res.Head.IsZero() {
		return time.Since(start)
	}
	return res.Head.Sub(start)
}

// loggedPath is how many characters of a path a line has, and loggedCause how many of an error. The log hides secrets after that, also
// where they were cut.
const (
	loggedPath  = 200
	loggedCause = 500
)

// outcomeOfAPI is how a request for an API was answered. What the origin answered is no error, whatever its status.
func outcomeOfAPI(res *through.Result) outcome {
	c := &res.Cache
	switch {
	case errors.Is(res.Err, http.ErrAbortHandler):
		return outcomeDisconnected
	case isLimited(res.Err):
		return outcomeLimited
	case errors.Is(res.Err, through.ErrShed), errors.Is(res.Err, express.ErrUnsent):
		return outcomeShed
	case res.Err != nil:
		return outcomeError
	case c.Hit && c.Fwd != "":
		return outcomeStaleError
	case c.Hit && c.TTL < 0:
		return outcomeStale
	case c.Hit && res.Code == http.StatusNotModified:
		return outcomeNotModified
	case c.Hit:
		return outcomeHit
	case c.Shared:
		return outcomeCoalesced
	case c.Stored:
		return outcomeMiss
	}
	return outcomeBypass
}

// Foresee says what would become of a GET for an API; false: there is none of that name.
func (s *Server) Foresee(api string, r *http.Request) (through.Foreseen, bool) {
	rt := s.current.Load().apis[api]
	if rt == nil {
		return through.Foreseen{}, false
	}
	return rt.handler.Foresee(r), true
}

// Unstored returns the line on an API none of whose first responses could be stored; zero means that there is nothing to say.
func (s *Server) Unstored(api string) words.Text {
	rt := s.current.Load().apis[api]
	if rt == nil {
		return words.Text{}
	}
	return rt.handler.Unstored()
}
