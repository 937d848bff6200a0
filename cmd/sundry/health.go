package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// healthTime bounds the whole probe. Whoever calls this has a timeout of its
// own, which should be longer, so that ours tells why.
const healthTime = 2 * time.Second

type healthCmd struct {
	Config string `help:"Configuration file of the server (default sundry.yaml, if there is one here)." type:"path" placeholder:"FILE"`
	Listen string `help:"Public address that the server was given." placeholder:"ADDR"`
	Ready  bool   `help:"Ask whether it takes requests, which it does not while draining, instead of whether it lives."`
}

// Run asks the server on this machine, so that an image needs neither a shell
// nor curl for its health check. Mistakes in the file count only where the
// server does not answer: one that runs on what it read before is healthy.
func (h *healthCmd) Run(w *world) error {
	c, mistakes := (&flags{Config: h.Config}).loadConfig(w, nil)
	if h.Listen != "" {
		c.Listen = h.Listen
	}
	path := c.BasePath + "/healthz"
	if h.Ready {
		path = c.BasePath + "/readyz"
	}
	ctx, cancel := context.WithTimeout(w.ctx, healthTime)
	defer cancel()
	if err := probe(ctx, c.Listen, path); err != nil {
		return fmt.Errorf("health: %w", errors.Join(err, mistakes))
	}
	_, err := fmt.Fprintln(w.stdout, "ok")
	return err
}

// probe wants 200 from the path, asked of whoever listens on the address. The
// address is dialled as it stands, ports by name included.
func probe(ctx context.Context, listen, path string) error {
	addr, err := reachable(listen)
	if err != nil {
		return err
	}
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is read from it after
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return fmt.Errorf("%s%s: %s: %s", addr, path, resp.Status, body)
	}
	return nil
}

// reachable is where to find who listens on the address from this machine:
// where that is all addresses, loopback is one of them.
func reachable(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", fmt.Errorf("listen address: %w", err)
	}
	if port == "" || port == "0" {
		return "", fmt.Errorf("listen address %q: the system chose the port, and only the server knows it", listen)
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}
