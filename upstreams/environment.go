package upstreams

import (
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"sundry/metrics/panics"
	"sundry/upstreams/host"
	"sundry/upstreams/lib/geoip"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/lib/redact"
	"sundry/upstreams/loop"
)

// Environment is what sources are compiled into: the connections, breakers and
// data that outlive a reload. Make one per process and share it.
type Environment struct {
	Hosts host.Hosts
	// Quotas are those of sources that declare a rate.
	Quotas host.Quotas
	// Budget bounds the memory that replies take together.
	Budget Budget
	// Work bounds the sources without a declared host.
	Work host.Work
	// StepCache caches the results of steps; nil: nothing is cached.
	StepCache StepCache
	// Journal of recent attempts.
	Journal Journal
	// Known are the replies that those of probes are compared with; nil: they are not.
	Known KnownReplies
	// Guard connects to caller-supplied targets.
	Guard    *guard.Guard
	outgoing atomic.Pointer[Outgoing]
	// Transport carries requests to declared hosts, unless Replay does.
	Transport http.RoundTripper
	// Replay takes the place of every network; nil: requests are made.
	Replay Network
	// Record records requests and replies; nil: nothing is recorded.
	Record Recorder
	// Secret looks up what only an operator can give, by the name of its environment
	// variable: keys, cookies, addresses of self-hosted services.
	Secret func(name string) (string, bool)
	// Hidden are the values that Secret has returned, but for those that may be shown.
	Hidden *redact.Set
	// HiddenOf are those of APIs, by the names of the APIs. A secret that a reload replaces stays: responses may still echo it.
	HiddenOf redact.Sets
	// GeoFile is the operator's databases of addresses; nil for none. A catalog keeps
	// those that it was compiled with.
	GeoFile geoip.DB
	// Data holds the files of embedded sources.
	Data fs.FS
	Log  *slog.Logger
	// Panics catches those of what runs beside a request.
	Panics *panics.Catcher

	Metrics *Metrics
}

// Network carries requests, and connections to game servers.
type Network interface {
	http.RoundTripper
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Recorder records what a transport carries.
type Recorder interface {
	Through(next http.RoundTripper) http.RoundTripper
}

// Outgoing is what an operator may change of requests while they are made.
type Outgoing struct {
	// OwnHosts are the names under which this service is reached, in lower case: no link
	// to them is followed.
	OwnHosts []string
	// LoopID of this service, in the requests that it sends; "": they have none.
	LoopID loop.ID
	// Agents; the zero value stands for DefaultAgents.
	Agents  Agents
	Proxies Proxies
}

// SetOutgoing may be called while requests run.
func (env *Environment) SetOutgoing(o Outgoing) {
	o.Agents = cmp.Or(o.Agents, DefaultAgents())
	env.outgoing.Store(&o)
}

// Outgoing is what is in force.
func (env *Environment) Outgoing() *Outgoing {
	if o := env.outgoing.Load(); o != nil {
		return o
	}
	return &Outgoing{Agents: DefaultAgents()}
}

// NewTransport makes the transport for declared hosts: pooled, with a bound on
// every phase. Close its idle connections at the end.
func NewTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  chooseProxy,
		OnProxyConnectResponse: checkConnect,
		DialContext:            (&net.Dialer{Timeout: 3 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    3 * time.Second,
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    64, // as many calls as one host gets at the same time
		IdleConnTimeout:        90 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		HTTP2:                  host.HTTP2(),
	}
}

// CloseIdle closes idle connections.
func (env *Environment) CloseIdle() {
	if t, ok := env.Transport.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// sourceName is the source's name as callers see it: replayed answers say so.
func (env *Environment) sourceName(source string) string {
	if env.Replay != nil {
		return "replay:" + source
	}
	return source
}

// DeclaredHosts carries the requests of a source to declared hosts.
func (env *Environment) DeclaredHosts(endpoint, source string) http.RoundTripper {
	if env.Replay != nil {
		return env.Recorded(env.Replay)
	}
	return env.Recorded(proxied{resent{env.Transport}, env, endpoint, source})
}

// Recorded is the transport with the recorder in front, where exchanges are
// recorded.
func (env *Environment) Recorded(rt http.RoundTripper) http.RoundTripper {
	if env.Record == nil {
		return rt
	}
	return env.Record.Through(rt)
}

// Agents are the User-Agents of requests to declared hosts.
type Agents struct {
	// Own names this service, and the operator's contact where one is set.
	Own string
	// Browser is for services that answer browsers only.
	Browser string
}

// DefaultAgents are used where no others are set.
func DefaultAgents() Agents {
	return Agents{
		Own:     "Sundry/1.0",
		Browser: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/148.0.0.0 Safari/537.36",
	}
}

// positionKey finds the position in a request's context.
type positionKey struct{}

// Position says which request of which attempt a context belongs to. A replay finds
// the recorded exchange by it, a recorder names what it records by it.
type Position struct {
	Endpoint, Source string // as declared
	Call             *Call
	Step             string // "" for the source's own request
	Nth              int    // among those of the step
}

// PositionOf is the position that ctx holds; false where nothing is replayed or
// recorded.
func PositionOf(ctx context.Context) (Position, bool) {
	at, ok := ctx.Value(positionKey{}).(Position)
	return at, ok
}

// WithPosition is ctx with a position.
func WithPosition(ctx context.Context, at Position) context.Context {
	return context.WithValue(ctx, positionKey{}, at)
}

// AtStep is ctx with the position of the nth request of a step of the same attempt.
func AtStep(ctx context.Context, step string, nth int) context.Context {
	at, ok := PositionOf(ctx)
	if !ok {
		return ctx
	}
	at.Step, at.Nth = step, nth
	return WithPosition(ctx, at)
}

// AtNth is ctx with the position of the nth request of the same step.
func AtNth(ctx context.Context, nth int) context.Context {
	at, _ := PositionOf(ctx)
	return AtStep(ctx, at.Step, nth)
}
