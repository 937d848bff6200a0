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

// callTimes are those of reads, which requests wait for, and of writes, which may
// take longer because no request waits for them.
func (o *options) callTimes(budget time.Duration) times {
	return times{
		dial: cmp.Or(o.universal.DialTimeout, 2*budget), read: budget, write: cmp.Or(o.universal.WriteTimeout, 5*budget),
		pool: cmp.Or(o.universal.PoolTimeout, budget), connections: cmp.Or(o.universal.PoolSize, 32),
	}
}

// sharedValueTimes are those of shared values: few calls, each with its own time.
func sharedValueTimes() times {
	return times{dial: sharedValueTime, read: sharedValueTime, write: sharedValueTime, pool: sharedValueTime, connections: 4}
}

// client overrides defaults that are wrong for a cache: they ignore the context's
// deadline, and retry, although a miss costs less. The read timeout covers the reply
// to a write, too; the context of each call bounds it.
func (o *options) client(t times) redis.UniversalClient {
	u := o.universal
	u.Dialer = bounded(cuttable(o.dialer(t.dial)))
	u.ContextTimeoutEnabled = true
	u.MaxRetries, u.MaxRedirects = -1, 3
	u.MinRetryBackoff, u.MaxRetryBackoff = -1, -1 // before a redirect: the node that it names waits for the call
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

// redirectLog sends go-redis' own log to ours at level debug. The first call in a
// process counts: go-redis has one logger.
var redirectLog = func() func(*slog.Logger) {
	var once sync.Once
	return func(log *slog.Logger) { once.Do(func() { redis.SetLogger(logger{log}) }) }
}()

type logger struct{ log *slog.Logger }

// Printf implements go-redis' logger.
func (l logger) Printf(ctx context.Context, format string, v ...any) {
	l.log.DebugContext(ctx, "redis client", "message", fmt.Sprintf(format, v...))
}

// dialer is go-redis' type of one.
type dialer = func(ctx context.Context, network, addr string) (net.Conn, error)

// within returns a dialer that takes at most the timeout.
func within(timeout time.Duration, dial dialer) dialer {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return dial(ctx, network, addr)
	}
}

// dialer connects as the URL says, for at most the timeout, the TLS handshake
// included, where go-redis' own ignores the context. With a socket file the
// address is ignored.
func (o *options) dialer(timeout time.Duration) dialer {
	plain := net.Dialer{Timeout: timeout, KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5}}
	if o.dial != nil {
		return within(timeout, o.dial)
	}
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
