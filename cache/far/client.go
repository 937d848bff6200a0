package far

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// times are a client's budgets.
type times struct {
	dial, read, write, pool time.Duration
	connections             int
}

// callTimes are those of what requests wait for, and of what is written behind
// them: nobody waits for a write, so it may take longer.
func (o *options) callTimes(budget time.Duration) times {
	return times{
		dial: cmp.Or(o.dialTime, 2*budget), read: budget, write: cmp.Or(o.writeTime, 5*budget),
		pool: cmp.Or(o.poolTime, budget), connections: cmp.Or(o.universal.PoolSize, 32),
	}
}

// documentTimes are those of documents: few calls, each with its own time.
func documentTimes() times {
	return times{dial: documentTime, read: documentTime, write: documentTime, pool: documentTime, connections: 4}
}

// client sets what the defaults get wrong for a cache: they ignore the
// context's deadline, and try again where a miss would do. A reply to a write is
// waited for as long as a write may take; the context of each call bounds it.
func (o *options) client(t times) redis.UniversalClient {
	u := o.universal
	u.Dialer = o.dialer(t.dial)
	u.ContextTimeoutEnabled = true
	u.MaxRetries, u.MaxRedirects = -1, 3
	u.DialerRetries = 1
	u.DialTimeout, u.ReadTimeout, u.WriteTimeout, u.PoolTimeout = t.dial, max(t.read, t.write), t.write, t.pool
	u.PoolSize = t.connections
	u.MinIdleConns = min(u.MinIdleConns, t.connections)
	u.PipelinePoolSize = -1 // pipelines take the same connections
	u.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch {
	case o.cluster:
		return redis.NewClusterClient(u.Cluster())
	case u.MasterName != "":
		return redis.NewFailoverClient(u.Failover())
	}
	return redis.NewClient(u.Simple())
}

// quiet sends what go-redis logs by itself, once per process, to debug.
func quiet(log *slog.Logger) { quietOnce(log) }

var quietOnce = func() func(*slog.Logger) {
	var once sync.Once
	return func(log *slog.Logger) { once.Do(func() { redis.SetLogger(logger{log}) }) }
}()

type logger struct{ log *slog.Logger }

// Printf implements go-redis' logger.
func (l logger) Printf(ctx context.Context, format string, v ...any) {
	l.log.DebugContext(ctx, "redis client", "message", fmt.Sprintf(format, v...))
}

// dialer is the form in which go-redis takes one.
type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// dialer connects as the URL says, for at most the timeout, the TLS handshake
// included: that of go-redis forgets the context there. A socket file is
// dialled whatever address is asked for.
func (o *options) dialer(timeout time.Duration) dialer {
	plain := net.Dialer{Timeout: timeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5}}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		if o.socket != "" {
			return plain.DialContext(ctx, "unix", o.socket)
		}
		if o.tls == nil {
			return plain.DialContext(ctx, network, addr)
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		secure := tls.Dialer{NetDialer: &plain, Config: o.tls} // names the host that it checks
		return secure.DialContext(ctx, network, addr)
	}
}
