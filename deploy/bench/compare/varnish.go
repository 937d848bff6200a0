//go:build linux

package main

import "strings"

// varnishConfig keeps what Sundry marks as not to be stored, too.
const varnishConfig = `vcl 4.1;
backend sundry { .host = "HOST"; .port = "PORT"; }
sub vcl_backend_response { set beresp.ttl = 1d; return (deliver); }
`

// startVarnish starts it without its own gzip: it would keep the compressed answer
// alone, and expand it for everybody who does not accept it.
func (b *bench) startVarnish() error {
	address, err := freePort()
	if err != nil {
		return err
	}
	host, port, _ := strings.Cut(b.servers[sundryReplay].address, ":")
	if err := writeFile(b.file("varnish.vcl"), strings.NewReplacer("HOST", host, "PORT", port).Replace(varnishConfig)); err != nil {
		return err
	}
	p, err := b.start(varnish, b.serverCore, nil, "varnishd", "-F", "-j", "none", "-n", b.file("varnish"), "-a", address, "-f", b.file("varnish.vcl"),
		"-s", "malloc,512m", "-p", "http_gzip_support=off", "-p", "workspace_client=64k")
	if err != nil {
		return err
	}
	s := &server{name: varnish, process: p, address: address, origin: b.servers[sundryReplay]}
	b.servers[varnish] = s
	if err := p.begin(); err != nil {
		return err
	}
	return b.answers(s, digestPath)
}
