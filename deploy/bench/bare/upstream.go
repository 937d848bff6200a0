package main

import (
	"net/http"
	"net/http/httputil"
	"net/url"
)

// newReverseProxy keeps as many connections to its upstream as the load has.
func newReverseProxy(upstream string) (http.Handler, error) {
	if upstream == "" {
		return http.NotFoundHandler(), nil
	}
	to, err := url.Parse(upstream)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024},
	}, nil
}
