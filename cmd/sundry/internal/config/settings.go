package config

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"
	"strings"
	"time"

	"sundry/cache/near"
	"sundry/metrics/words"
	"sundry/proxy"
	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/redact"
	"sundry/upstreams/loop"
)

// setting is one key of sundry.yaml. The table of them is the one place that
// describes a setting: reading file, environment and flags, messages about
// mistakes, and reloads all follow it.
type setting struct {
	key      string     // with its section, as in limits.rate
	expected words.Text // what is allowed
	example  string     // an example
	// alias is a second name of its variable, kept for older deployments.
	alias      string
	reloadable bool // a change takes effect with a reload; else with a restart
	empty      bool // the empty text is a value
	secret     bool // its value is never shown
	pairs      bool // a list of name=value, which the file may have as a mapping

	read  func(into *Config, text string) error    // errInvalid: it is not what the setting expects
	items func(into *Config, texts []string) error // read for a list; nil for a single value
	show  func(c *Config) string                   // the value, to compare it and to print it
	carry func(into, from *Config)                 // copies the value
}

// errInvalid is returned for a value that is not what the setting expects.
var errInvalid = errors.New("not the expected value")

// variable is the setting's name in the environment.
func (s *setting) variable() string {
	return Prefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

// variables are its names in the environment.
func (s *setting) variables() []string {
	if s.alias != "" {
		return []string{s.variable(), s.alias}
	}
	return []string{s.variable()}
}

// mistake says what is wrong with a value.
func (s *setting) mistake(value string, err error) words.Text {
	var text words.Text
	if !s.secret {
		text = declare.Say("%q: ", shown(value))
	}
	expected := s.wants()
	file, ofFile := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, errInvalid):
		return declare.Say("%s%s", text, expected)
	case ofFile: // without its path, which is the value
		return declare.Say("%s%s; %s", text, words.Failure(file.Err), expected)
	}
	return declare.Say("%s%s", text, words.Of(err, words.Name(err.Error())))
}

// shown is a value as it is repeated: a URL may hold credentials where it should have none.
func shown(value string) string {
	if strings.Contains(value, "://") {
		return redact.Address(value)
	}
	return value
}

// wants says what is allowed, with an example.
func (s *setting) wants() words.Text {
	if s.expected.IsZero() { // whoever reads it says so
		err := s.read(&Config{}, "{}")
		return words.Of(err, words.Name(err.Error()))
	}
	return words.Say("expected "+s.expected.EN()+", such as "+s.example, words.Join("应为", s.expected.ZH(), "，例如 ", s.example))
}

// single makes a setting of one value, which is stored in a field of the
// configuration.
func single[T any](s setting, at func(*Config) *T, parse func(string) (T, error)) setting {
	s.read = func(c *Config, text string) (err error) {
		var v T // the value of the empty text, where that is one
		if text != "" {
			v, err = parse(text)
		}
		if err == nil {
			*at(c) = v
		}
		return err
	}
	s.show = func(c *Config) string { return fmt.Sprint(*at(c)) }
	s.carry = func(into, from *Config) { *at(into) = *at(from) }
	return s
}

// list makes a setting of several values, separated by commas in the
// environment.
func list[T any](s setting, at func(*Config) *[]T, parse func(string) (T, error)) setting {
	s.empty = true
	s.items = func(c *Config, texts []string) error {
		items := make([]T, 0, len(texts))
		for _, text := range texts {
			v, err := parse(text)
			if err != nil {
				return err
			}
			items = append(items, v)
		}
		*at(c) = items
		return nil
	}
	s.read = func(c *Config, text string) error { return s.items(c, splitList(text)) }
	s.show = func(c *Config) string { return fmt.Sprint(*at(c)) }
	s.carry = func(into, from *Config) { *at(into) = *at(from) }
	return s
}

func splitList(text string) []string {
	var out []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// Bounds of settings: a value beyond them is taken for a typing mistake.
const (
	maxRate     = 1e6
	maxBurst    = 1e6
	maxInFlight = 10_000_000
	maxFills    = 1_000_000
	maxMemory   = 1 << 40
	maxSample   = 1e9
	maxDelay    = 10 * time.Minute

	maxQueueDelay = 10 * time.Second
	maxTimeout    = time.Hour
)

// settings are all settings but endpoints, in the order of deploy/sundry.yaml.
func settings() []setting {
	return []setting{
		single(setting{key: "listen", expected: words.Say("an address and a port", "地址和端口"), example: ":8080"}, func(c *Config) *string { return &c.Listen }, checked(isAddress)),
		single(setting{key: "admin", expected: words.Say("an address and a port", "地址和端口"), example: "127.0.0.1:9090"}, func(c *Config) *string { return &c.Admin }, checked(isAddress)),
		single(setting{key: "tls.cert", expected: words.Say("a file", "文件"), example: "/etc/sundry/fullchain.pem", empty: true}, func(c *Config) *string { return &c.TLSCert }, parseFile),
		single(setting{key: "tls.key", expected: words.Say("a file", "文件"), example: "/etc/sundry/privkey.pem", empty: true}, func(c *Config) *string { return &c.TLSKey }, parseFile),
		list(setting{key: "acme.hosts", expected: words.Say("a host name with a domain, without scheme and port", "带域的主机名，不带协议和端口"), example: "api.example.org"}, func(c *Config) *[]string { return &c.ACME.Hosts }, parseHostOfCertificate),
		single(setting{key: "acme.email", expected: words.Say("an e-mail address", "电子邮件地址"), example: "ops@example.org", empty: true}, func(c *Config) *string { return &c.ACME.Email }, checked(isEmail)),
		single(setting{key: "acme.directory", expected: words.Say("an https URL", "https 的 URL"), example: "https://acme-staging-v02.api.letsencrypt.org/directory", empty: true}, func(c *Config) *string { return &c.ACME.Directory }, checked(isACMEDirectory)),
		single(setting{key: "acme.cache", expected: newDirectory(), example: "/var/lib/sundry/acme", empty: true}, func(c *Config) *string { return &c.ACME.Cache }, checked(isNewDirectory)),
		single(setting{key: "redirect", expected: words.Say("an address and a port", "地址和端口"), example: ":80", empty: true}, func(c *Config) *string { return &c.Redirect }, checked(isAddress)),
		single(setting{key: "redis", alias: "SUNDRY_REDIS_URL", secret: true, empty: true}, func(c *Config) *string { return &c.Redis }, parseRedis),
		single(setting{key: "catalog", expected: words.Say("a directory", "目录"), example: "/etc/sundry/catalog", empty: true}, func(c *Config) *string { return &c.Catalog }, parseDirectory),
		single(setting{key: "builtin", expected: declare.Say("true or false"), example: "false", reloadable: true}, func(c *Config) *bool { return &c.Builtin }, parseBool),
		single(setting{key: "base_path", expected: words.Say("a path that begins with a slash and does not end with one", "以斜杠开头、不以斜杠结尾的路径"), example: "/tools", empty: true}, func(c *Config) *string { return &c.BasePath }, checked(isBasePath)),
		single(setting{key: "public_url", expected: words.Say("http or https, a host, and a port if need be, without a path", "http 或 https，加主机，必要时加端口，不带路径"), example: "https://api.example.org", reloadable: true, empty: true},
			func(c *Config) *string { return &c.PublicURL }, checked(isPublicURL)),
		single(setting{key: "grafana_url", expected: words.Say("http or https, a host, and a path if need be, without a user, a query and a fragment", "http 或 https，加主机，必要时加路径，不带用户名、查询串和片段"), example: "https://grafana.example.org", reloadable: true, empty: true},
			func(c *Config) *string { return &c.GrafanaURL }, parseGrafanaURL),
		single(setting{key: "language", expected: words.Say("zh or en", "zh 或 en"), example: "en"}, func(c *Config) *string { return &c.Language }, language),
		single(setting{key: "log_format", expected: words.Say("text or json", "text 或 json"), example: "json"}, func(c *Config) *string { return &c.LogFormat }, oneOf("text", "json")),
		single(setting{key: "log_level", expected: words.Say("debug, info, warn or error", "debug、info、warn 或 error"), example: "info", reloadable: true},
			func(c *Config) *string { return &c.LogLevel }, oneOf("debug", "info", "warn", "error")),
		single(setting{key: "log_hits", expected: wholeRange(1, maxSample), example: "100", reloadable: true},
			func(c *Config) *uint64 { return &c.LogHits }, whole[uint64](1, maxSample)),
		single(setting{key: "log_refusals", expected: wholeRange(1, maxSample), example: "100", reloadable: true},
			func(c *Config) *uint64 { return &c.LogRefusals }, whole[uint64](1, maxSample)),
		single(setting{key: "log_keys", expected: declare.Say("true or false"), example: "true", reloadable: true}, func(c *Config) *bool { return &c.LogKeys }, parseBool),
		list(setting{key: "trusted_proxies", expected: words.Say("an address range", "地址段"), example: "10.0.0.0/8", reloadable: true},
			func(c *Config) *[]netip.Prefix { return &c.Trusted }, parsePrefix),
		single(setting{key: "forwarded", expected: words.Say("one of either, x-forwarded-for and forwarded", "either、x-forwarded-for 或 forwarded"), example: "x-forwarded-for", reloadable: true},
			func(c *Config) *string { return &c.Forwarded }, oneOf(string(proxy.ByEither), string(proxy.ByXForwardedFor), string(proxy.ByForwarded))),
		list(setting{key: "allow_targets", expected: words.Say("an address range", "地址段"), example: "10.0.0.0/8", reloadable: true},
			func(c *Config) *[]netip.Prefix { return &c.AllowTargets }, parsePrefix),
		list(setting{key: "own_hosts", expected: words.Say("a host name without scheme, port and path", "主机名，不带协议、端口和路径"), example: "api.example.org", reloadable: true},
			func(c *Config) *[]string { return &c.OwnHosts }, parseHost),
		single(setting{key: "loop_id", expected: words.Say("1 to 64 letters, digits, dots, hyphens and underscores", "1 到 64 个字母、数字、点、连字符和下划线"), example: "example-1", reloadable: true, empty: true},
			func(c *Config) *string { return &c.LoopID }, checked(loop.CheckID)),
		single(setting{key: "contact", expected: words.Say("an e-mail address, or the URL of a page", "电子邮件地址，或网页的 URL"), example: "https://example.org/about", reloadable: true, empty: true},
			func(c *Config) *string { return &c.Contact }, checked(isContact)),
		single(setting{key: "user_agent", expected: words.Say("up to 512 letters, digits and signs of ASCII", "最多 512 个 ASCII 字母、数字和符号"), example: "Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0", reloadable: true, empty: true},
			func(c *Config) *string { return &c.UserAgent }, checked(isAgent)),
		single(setting{key: "proxy", reloadable: true, secret: true, empty: true}, func(c *Config) *string { return &c.Proxy }, parseProxy),
		list(setting{key: "proxies", expected: words.Say("the URL of a proxy for each endpoint or source", "各接口或数据源的代理的 URL"), example: "vidparse: socks5://127.0.0.1:1080", reloadable: true, secret: true, pairs: true},
			func(c *Config) *[]string { return &c.Proxies }, parseProxyOf),
		list(setting{key: "geo_file", expected: words.Say("files ending in .mmdb or .xdb", "以 .mmdb 或 .xdb 结尾的文件"), example: "/var/lib/sundry/city.mmdb", reloadable: true},
			func(c *Config) *[]string { return &c.GeoFiles }, parseGeoFile),
		single(setting{key: "data", expected: newDirectory(), example: "/var/lib/sundry", empty: true}, func(c *Config) *string { return &c.Data }, checked(isNewDirectory)),
		single(setting{key: "drain_delay", expected: words.Say("a duration from 0s to 10m", "0s 到 10m 的时长"), example: "5s", reloadable: true}, func(c *Config) *time.Duration { return &c.DrainDelay }, within(0, maxDelay, declare.ParseDuration)),
		single(setting{key: "drain_timeout", expected: words.Say("a duration from 0s to 1h", "0s 到 1h 的时长"), example: "20s", reloadable: true}, func(c *Config) *time.Duration { return &c.DrainTimeout }, within(0, maxTimeout, declare.ParseDuration)),
		single(setting{key: "express", expected: declare.Say("true or false"), example: "false"}, func(c *Config) *bool { return &c.Express }, parseBool),
		single(setting{key: "mcp", expected: declare.Say("true or false"), example: "true", reloadable: true}, func(c *Config) *bool { return &c.MCP }, parseBool),
		list(setting{key: "mcp_origins", expected: words.Say("a scheme and a host, with a port if it is not the usual one", "协议和主机，端口不是通常的时再加端口"), example: "https://agent.example.org", reloadable: true},
			func(c *Config) *[]string { return &c.MCPOrigins }, parseOrigin),
		single(setting{key: "limits.rate", expected: words.Say("a number of requests per second from 0.001 to 1000000, or 0 for no limit", "每秒的请求数，从 0.001 到 1000000，0 为不限"), example: "20", reloadable: true},
			func(c *Config) *float64 { return &c.Limits.Rate }, parseRate),
		single(setting{key: "limits.burst", expected: wholeRange(0, maxBurst), example: "40", reloadable: true},
			func(c *Config) *int { return &c.Limits.Burst }, whole[int](0, maxBurst)),
		single(setting{key: "limits.in_flight", expected: wholeRange(1, maxInFlight), example: "10000", reloadable: true},
			func(c *Config) *int64 { return &c.Limits.InFlight }, whole[int64](1, maxInFlight)),
		single(setting{key: "limits.in_flight_share", expected: words.Say("a share from 0.01 to 1", "0.01 到 1 的比例"), example: "0.5", reloadable: true},
			func(c *Config) *float64 { return &c.Limits.Share }, within(0.01, 1, parseFloat)),
		single(setting{key: "limits.queue_delay", expected: words.Say("a duration from 0s to 10s", "0s 到 10s 的时长"), example: "20ms", reloadable: true},
			func(c *Config) *time.Duration { return &c.Limits.QueueDelay }, within(0, maxQueueDelay, declare.ParseDuration)),
		single(setting{key: "limits.fills", expected: wholeRange(1, maxFills), example: "2000"}, func(c *Config) *int { return &c.Fills }, whole[int](1, maxFills)),
		single(setting{key: "limits.reply_memory", expected: sizeRange(upstreams.MinBudget), example: "128MiB"},
			func(c *Config) *Size { return &c.ReplyMemory }, within(upstreams.MinBudget, maxMemory, parseSize)),
		single(setting{key: "cache.memory", alias: "SUNDRY_MEMORY", expected: sizeRange(near.MinMemory), example: "256MiB"},
			func(c *Config) *Size { return &c.Cache.Memory }, within(near.MinMemory, maxMemory, parseSize)),
		single(setting{key: "cache.warm", expected: declare.Say("true or false"), example: "false"}, func(c *Config) *Choice { return &c.Cache.Warm }, parseChoice),
	}
}

// find is the setting of a key; nil where there is none.
func find(all []setting, key string) *setting {
	if i := slices.IndexFunc(all, func(s setting) bool { return s.key == key }); i >= 0 {
		return &all[i]
	}
	return nil
}
