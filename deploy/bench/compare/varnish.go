//go:build linux

package main

import (
	"strings"

	"sundry/deploy/bench/harness"
)

// varnishConfig keeps what Sundry marks as not to be stored, too.
const varnishConfig = `vcl 4.1;
backend sundry { .host = "HOST"; .port = "PORT"; }
sub vcl_backend_response { set beresp.ttl = 1d; return (deliver); }
`

// startVarnish starts it without its own gzip: it would keep the compressed answer
// alone, and expand it for everybody who does not accept it.
func (b *bench) startVarnish() error {
	address, err := harness.FreePort()
	if err != nil {
		return err
	}
	host, port, _ := strings.Cut(b.servers[sundryReplay].address, ":")
	if err := harness.WriteFile(b.File("varnish.vcl"), strings.NewReplacer("HOST", host, "PORT", port).Replace(varnishConfig)); err != nil {
		return err
	}
	p, err := b.Start(varnish, b.serverCore, nil, "varnishd", "-F", "-j", "none", "-n", b.File("varnish"), "-a", address, "-f", b.File("varnish.vcl"),
		"-s", "malloc,512m", "-p", "http_gzip_support=off", "-p", "workspace_client=64k")
	if err != nil {
		return err
	}
	s := &server{name: varnish, process: p, address: address, origin: b.servers[sundryReplay]}
	b.servers[varnish] = s
	if err := p.Begin(); err != nil {
		return err
	}
	return b.answers(s, digestPath)
}
