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

// options describe how to connect to one server, to Sentinels or to a Cluster. Times and sizes are 0 where the URL has none.
type options struct {
	universal redis.UniversalOptions
	cluster   bool
	socket    string      // path of the socket of a server on this machine; "" means TCP
	tls       *tls.Config // nil means without TLS
	dial      dialer      // see Config.Dial
}

// errURL never repeats the URL: it may hold a password.
var errURL = errors.New("expected redis://[user:password@]host:port/0, unix:///path, " +
	"redis://host:port/0?master_name=main&addr=host:port for Sentinels or redis+cluster://host:port?addr=host:port, " +
	"with rediss in place of redis for TLS, and special characters as %XX")

// parseURL reads a URL. An error names the part that is wrong, and never repeats its value.
func parseURL(raw string) (*options, error) {
	u, err := url.Parse(raw)
	if err != nil || !strings.HasPrefix(raw, u.Scheme+"://") ||
		strings.Contains(raw, "#") || strings.Contains(u.RawQuery, "@") {
		return nil, errURL // also a password with an unescaped character
	}
	if password, _ := u.User.Password(); u.User.Username() != "" && password == "" {
		return nil, errors.New("the user has no password: expected user:password@, or :password@ for the default user")
	}
	o := &options{}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || !o.readScheme(u, query.Has("master_name")) || o.read(*u, nil) != nil {
		return nil, errURL
	}
	if err := o.checkOptions(*u, query); err != nil {
		return nil, err
	}
	if err := o.read(*u, query); err != nil {
		return nil, errURL
	}
	return o, o.readTLS(query)
}

// CheckURL reports whether Open accepts the URL. The error does not repeat it.
func CheckURL(raw string) error {
	if _, err := parseURL(raw); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

// readScheme turns the URL into one that ParseFailoverURL reads, and reports whether the path fits the scheme: a
// Cluster has one database.
func (o *options) readScheme(u *url.URL, sentinels bool) bool {
	u.Scheme, o.cluster = strings.CutSuffix(u.Scheme, "+cluster")
	if u.Scheme == "unix" && u.Host == "" && u.Path != "" && !o.cluster {
		o.socket = u.Path
		u.Scheme, u.Host, u.Path, u.RawPath = "redis", "unix", "", "" // the host is ignored
		return true
	}
	if sentinels && u.Port() == "" {
		u.Host = net.JoinHostPort(u.Hostname(), "26379")
	}
	return !o.cluster || strings.Trim(u.Path, "/0") == ""
}

// read reads the URL with these options. ParseFailoverURL knows the options of one server and of a Cluster, too. For it, the
// credentials before the host belong to the Sentinels.
func (o *options) read(u url.URL, query url.Values) error {
	query = maps.Clone(query)
	maps.DeleteFunc(query, func(name string, _ []string) bool { return strings.HasPrefix(name, "tls_") }) // see readTLS
	u.RawQuery = query.Encode()
	s, err := redis.ParseFailoverURL(u.String())
	if err != nil {
		return err
	}
	o.tls = s.TLSConfig
	o.universal = redis.UniversalOptions{
		Addrs: s.SentinelAddrs, MasterName: s.MasterName, Username: s.Username, Password: s.Password,
		SentinelUsername: s.SentinelUsername, SentinelPassword: s.SentinelPassword,
		DB: s.DB, Protocol: s.Protocol, ClientName: s.ClientName,
		ReadTimeout: s.ReadTimeout, WriteTimeout: s.WriteTimeout, DialTimeout: s.DialTimeout, PoolTimeout: s.PoolTimeout,
		PoolSize: s.PoolSize, MinIdleConns: s.MinIdleConns, MaxIdleConns: s.MaxIdleConns, MaxActiveConns: s.MaxActiveConns,
		ConnMaxIdleTime: s.ConnMaxIdleTime, ConnMaxLifetime: s.ConnMaxLifetime,
	}
	if s.MasterName == "" {
		o.universal.Username, o.universal.Password = s.SentinelUsername, s.SentinelPassword
		o.universal.SentinelUsername, o.universal.SentinelPassword = "", ""
	}
	if !valid(&o.universal) {
		return errURL
	}
	return nil
}

// valid reports whether the options have values that Redis and this package can use.
func valid(o *redis.UniversalOptions) bool {
	return !slices.ContainsFunc(o.Addrs, invalidAddr) && between(o.DB, 0, 1<<16-1) && between(o.Protocol, 2, 3) &&
		regexp.MustCompile(`^[A-Za-z0-9.:_-]{0,100}$`).MatchString(o.ClientName) && // as CLIENT SETNAME does
		between(o.ReadTimeout, time.Millisecond, 2*time.Second) && between(o.PoolTimeout, time.Millisecond, 2*time.Second) &&
		between(o.WriteTimeout, time.Millisecond, 10*time.Second) && between(o.DialTimeout, time.Millisecond, 10*time.Second) &&
		between(o.ConnMaxIdleTime, time.Second, 24*time.Hour) && between(o.ConnMaxLifetime, time.Second, 24*time.Hour) &&
		between(o.PoolSize, 1, 10_000) && between(o.MinIdleConns, 0, 10_000) &&
		between(o.MaxIdleConns, 0, 10_000) && between(o.MaxActiveConns, 0, 10_000)
}

// between reports whether a value is within limits; 0 means that the URL has none.
func between[N cmp.Ordered](n, low, high N) bool {
	var none N
	return n == none || low <= n && n <= high
}

// invalidAddr reports whether an address is not one host and a port.
func invalidAddr(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	n, portErr := strconv.ParseUint(port, 10, 16)
	return err != nil || portErr != nil || n == 0 || strings.ContainsAny(host, ",/")
}

// checkOptions reads each option alone, so that an error can name it.
func (o *options) checkOptions(u url.URL, query url.Values) error {
	known := o.knownOptions(query.Has("master_name"))
	for _, name := range slices.Sorted(maps.Keys(query)) {
		values, expected := query[name], known[name]
		switch {
		case expected == "":
			return unknownOption(name, slices.Sorted(maps.Keys(known)))
		case len(values) > 1 && name != "addr":
			return fmt.Errorf("option %s: given more than once", name)
		case slices.Contains(values, "") || name == "db" && strings.Trim(u.Path, "/") != "",
			o.read(u, url.Values{name: values}) != nil:
			return fmt.Errorf("option %s: expected %s", name, expected)
		case name == "username" && !query.Has("password"):
			return errors.New("option username: expected password as well")
		}
	}
	return nil
}

// unknownOption returns the error for an option that is not known. A name that is not like one of go-redis is not repeated:
// it may be the end of a password.
func unknownOption(name string, known []string) error {
	if !regexp.MustCompile(`^[a-z][a-z_]{1,39}$`).MatchString(name) {
		name = "(name not shown)"
	}
	return fmt.Errorf("option %s: not supported here; expected one of %s", name, strings.Join(known, ", "))
}

// knownOptions returns the options that may be given, and what each expects. Left out on purpose: retries (a miss costs less) and
// reading from replicas (they may still return what was deleted).
func (o *options) knownOptions(sentinels bool) map[string]string {
	const connections, short, long = "a number from 0 to 10000", "a time from 1ms to 10s", "a time from 1s to 24h"
	known := map[string]string{
		"protocol": "2 or 3", "client_name": "only letters, digits and .:_-",
		"pool_size": "a number from 1 to 10000", "max_active_conns": connections,
		"min_idle_conns": connections, "max_idle_conns": connections,
		"conn_max_idle_time": long, "conn_max_lifetime": long,
		"read_timeout": "a time from 1ms to 2s, which is a read's budget", "pool_timeout": "a time from 1ms to 2s",
		"write_timeout": short, "dial_timeout": short,
	}
	if !o.cluster {
		known["db"] = "the number of a database, with none in the path"
	}
	if sentinels && !o.cluster && o.socket == "" {
		known["master_name"], known["username"], known["password"] = "the name of a master", "a name", "a password"
	}
	if o.cluster || known["master_name"] != "" {
		known["addr"] = "host:port"
	}
	if o.tls != nil {
		known["skip_verify"], known["tls_server_name"] = "true or false", "the name in the certificate"
		known["tls_ca_file"] = "a file with certificates in PEM"
		known["tls_cert_file"] = "a file with a certificate and its key in PEM"
	}
	return known
}

// readTLS reads the options of TLS that go-redis does not have.
func (o *options) readTLS(query url.Values) error {
	if o.tls == nil {
		return nil
	}
	o.tls.ServerName = query.Get("tls_server_name") // "" means the host that is dialled
	if file := query.Get("tls_ca_file"); file != "" {
		pem, err := os.ReadFile(file) //nolint:gosec // the operator names the file
		if err != nil {
			return fmt.Errorf("option tls_ca_file: %w", err)
		}
		o.tls.RootCAs = x509.NewCertPool()
		if !o.tls.RootCAs.AppendCertsFromPEM(pem) {
			return errors.New("option tls_ca_file: expected a file with certificates in PEM")
		}
	}
	if file := query.Get("tls_cert_file"); file != "" {
		cert, err := tls.LoadX509KeyPair(file, file)
		if err != nil {
			return fmt.Errorf("option tls_cert_file: %w", err)
		}
		o.tls.Certificates = []tls.Certificate{cert}
	}
	return nil
}
