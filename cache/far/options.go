package far

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// option is one of those that may stand behind the question mark of a URL.
type option struct {
	want string // what its value has to be
	// fits tells which set-ups it means something to; nil: all.
	fits func(o *options) bool
	set  func(o *options, value string) error
}

// errValue: the value is not what the option wants. It is not repeated.
var errValue = errors.New("not a value for it")

// query honours the options of a URL, or names the one that it cannot honour.
func (o *options) query(raw string) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return errURL
	}
	known := knownOptions()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		opt, ok := known[name]
		if !ok || opt.fits != nil && !opt.fits(o) {
			return o.unknown(name, known)
		}
		if len(values[name]) != 1 {
			return fmt.Errorf("option %s: given more than once", name)
		}
		err := opt.set(o, values[name][0])
		if errors.Is(err, errValue) {
			return fmt.Errorf("option %s: want %s", name, opt.want)
		}
		if err != nil {
			return fmt.Errorf("option %s: %w", name, err)
		}
	}
	return o.whole()
}

// unknown tells what is allowed. What is no name is not repeated: it may be the
// rest of a password.
func (o *options) unknown(name string, known map[string]option) error {
	var allowed []string
	for k, opt := range known {
		if opt.fits == nil || opt.fits(o) {
			allowed = append(allowed, k)
		}
	}
	slices.Sort(allowed)
	if !regexp.MustCompile(`^[a-z][a-z_]{1,39}$`).MatchString(name) {
		name = "behind the question mark"
	}
	return fmt.Errorf("option %s: not taken here; there are %s", name, strings.Join(allowed, ", "))
}

// whole checks options that want one another.
func (o *options) whole() error {
	if o.universal.SentinelUsername != "" && o.universal.SentinelPassword == "" {
		return errors.New("option sentinel_username: there is no sentinel_password")
	}
	return nil
}

// knownOptions are all there are, under the names that other clients of Redis
// give them. Missing on purpose: retries (a miss is sooner had) and reading from
// replicas (they bring back what was deleted).
func knownOptions() map[string]option {
	return map[string]option{
		"db":          {"the number of a database, and none in the path", oneMaster, setDatabase},
		"protocol":    {"2 or 3", nil, setNumber(2, 3, func(o *options) *int { return &o.universal.Protocol })},
		"client_name": {"letters, digits and .:_- alone", nil, setClientName},

		"sentinel_username": {"a name", sentinels, setText(func(o *options) *string { return &o.universal.SentinelUsername })},
		"sentinel_password": {"a password", sentinels, setText(func(o *options) *string { return &o.universal.SentinelPassword })},

		"pool_size":          {"a number from 1 to 10000", nil, setNumber(1, 10_000, func(o *options) *int { return &o.universal.PoolSize })},
		"min_idle_conns":     {"a number up to 10000", nil, setNumber(0, 10_000, func(o *options) *int { return &o.universal.MinIdleConns })},
		"max_idle_conns":     {"a number up to 10000", nil, setNumber(0, 10_000, func(o *options) *int { return &o.universal.MaxIdleConns })},
		"max_active_conns":   {"a number up to 10000", nil, setNumber(0, 10_000, func(o *options) *int { return &o.universal.MaxActiveConns })},
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

// setClientName keeps to what Redis takes in CLIENT SETNAME.
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
