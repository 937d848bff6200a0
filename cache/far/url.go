package far

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// options are those of one server, a Sentinel set-up or a Cluster.
type options struct {
	universal redis.UniversalOptions
	cluster   bool
	socket    string      // of a server on this machine
	tls       *tls.Config // nil without

	readTime, writeTime, dialTime, poolTime time.Duration // 0: the tier's own
}

// errURL never repeats the URL: it may hold a password.
var errURL = errors.New("want redis://[user:password@]host:port/0, unix:///path, redis+sentinel://host:port,host:port/master/0 " +
	"or redis+cluster://host:port,host:port, with rediss in the place of redis for TLS, and special characters as %XX")

// parseURL reads all of a URL: what it cannot honour is an error, which names
// the part and never repeats its value.
func parseURL(raw string) (*options, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || strings.Contains(rest, "#") {
		return nil, errURL
	}
	rest, query, _ := strings.Cut(rest, "?")
	if strings.Contains(query, "@") {
		return nil, errURL // a password with a question mark: nothing after it is an option
	}
	o := &options{}
	rest, err := o.credentials(rest)
	if err != nil {
		return nil, err
	}
	if o.tls, ok = secured(scheme); !ok {
		return nil, errURL
	}
	switch scheme {
	case "redis", "rediss":
		err = o.one(rest)
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

// CheckURL tells whether Open would take the URL. The error does not repeat it.
func CheckURL(raw string) error {
	if _, err := parseURL(raw); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	return nil
}

// secured gives a scheme's TLS, nil for none, and whether it is one of ours.
func secured(scheme string) (*tls.Config, bool) {
	switch scheme {
	case "redis", "redis+sentinel", "redis+cluster", "unix":
		return nil, true
	case "rediss", "rediss+sentinel", "rediss+cluster":
		return &tls.Config{MinVersion: tls.VersionTLS12}, true
	}
	return nil, false
}

// credentials takes user:password@ from the front.
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
		return "", errors.New("the user has no password: want user:password@, or :password@ for the default user")
	}
	return rest[at+1:], nil
}

// one reads host:port[/db]; Redis' own port, and this machine, go without saying.
func (o *options) one(rest string) error {
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

// hosts reads addresses; the port may go without saying.
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
