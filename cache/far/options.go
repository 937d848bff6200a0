package far

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// options are those of one server, of Sentinel or of a Cluster.
type options struct {
	universal redis.UniversalOptions
	cluster   bool
	socket    string      // of a server on this machine
	tls       *tls.Config // nil without
	dial      dialer      // see Config.Dial

	readTime, writeTime, dialTime, poolTime time.Duration // 0: the tier's own
}

// errURL never repeats the URL: it may hold a password.
var errURL = errors.New("expected redis://[user:password@]host:port/0, unix:///path, redis+sentinel://host:port,host:port/master/0 " +
	"or redis+cluster://host:port,host:port, with rediss in place of redis for TLS, and special characters as %XX")

// parseURL reads a whole URL: what is not supported is an error, which names the
// part and never repeats its value.
func parseURL(raw string) (*options, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || strings.Contains(rest, "#") {
		return nil, errURL
	}
	rest, query, _ := strings.Cut(rest, "?")
	if strings.Contains(query, "@") {
		return nil, errURL // a password with an unescaped question mark
	}
	o := &options{}
	rest, err := o.credentials(rest)
	if err != nil {
		return nil, err
	}
	if o.tls, ok = tlsOf(scheme); !ok {
		return nil, errURL
	}
	switch scheme {
	case "redis", "rediss":
		err = o.server(rest)
	case "unix":
		o.socket, err = url.PathUnescape(rest)
		o.universal.Addrs = []string{"unix"}
		if !strings.HasPrefix(o.socket, "/") {
			err = errURL
		}
	case "redis+sentinel", "rediss+sentinel":
		err = o.sentinel(rest)
	default:
		o.cluster = true
		err = o.nodes(rest)
	}
	if err != nil {
		return nil, err
	}
	return o, o.query(query)
}

// CheckURL reports whether Open accepts the URL. The error does not repeat it.
func CheckURL(raw string) error {
	if _, err := parseURL(raw); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

// tlsOf is the TLS configuration of a scheme, nil for none, and whether the scheme
// is supported.
func tlsOf(scheme string) (*tls.Config, bool) {
	switch scheme {
	case "redis", "redis+sentinel", "redis+cluster", "unix":
		return nil, true
	case "rediss", "rediss+sentinel", "rediss+cluster":
		return &tls.Config{MinVersion: tls.VersionTLS12}, true
	}
	return nil, false
}

// credentials cuts user:password@ off the front.
func (o *options) credentials(rest string) (string, error) {
	at := strings.LastIndex(rest, "@")
	if at < 0 {
		return rest, nil
	}
	user, password, _ := strings.Cut(rest[:at], ":")
	var err1, err2 error
	o.universal.Username, err1 = url.PathUnescape(user)
	o.universal.Password, err2 = url.PathUnescape(password)
	if err1 != nil || err2 != nil {
		return "", errURL
	}
	if user != "" && password == "" {
		return "", errors.New("the user has no password: expected user:password@, or :password@ for the default user")
	}
	return rest[at+1:], nil
}

// server reads host:port[/db]; the defaults are localhost and Redis' own port.
func (o *options) server(rest string) error {
	host, path, _ := strings.Cut(rest, "/")
	if host == "" || strings.HasPrefix(host, ":") {
		host = "localhost" + host
	}
	if err := o.hosts(host, "6379"); err != nil {
		return err
	}
	if len(o.universal.Addrs) > 1 {
		return errURL
	}
	return o.database(path)
}

// sentinel reads host:port,host:port/master[/db].
func (o *options) sentinel(rest string) error {
	hosts, path, _ := strings.Cut(rest, "/")
	if err := o.hosts(hosts, "26379"); err != nil {
		return err
	}
	master, db, _ := strings.Cut(path, "/")
	name, err := url.PathUnescape(master)
	if err != nil || name == "" {
		return errURL
	}
	o.universal.MasterName = name
	return o.database(db)
}

// nodes reads host:port,host:port; a Cluster has one database.
func (o *options) nodes(rest string) error {
	hosts, path, _ := strings.Cut(rest, "/")
	if path != "" && path != "0" {
		return errURL
	}
	return o.hosts(hosts, "6379")
}

// hosts reads addresses with their ports, or the default port.
func (o *options) hosts(list, port string) error {
	for addr := range strings.SplitSeq(list, ",") {
		u, err := url.Parse("//" + addr)
		if err != nil || u.Hostname() == "" || u.Host != addr {
			return errURL
		}
		number := cmp.Or(u.Port(), port)
		if n, err := strconv.Atoi(number); err != nil || n < 1 || n > 65535 {
			return errURL
		}
		o.universal.Addrs = append(o.universal.Addrs, net.JoinHostPort(u.Hostname(), number))
	}
	return nil
}

// database reads a number, "" for 0.
func (o *options) database(number string) error {
	if number == "" {
		return nil
	}
	n, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return errURL
	}
	o.universal.DB = int(n)
	return nil
}

// option is a query parameter of a URL.
type option struct {
	expected string // the values it takes, for messages
	// applies reports whether the option has a meaning for the deployment; nil: it
	// always has.
	applies func(o *options) bool
	set     func(o *options, value string) error
}

// errValue: the value is invalid for the option. It is not repeated.
var errValue = errors.New("invalid value")

// query sets the options of a URL, or names the one that is not supported.
func (o *options) query(raw string) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return errURL
	}
	known := knownOptions()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		opt, ok := known[name]
		if !ok || opt.applies != nil && !opt.applies(o) {
			return o.unknown(name, known)
		}
		if len(values[name]) != 1 {
			return fmt.Errorf("option %s: given more than once", name)
		}
		err := opt.set(o, values[name][0])
		if errors.Is(err, errValue) {
			return fmt.Errorf("option %s: expected %s", name, opt.expected)
		}
		if err != nil {
			return fmt.Errorf("option %s: %w", name, err)
		}
	}
	if o.universal.SentinelUsername != "" && o.universal.SentinelPassword == "" {
		return errors.New("option sentinel_username: expected sentinel_password as well")
	}
	return nil
}

// unknown lists what is supported. What is not like a name is not repeated: it may
// be the rest of a password.
func (o *options) unknown(name string, known map[string]option) error {
	var allowed []string
	for k, opt := range known {
		if opt.applies == nil || opt.applies(o) {
			allowed = append(allowed, k)
		}
	}
	slices.Sort(allowed)
	if !regexp.MustCompile(`^[a-z][a-z_]{1,39}$`).MatchString(name) {
		name = "(name not shown)"
	}
	return fmt.Errorf("option %s: not supported here; expected one of %s", name, strings.Join(allowed, ", "))
}

// knownOptions are all supported ones, under the names that other clients of Redis
// use. Left out on purpose: retries (a miss costs less) and reading from
// replicas (they may still return what was deleted).
func knownOptions() map[string]option {
	return map[string]option{
		"db":          {"the number of a database, with none in the path", oneMaster, setDatabase},
		"protocol":    {"2 or 3", nil, setNumber(2, 3, func(o *options) *int { return &o.universal.Protocol })},
		"client_name": {"only letters, digits and .:_-", nil, setClientName},

		"sentinel_username": {"a name", sentinels, setText(func(o *options) *string { return &o.universal.SentinelUsername })},
		"sentinel_password": {"a password", sentinels, setText(func(o *options) *string { return &o.universal.SentinelPassword })},

		"pool_size":          {"a number from 1 to 10000", nil, setNumber(1, 10_000, func(o *options) *int { return &o.universal.PoolSize })},
		"min_idle_conns":     {"a number from 0 to 10000", nil, setNumber(0, 10_000, func(o *options) *int { return &o.universal.MinIdleConns })},
		"max_idle_conns":     {"a number from 0 to 10000", nil, setNumber(0, 10_000, func(o *options) *int { return &o.universal.MaxIdleConns })},
		"max_active_conns":   {"a number from 0 to 10000", nil, setNumber(0, 10_000, func(o *options) *int { return &o.universal.MaxActiveConns })},
		"conn_max_idle_time": {"a time from 1s to 24h", nil, setTime(time.Second, 24*time.Hour, func(o *options) *time.Duration { return &o.universal.ConnMaxIdleTime })},
		"conn_max_lifetime":  {"a time from 1s to 24h", nil, setTime(time.Second, 24*time.Hour, func(o *options) *time.Duration { return &o.universal.ConnMaxLifetime })},

		"read_timeout":  {"a time from 1ms to 2s, which is a read's budget", nil, setTime(time.Millisecond, 2*time.Second, func(o *options) *time.Duration { return &o.readTime })},
		"write_timeout": {"a time from 1ms to 10s", nil, setTime(time.Millisecond, 10*time.Second, func(o *options) *time.Duration { return &o.writeTime })},
		"dial_timeout":  {"a time from 1ms to 10s", nil, setTime(time.Millisecond, 10*time.Second, func(o *options) *time.Duration { return &o.dialTime })},
		"pool_timeout":  {"a time from 1ms to 2s", nil, setTime(time.Millisecond, 2*time.Second, func(o *options) *time.Duration { return &o.poolTime })},

		"skip_verify":     {"true or false", secure, setSkipVerify},
		"tls_server_name": {"the name in the certificate", secure, setText(func(o *options) *string { return &o.tls.ServerName })},
		"tls_ca_file":     {"a file with certificates in PEM", secure, setAuthorities},
		"tls_cert_file":   {"a file with a certificate and its key in PEM", secure, setCertificate},
	}
}

func oneMaster(o *options) bool { return !o.cluster }
func sentinels(o *options) bool { return o.universal.MasterName != "" }
func secure(o *options) bool    { return o.tls != nil }

func setNumber(low, high int, of func(*options) *int) func(*options, string) error {
	return func(o *options, value string) error {
		n, err := strconv.Atoi(value)
		if err != nil || n < low || n > high {
			return errValue
		}
		*of(o) = n
		return nil
	}
}

func setTime(low, high time.Duration, of func(*options) *time.Duration) func(*options, string) error {
	return func(o *options, value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d < low || d > high {
			return errValue
		}
		*of(o) = d
		return nil
	}
}

func setText(of func(*options) *string) func(*options, string) error {
	return func(o *options, value string) error {
		if value == "" {
			return errValue
		}
		*of(o) = value
		return nil
	}
}

func setDatabase(o *options, value string) error {
	if o.universal.DB != 0 || value == "" || o.database(value) != nil {
		return errValue
	}
	return nil
}

// setClientName accepts what Redis does in CLIENT SETNAME.
func setClientName(o *options, value string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9.:_-]{1,100}$`).MatchString(value) {
		return errValue
	}
	o.universal.ClientName = value
	return nil
}

func setSkipVerify(o *options, value string) error {
	skip, err := strconv.ParseBool(value)
	if err != nil {
		return errValue
	}
	o.tls.InsecureSkipVerify = skip
	return nil
}

func setAuthorities(o *options, value string) error {
	pem, err := os.ReadFile(value) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	o.tls.RootCAs = x509.NewCertPool()
	if !o.tls.RootCAs.AppendCertsFromPEM(pem) {
		return errValue
	}
	return nil
}

func setCertificate(o *options, value string) error {
	cert, err := tls.LoadX509KeyPair(value, value)
	if err != nil {
		return err
	}
	o.tls.Certificates = []tls.Certificate{cert}
	return nil
}
