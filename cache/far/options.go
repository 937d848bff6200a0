package far

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// options are those of one server, a Sentinel set-up or a Cluster.
type options struct {
	universal redis.UniversalOptions
	cluster   bool
}

// errURL never repeats the URL: it may hold a password.
var errURL = errors.New("want redis://host:port/0, rediss://, unix://path, redis+sentinel://host:port,host:port/master/0 or redis+cluster://host:port,host:port")

func parseURL(raw string) (*options, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return nil, errURL
	}
	switch scheme {
	case "redis", "rediss", "unix":
		o, err := redis.ParseURL(raw)
		if err != nil {
			return nil, errURL
		}
		return &options{universal: redis.UniversalOptions{
			Addrs: []string{o.Addr}, DB: o.DB, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig,
			Dialer: dialerOf(o),
		}}, nil
	case "redis+sentinel", "redis+cluster":
		return parseMany(rest, scheme == "redis+cluster")
	}
	return nil, errURL
}

// CheckURL tells whether Open would take the URL. The error does not repeat it.
func CheckURL(raw string) error {
	if _, err := parseURL(raw); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

// dialerOf keeps a unix socket's network, which the universal options lack.
func dialerOf(o *redis.Options) dialer {
	if o.Network != "unix" {
		return nil
	}
	return unixDialer(o.Addr)
}

// parseMany reads [user:password@]host:port,host:port[/master[/db]].
func parseMany(rest string, cluster bool) (*options, error) {
	o := &options{cluster: cluster}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		user, password, _ := strings.Cut(rest[:at], ":")
		var err1, err2 error
		o.universal.Username, err1 = url.PathUnescape(user)
		o.universal.Password, err2 = url.PathUnescape(password)
		if err1 != nil || err2 != nil {
			return nil, errURL
		}
		rest = rest[at+1:]
	}
	hosts, path, _ := strings.Cut(rest, "/")
	o.universal.Addrs = strings.Split(hosts, ",")
	if hosts == "" {
		return nil, errURL
	}
	if cluster {
		return o, nil
	}
	master, db, _ := strings.Cut(path, "/")
	if master == "" {
		return nil, errURL
	}
	o.universal.MasterName = master
	if db != "" {
		n, err := strconv.Atoi(db)
		if err != nil {
			return nil, errURL
		}
		o.universal.DB = n
	}
	return o, nil
}

// times are a client's budgets.
type times struct {
	dial, read, write, pool time.Duration
	connections             int
}

// callTimes are those of what requests wait for, and of what is written behind
// them.
func callTimes(budget time.Duration) times {
	return times{dial: 2 * budget, read: budget, write: 5 * budget, pool: budget, connections: 32}
}

// documentTimes are those of documents: few calls, each with its own time.
func documentTimes() times {
	return times{dial: documentTime, read: documentTime, write: documentTime, pool: documentTime, connections: 4}
}

// client sets what the defaults get wrong for a cache: they ignore the
// context's deadline, and try again where a miss would do.
func (o *options) client(t times) redis.UniversalClient {
	u := o.universal
	u.ContextTimeoutEnabled = true
	u.MaxRetries, u.MaxRedirects = -1, 3
	u.DialerRetries = 1
	u.DialTimeout, u.ReadTimeout, u.WriteTimeout, u.PoolTimeout = t.dial, t.read, t.write, t.pool
	u.PoolSize, u.MinIdleConns = t.connections, 0
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
