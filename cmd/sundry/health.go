package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"sundry/metrics/words"
)

// healthTime bounds the whole probe. The caller's own timeout should be longer, so
// that the reason is printed.
const healthTime = 2 * time.Second

type healthCmd struct {
	Config string `help:"Configuration file of the server (default: sundry.yaml in the working directory, if it exists)." zh:"服务的设置文件（默认为工作目录中的 sundry.yaml，如果有）。" type:"path" placeholder:"FILE"`
	Listen string `help:"Address of the server's public listener, if given to it by a flag." zh:"服务的公开端口，如果它是用选项指定的。" placeholder:"ADDR"`
	Ready  bool   `help:"Check /readyz, which fails while the server drains, instead of /healthz." zh:"检查 /readyz 而不是 /healthz；服务正在退出时，前者不正常。"`
}

// Run asks the server on this machine, so that an image needs neither a shell
// nor curl for its health check. Mistakes in the file are reported only where the
// server does not answer: one that runs with an earlier configuration is healthy.
func (h *healthCmd) Run(w *process) error {
	c, mistakes := (&flags{Config: h.Config}).loadConfig(w, nil)
	if h.Listen != "" {
		c.Listen = h.Listen
	}
	path := c.BasePath + "/-/healthz"
	if h.Ready {
		path = c.BasePath + "/-/readyz"
	}
	ctx, cancel := context.WithTimeout(w.ctx, healthTime)
	defer cancel()
	if err := probe(ctx, c.Scheme(), c.Listen, path); err != nil {
		err = errors.Join(err, mistakes)
		return words.Translated(fmt.Errorf("health: %w", err), "health："+inChinese(err))
	}
	_, err := fmt.Fprintln(w.stdout, "ok")
	return err
}

// probe expects status 200 from the path at the address. The address is dialled as
// written, including ports given by name.
func probe(ctx context.Context, scheme, listen, path string) error {
	addr, err := reachable(listen)
	if err != nil {
		return err
	}
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: unverified(), DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://localhost"+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return words.Errorf("%s does not answer: %s; another address: --listen, SUNDRY_LISTEN or the configuration file", "%s 没有回答：%s；换地址可用 --listen、SUNDRY_LISTEN 或设置文件", addr, words.Failure(failed.Err))
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is read from it after
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return words.Errorf("%s%s: %s: %s", "%s%s：%s：%s", addr, path, resp.Status, body)
	}
	return nil
}

// unverified returns a TLS configuration for a listener on this machine that verifies no certificate. The certificate is for the
// public name, which need not lead here, and may come from an authority that only the clients know. Nothing secret is sent.
func unverified() *tls.Config { return &tls.Config{InsecureSkipVerify: true} } //nolint:gosec // see above

// reachable is the address at which this machine reaches the listener: where that
// listens on all addresses, loopback is one of them.
func reachable(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", words.Errorf("listen address %q: expected an address and a port, such as 127.0.0.1:8080", "公开端口的地址%q：应为地址和端口，例如 127.0.0.1:8080", listen)
	}
	if port == "" || port == "0" {
		return "", words.Errorf("listen address %q: the port is chosen by the system and only known to the server", "公开端口的地址%q：端口由系统选定，只有服务知道", listen)
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}
