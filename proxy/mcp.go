package proxy

import (
	"net/http"
	"net/netip"
	"time"

	"sundry/cache/clients"
	"sundry/proxy/mcp"
	"sundry/proxy/site/apidoc"
	"sundry/proxy/uri"
)

// maxMessages bounds the messages of agents that are read and answered at once; large ones
// count for several. A call that waits holds a session of the protocol's library, some ten
// kilobytes, and several copies of its message.
const maxMessages = 1024

// MCP are the settings of what agents are offered.
type MCP struct {
	// Origins are those of the pages whose scripts may send messages; nil: no page may.
	Origins []string
}

// newTools returns the tools of the endpoints; nil if agents are not offered any.
func (s *Server) newTools(api *apidoc.API, settings Settings) *mcp.Set {
	if settings.MCP == nil {
		return nil
	}
	return mcp.New(mcp.Config{
		API: api, BasePath: s.cfg.BasePath, Languages: s.cfg.Languages, Version: s.cfg.Version, Origins: settings.MCP.Origins,
		Endpoints: s, Admit: s.admitMessage, Client: s.clientOf, Places: s.messages, Panics: s.cfg.Panics, Log: s.cfg.Log,
	})
}

// serveMessage answers a message of an agent. A call of a tool comes back to ServeHTTP
// as a request for its endpoint, with the id that is set here.
func (s *Server) serveMessage(w http.ResponseWriter, r *http.Request, tools *mcp.Set) {
	id, start := requestIDOf(r.Header["X-Request-Id"]), time.Now()
	r.Header["X-Request-Id"] = []string{id.String()}
	w.Header()["X-Request-Id"], w.Header()["X-Content-Type-Options"] = []string{id.String()}, s.preset.nosniff
	if refused := tools.Serve(w, r); refused != nil {
		s.countRefused(&request{r: r, id: id, start: start}, refused)
	}
}

// countRefused counts and logs a message that was refused, like a request with the same
// mistake: under the endpoint whose tool was called, else under none.
func (s *Server) countRefused(req *request, refused *mcp.Refusal) {
	req.route, req.status = s.current.Load().routes[refused.Endpoint], refused.Status
	switch req.outcome = outcomeInvalid; {
	case req.status == http.StatusTooManyRequests:
		req.outcome = outcomeLimited
	case req.status == http.StatusServiceUnavailable:
		req.outcome = outcomeShed
		s.metrics.shed.Inc()
	case req.status == http.StatusNotFound:
		req.outcome = outcomeNegative
	case req.status >= http.StatusInternalServerError:
		req.outcome = outcomeError
	}
	s.account(req)
}

// admitMessage counts a message against the rate limit of its client, as limitRate does
// with a request for an endpoint.
func (s *Server) admitMessage(r *http.Request) (wait time.Duration, ok bool) {
	settings := s.current.Load().settings
	caller := settings.callerOf(r)
	a := settings.limiter.Allow(caller, time.Now())
	if a.OK || isTrusted(caller, settings.Trusted) {
		return 0, true
	}
	s.metrics.limited.Inc()
	return a.Next, false
}

// clientOf returns the client that a message comes from.
func (s *Server) clientOf(r *http.Request) clients.ID {
	settings := s.current.Load().settings
	return settings.clientOf(settings.callerOf(r))
}

// callerOf is the address of a message's caller.
func (a *activeSettings) callerOf(r *http.Request) netip.Addr {
	return callerAddress(uri.ParseHop(r.RemoteAddr), r.Header["X-Forwarded-For"], r.Header["Forwarded"], a.Trusted, a.Forwarded)
}
