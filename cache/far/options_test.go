package far

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestURLs(t *testing.T) {
	type want = redis.UniversalOptions
	cases := map[string]struct {
		want            want
		cluster, secure bool
		socket          string
	}{
		"redis://h:1":                    {want: want{Addrs: []string{"h:1"}}},
		"redis://h":                      {want: want{Addrs: []string{"h:6379"}}},
		"redis://":                       {want: want{Addrs: []string{"localhost:6379"}}},
		"redis://:7/2":                   {want: want{Addrs: []string{"localhost:7"}, DB: 2}},
		"redis://[::1]:7/2":              {want: want{Addrs: []string{"[::1]:7"}, DB: 2}},
		"redis://:p%40%2Fs@h:1/":         {want: want{Addrs: []string{"h:1"}, Password: "p@/s"}},
		"redis://user:p:w@h:1/3":         {want: want{Addrs: []string{"h:1"}, Username: "user", Password: "p:w", DB: 3}},
		"rediss://h:1/0":                 {want: want{Addrs: []string{"h:1"}}, secure: true},
		"redis://h?dial_timeout=5":       {want: want{Addrs: []string{"h:6379"}, DialTimeout: 5 * time.Second}},
		"redis://h?db=4&protocol=2":      {want: want{Addrs: []string{"h:6379"}, DB: 4, Protocol: 2}},
		"redis://h?client_name=sundry-1": {want: want{Addrs: []string{"h:6379"}, ClientName: "sundry-1"}},
		"redis://h?pool_size=7&min_idle_conns=1&max_idle_conns=3&max_active_conns=9&conn_max_idle_time=5m&conn_max_lifetime=1h": {
			want: want{Addrs: []string{"h:6379"}, PoolSize: 7, MinIdleConns: 1, MaxIdleConns: 3, MaxActiveConns: 9,
				ConnMaxIdleTime: 5 * time.Minute, ConnMaxLifetime: time.Hour},
		},
		"unix:///run/redis.sock":              {want: want{Addrs: []string{"unix:6379"}}, socket: "/run/redis.sock"},
		"unix://u:p@/run/redis%20a.sock?db=1": {want: want{Addrs: []string{"unix:6379"}, Username: "u", Password: "p", DB: 1}, socket: "/run/redis a.sock"},
		"redis://a:1/3?master_name=main&addr=b:2&addr=[::1]:3&username=u&password=p%40s": {
			want: want{Addrs: []string{"a:1", "b:2", "[::1]:3"}, MasterName: "main", Username: "u", Password: "p@s", DB: 3},
		},
		"rediss://s:%26x@a?master_name=main&db=2": {
			want:   want{Addrs: []string{"a:26379"}, MasterName: "main", SentinelUsername: "s", SentinelPassword: "&x", DB: 2},
			secure: true,
		},
		"redis://[::1]/?master_name=main":              {want: want{Addrs: []string{"[::1]:26379"}, MasterName: "main"}},
		"redis+cluster://:p@a:1?addr=b:2&addr=[::1]:3": {want: want{Addrs: []string{"a:1", "b:2", "[::1]:3"}, Password: "p"}, cluster: true},
		"redis+cluster://":                             {want: want{Addrs: []string{"localhost:6379"}}, cluster: true},
		"rediss+cluster://a/0":                         {want: want{Addrs: []string{"a:6379"}}, cluster: true, secure: true},
	}
	for url, c := range cases {
		o, err := parseURL(url)
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		u, w := &o.universal, &c.want
		if !slices.Equal(u.Addrs, w.Addrs) || u.DB != w.DB || u.Protocol != w.Protocol || u.ClientName != w.ClientName ||
			u.Username != w.Username || u.Password != w.Password || u.MasterName != w.MasterName ||
			u.SentinelUsername != w.SentinelUsername || u.SentinelPassword != w.SentinelPassword ||
			u.PoolSize != w.PoolSize || u.MinIdleConns != w.MinIdleConns || u.MaxIdleConns != w.MaxIdleConns ||
			u.MaxActiveConns != w.MaxActiveConns || u.ConnMaxIdleTime != w.ConnMaxIdleTime || u.ConnMaxLifetime != w.ConnMaxLifetime ||
			u.DialTimeout != w.DialTimeout ||
			o.cluster != c.cluster || (o.tls != nil) != c.secure || o.socket != c.socket {
			t.Errorf("%s: %+v", url, o)
		}
	}
}

func TestURLTimesAreBudgets(t *testing.T) {
	const url = "redis://127.0.0.1:1?read_timeout=40ms&write_timeout=300ms&dial_timeout=1s&pool_timeout=20ms&pool_size=3"
	tier, err := Open(Config{URL: url}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer tier.Close(t.Context())
	if tier.cfg.Timeout != 40*time.Millisecond || tier.writeTime != 300*time.Millisecond {
		t.Errorf("reads %v, writes %v", tier.cfg.Timeout, tier.writeTime)
	}
	o := tier.client.(*redis.Client).Options()
	if o.DialTimeout != time.Second || o.PoolTimeout != 20*time.Millisecond || o.PoolSize != 3 || o.PipelinePoolSize > 0 {
		t.Errorf("%+v", o)
	}
	if d := tier.sharedValues.(*redis.Client).Options(); d.ReadTimeout != sharedValueTime || d.DialTimeout != sharedValueTime {
		t.Errorf("shared values: %+v", d)
	}
}

// TestInvalidURLs: errors name what is wrong and never repeat what may be secret.
func TestInvalidURLs(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "s3cret.pem")
	if err := os.WriteFile(broken, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{ // a part of the error
		"":                                          "expected redis://",
		"localhost:6379":                            "expected redis://",
		"http://localhost":                          "expected redis://",
		"redis+tls://h":                             "expected redis://",
		"redis://:s3cret@%zz":                       "expected redis://",
		"redis://:s3cret%zz@h":                      "expected redis://",
		"redis://:s3#cret@h":                        "expected redis://",
		"redis://:s3?cret@h/0":                      "expected redis://",
		"redis://:x?s3cret&cret@h/0":                "expected redis://",
		"redis://:s3/cret@h/x":                      "expected redis://",
		"redis://a,b":                               "expected redis://",
		"redis://h:0":                               "expected redis://",
		"redis://h:65536":                           "expected redis://",
		"redis://h/1/2":                             "expected redis://",
		"redis://h/-1":                              "expected redis://",
		"redis://s3cret@h":                          "the user has no password",
		"unix://run/redis.sock":                     "expected redis://",
		"redis:h":                                   "expected redis://",
		"redis+sentinel://h:1/m":                    "expected redis://",
		"redis://h:1/m?master_name=m":               "expected redis://",
		"redis://,h:1?master_name=m":                "expected redis://",
		"redis://h?master_name=":                    "option master_name: expected the name of a master",
		"unix:///s?master_name=m":                   "option master_name: not supported here",
		"redis+cluster://h?master_name=m":           "option master_name: not supported here",
		"redis+cluster://a,b":                       "expected redis://",
		"redis+cluster://a?addr=s3cret":             "option addr: expected host:port",
		"redis+cluster://a?addr=b:2,c:3":            "option addr: expected host:port",
		"redis+cluster://a?addr=b:0":                "option addr: expected host:port",
		"redis://h?addr=b:2":                        "option addr: not supported here",
		"redis+cluster://a/3":                       "expected redis://",
		"redis://h?max_retries=3":                   "option max_retries: not supported here; expected one of client_name, ",
		"redis://h?s3cret%20=1":                     "option (name not shown): not supported here",
		"redis://h?db=s3cret":                       "option db: expected the number",
		"redis://h/1?db=2":                          "option db: expected the number of a database, with none in the path",
		"redis://h?db=1&db=2":                       "option db: given more than once",
		"redis+cluster://h?db=2":                    "option db: not supported here",
		"redis://h?protocol=4":                      "option protocol: expected 2 or 3",
		"redis://h?client_name=s3%20cret":           "option client_name: expected only letters",
		"redis://h?pool_size=-1":                    "option pool_size: expected a number from 1",
		"redis://h?read_timeout=5s":                 "option read_timeout: expected a time from 1ms to 2s",
		"redis://h?dial_timeout=s3cret":             "option dial_timeout: expected a time",
		"redis://h?dial_timeout=11":                 "option dial_timeout: expected a time",
		"redis://h?dial_timeout=0":                  "option dial_timeout: expected a time",
		"redis://h?client_name=":                    "option client_name: expected only letters",
		"redis://h?password=s3cret":                 "option password: not supported here",
		"redis://h?skip_verify=true":                "option skip_verify: not supported here",
		"rediss://h?skip_verify=s3cret":             "option skip_verify: expected true or false",
		"rediss://h?tls_ca_file=/none":              "option tls_ca_file: open /none",
		"rediss://h?tls_ca_file=" + broken:          "option tls_ca_file: expected a file with certificates",
		"redis+cluster://h?read_only=true":          "option read_only: not supported here",
		"redis://h?master_name=m&replica_only=true": "option replica_only: not supported here",
		"redis://h?master_name=m&username=s3cret":   "option username: expected password as well",
	}
	for url, want := range cases {
		_, err := Open(Config{URL: url}, nil, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "cret@") {
			t.Errorf("%q: %v, want %s", url, err, want)
		}
		if check := CheckURL(url); check == nil || err == nil || check.Error() != err.Error() {
			t.Errorf("%q: checked: %v", url, check)
		}
	}
}
