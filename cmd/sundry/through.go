package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"sundry/cache/web"
	"sundry/proxy/through"
)

const (
	// throughShare is the part of the memory for the cache that the answers of an API get which is served as it is.
	throughShare = 0.5
	// throughMost is the size in bytes of the largest body that is kept of one.
	throughMost = 8 << 20
	// throughVariants is how many variants of one URI are.
	throughVariants = 50
	// throughConnect, throughHead and throughIdle are how long its origin may take to be connected to, to begin an answer, and
	// to send nothing of one.
	throughConnect = 3 * time.Second
	throughHead    = 30 * time.Second
	throughIdle    = time.Minute
)

// errNoOrigin: --to is no address of an API.
var errNoOrigin = errors.New("expected a URL of an HTTP API such as https://api.example.org, or http://127.0.0.1:3000/v1")

// originOf reads --to.
func originOf(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("--to %s: %w", text, errNoOrigin)
	}
	return u, nil
}

// handler is what answers on the public listener: the endpoints, or with --to the API of which they stand in the way, but
// for /healthz and /readyz.
func (s *server) handler() (http.Handler, error) {
	if s.cmd.To == "" {
		return s.front, nil
	}
	origin, err := originOf(s.cmd.To)
	if err != nil {
		return nil, misused(err)
	}
	rules := web.Rules{Targets: []string{"Sundry-Cache-Control", "CDN-Cache-Control"}, HeuristicShare: 0.1, HeuristicMost: 24 * time.Hour}
	store, err := web.NewStore(web.StoreConfig{Memory: int64(throughShare * float64(s.config.Cache.Memory)), Variants: throughVariants, Name: "web", Rules: rules})
	if err != nil {
		return nil, err
	}
	api := through.New(through.Settings{Name: origin.Host, Rules: rules, Languages: true, Most: throughMost, Idle: throughIdle,
		Tags: []string{"Cache-Tag", "Surrogate-Key"}},
		through.NewOrigin([]*url.URL{origin}, through.Timeouts{Connect: throughConnect, Head: throughHead}, true, dialOrigin), store, s.log, s.panics)
	return &inPlace{s.front, api}, nil
}

// inPlace is an API in the place of the endpoints.
type inPlace struct {
	front http.Handler
	api   *through.Handler
}

// ServeHTTP implements http.Handler.
func (h *inPlace) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" || r.URL.Path == "/readyz" {
		h.front.ServeHTTP(w, r)
		return
	}
	h.api.ServeHTTP(w, r)
}

// dialOrigin connects to the origin that the operator named: any address may be meant.
func dialOrigin(ctx context.Context, network, address string) (net.Conn, error) {
	return (&net.Dialer{Timeout: throughConnect}).DialContext(ctx, network, address)
}
