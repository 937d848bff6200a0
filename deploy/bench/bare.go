package main

import (
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime"
	"time"

	"github.com/redis/go-redis/v9"
)

// bareCommand has this program serve what Sundry is measured against: a net/http handler
// that does what cannot be left out, and nothing else.
const bareCommand = "bare"

// bareLike serves what the name of the server says, beside the answer of the server that it
// asks to a path.
func bareLike(path string) func(*bench, *server) []string {
	return func(b *bench, s *server) []string {
		self, _ := os.Executable() // "" fails to start
		return []string{self, bareCommand, s.name, s.address(), b.servers[s.asks[0]].url(path)}
	}
}

// serveBare serves until the process ends: args are the kind of handler, its address, and
// the URL of what it is like or in front of.
func serveBare(ctx context.Context, args []string) error {
	if len(args) != 3 {
		return errors.New("expected a kind, an address and a URL")
	}
	h, err := newBare(ctx, args[0], args[2])
	if err != nil {
		return err
	}
	// Sundry has such a block, too: the collector runs as seldom in both, however much
	// either keeps.
	ballast := make([]byte, 64<<20)
	defer runtime.KeepAlive(ballast)
	l, err := net.Listen("tcp", args[1]) //nolint:noctx // it is listened on until the process ends
	if err != nil {
		return err
	}
	// The timeouts are those of Sundry's server.
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: time.Minute, IdleTimeout: 2 * time.Minute}
	return s.Serve(l)
}

func newBare(ctx context.Context, kind, like string) (http.Handler, error) {
	to, err := url.Parse(like)
	if err != nil {
		return nil, err
	}
	if kind == bareProxy { // it keeps as many connections to its upstream as the load has
		keeping := &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024}
		return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: keeping}, nil
	}
	var answer reply
	for range 2 { // the second is a hit
		if answer, err = get(ctx, &http.Transport{}, like, http.MethodGet, nil); err != nil {
			return nil, err
		}
	}
	answer.header.Del("Date") // net/http makes it, at less cost than one that is given
	if kind == bareMirror {
		body := []byte(answer.body)
		return answer.with(func(context.Context) ([]byte, error) { return body, nil }), nil
	}
	const key = "bare"
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: redisSocket, PoolSize: 32}) // as Sundry's
	lookUp := answer.with(func(ctx context.Context) ([]byte, error) { return client.Get(ctx, key).Bytes() })
	return lookUp, client.Set(ctx, key, answer.body, 0).Err()
}

// with answers everything with the headers of a reply, and a body.
func (a reply) with(body func(context.Context) ([]byte, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := body(r.Context())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		maps.Copy(w.Header(), a.header)
		_, _ = w.Write(text)
	})
}
