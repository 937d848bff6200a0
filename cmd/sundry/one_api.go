package main

import (
	"cmp"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams/catalog"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/redact"
)

// toFlags are flags about one API without a file, in place of the catalog.
type toFlags struct {
	To      string `help:"Serve one HTTP API as it is, cached as HTTP says (RFC 9111), in the place of the endpoints: its URL." zh:"原样代理一个 HTTP API，按 HTTP 的规定缓存（RFC 9111），不提供各接口。这是它的 URL。" placeholder:"URL" example:"--to http://127.0.0.1:3000"`
	TTL     string `name:"ttl" example:"--to http://127.0.0.1:3000 --ttl 1m" help:"With --to: how long a response is fresh that says nothing about caching. Not for requests with credentials, such as Cookie." zh:"与 --to 一起用：没有声明如何缓存的响应保鲜多久。不适用于带凭据（例如 Cookie）的请求。" placeholder:"DURATION"`
	Host    string `example:"--to http://127.0.0.1:3000 --host shop.example.org" help:"With --to: the Host that the API gets: caller for the Host of each request, origin for that of its URL, or a name (default: caller for an address on this machine or in a private network, a Unix socket, or a name without a dot; else origin)." zh:"与 --to 一起用：API 收到的 Host：caller 为每个请求的 Host，origin 为其 URL 中的，也可以是一个名称（默认：地址在本机或内网、是 Unix 套接字，或名称不含点时为 caller，其余为 origin）。" placeholder:"HOST"`
	Timeout string `example:"--to http://127.0.0.1:3000 --timeout 10s" help:"With --to: how long a response may take to begin (default 30s)." zh:"与 --to 一起用：等待响应开始的时限（默认 30s）。" placeholder:"DURATION"`
	Name    string `example:"--to http://127.0.0.1:3000 --name shop" help:"With --to: the name of the API in metrics, log and console (default api)." zh:"与 --to 一起用：该 API 在指标、日志和控制台中的名称（默认 api）。" placeholder:"NAME"`
}

// apiName is the name of an API without a file, if no flag gives one.
const apiName = "api"

// api reads the flags; nil means that there is no API without a file.
func (f *toFlags) api() (*catalog.OneAPI, error) {
	if f.To == "" {
		return nil, f.aboutNothing()
	}
	if _, err := catalog.ParseAddress(f.To); err != nil {
		return nil, words.Errorf("--to %s: %s", "--to %s：%s", redact.Address(f.To), words.Failure(err))
	}
	a := &catalog.OneAPI{Name: cmp.Or(f.Name, apiName), To: f.To, Host: f.Host}
	if err := catalog.CheckAPIName(a.Name); err != nil {
		return nil, words.Errorf("--name %q: %s", "--name %q：%s", f.Name, words.Failure(err))
	}
	if f.Host != "" && !catalog.IsHostToSend(f.Host) {
		return nil, words.Errorf("--host %q: expected origin, caller or a name such as shop.example.org", "--host %q：应为 origin、caller 或名称，例如 shop.example.org", f.Host)
	}
	var err error
	if a.TTL, err = readDuration("--ttl", f.TTL); err != nil {
		return nil, err
	}
	a.Head, err = readDuration("--timeout", f.Timeout)
	return a, err
}

// aboutNothing refuses flags about an API where there is none.
func (f *toFlags) aboutNothing() error {
	for _, flag := range []struct{ name, value, key string }{
		{"--ttl", f.TTL, "proxy: cache: default"}, {"--host", f.Host, "proxy: host"}, {"--timeout", f.Timeout, "proxy: timeouts: head"}, {"--name", f.Name, "name"},
	} {
		if flag.value != "" {
			return words.Errorf("%s: expected with --to URL; in the file of an API it is %s", "%s：应与 --to URL 一起用；在 API 的文件中是 %s", flag.name, flag.key)
		}
	}
	return nil
}

// readDuration reads a flag; "" is 0.
func readDuration(flag, text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := declare.ParseDuration(text)
	if err == nil && d == 0 {
		err = words.NewError("expected more than 0, for example 1m", "应大于 0，例如 1m")
	}
	if err != nil {
		return 0, words.Errorf("%s: %s", "%s：%s", flag, words.Failure(err))
	}
	return d, nil
}
