//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"

	"sundry/deploy/bench/harness"
)

// nginxConfig is nginx with one worker, because it has one core, and everything that
// makes its hits cheap: no log, no end to connections, files that stay open, and no
// sendfile, which costs it a fifth more where answers are small. It keeps
// what Sundry marks as not to be stored, too, and each coding on its own instead of by
// Vary, which costs it a second look-up.
const nginxConfig = `worker_processes 1; daemon off; pid nginx.pid; error_log stderr warn; USER
events { worker_connections 4096; }
http {
  access_log off; sendfile off; keepalive_requests 1000000000; keepalive_timeout 1h;
  open_file_cache max=40000 inactive=1d; open_file_cache_valid 1d;
  client_body_temp_path nginx/body; proxy_temp_path nginx/proxy; fastcgi_temp_path nginx/fastcgi; uwsgi_temp_path nginx/uwsgi; scgi_temp_path nginx/scgi;
  proxy_cache_path nginx/cache levels=1:2 keys_zone=hits:64m max_size=4g inactive=1d use_temp_path=off;
  upstream sundry { server SUNDRY; keepalive 64; }
  proxy_http_version 1.1; proxy_set_header Connection "";
  proxy_cache hits; proxy_cache_key $request_uri|$http_accept_encoding; proxy_cache_valid 200 1d;
  proxy_ignore_headers Cache-Control Expires Vary Set-Cookie;
  server { listen ADDRESS backlog=1024; location / { proxy_pass http://sundry; } }
  server { listen PEEK; location / { proxy_pass http://sundry; add_header X-Cache $upstream_cache_status; } }
}
`

func (b *bench) startNginx() error {
	address, err := harness.FreePort()
	if err != nil {
		return err
	}
	peek, err := harness.FreePort()
	if err != nil {
		return err
	}
	text := strings.NewReplacer("ADDRESS", address, "PEEK", peek, "SUNDRY", b.servers[sundryReplay].address).Replace(nginxConfig)
	s, err := b.runNginx(nginx, b.serverCore, text)
	if err != nil {
		return err
	}
	s.address, s.peek, s.origin = address, peek, b.servers[sundryReplay]
	return b.answers(s, digestPath)
}

// upstream is the name of the server that Sundry fetches from. It runs on the core of
// the load.
const (
	upstream     = "upstream"
	upstreamPath = "/item?id="
)

// upstreamConfig replies with 1 kB of JSON from memory.
const upstreamConfig = `worker_processes 1; daemon off; pid upstream.pid; error_log stderr warn; USER
events { worker_connections 4096; }
http {
  access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; default_type application/json;
  client_body_temp_path upstream/body; proxy_temp_path upstream/proxy; fastcgi_temp_path upstream/fastcgi; uwsgi_temp_path upstream/uwsgi; scgi_temp_path upstream/scgi;
  server {
    listen ADDRESS backlog=1024;
    location = /item { return 200 '{"code":0,"data":{"number":$arg_id,"name":"Number $arg_id","unused":[1,2,3],"content":"CONTENT"}}'; }
  }
}
`

func (b *bench) startUpstream() error {
	address, err := harness.FreePort()
	if err != nil {
		return err
	}
	var words []string
	for i := range 132 {
		words = append(words, fmt.Sprint(i*7919%1000003))
	}
	text := strings.NewReplacer("ADDRESS", address, "CONTENT", strings.Join(words, " ")).Replace(upstreamConfig)
	s, err := b.runNginx(upstream, b.loadCore, text)
	if err != nil {
		return err
	}
	s.address = address
	return b.answers(s, upstreamPath+"1")
}

func (b *bench) runNginx(name string, core int, config string) (*server, error) {
	user := ""
	if os.Getuid() == 0 {
		user = "user root;" // who may read the directory of the bench
	}
	config = strings.ReplaceAll(config, "USER", user)
	if err := harness.WriteFile(b.File(name+".conf"), config); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(b.File(name), 0o755); err != nil { //nolint:gosec // nginx may be another user
		return nil, err
	}
	p, err := b.Start(name, core, nil, "nginx", "-p", b.Dir, "-c", b.File(name+".conf"), "-e", "stderr")
	if err != nil {
		return nil, err
	}
	s := &server{name: name, process: p}
	b.servers[name] = s
	return s, p.Begin()
}
