// Package admin is the private listener: metrics, profiles and, where a token
// is set, the lock on them. It promises never to be reachable from beyond this
// machine without that token.
package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"strings"
)

// Config of the private listener.
type Config struct {
	// Token that every request must bear; "" asks for none, and allows
	// loopback addresses only.
	Token string
	// Metrics serves /metrics.
	Metrics http.Handler
	// Ready tells readiness, for who probes here.
	Ready func() bool
}

// ErrExposed refuses an address beyond loopback without a token.
var ErrExposed = errors.New("the admin listener beyond loopback needs a token: set SUNDRY_ADMIN_TOKEN, or listen on 127.0.0.1")

// CheckAddress tells whether the address may be listened on.
func CheckAddress(addr, token string) error {
	if token != "" {
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if host == "localhost" {
		return nil
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.Unmap().IsLoopback() {
		return ErrExposed
	}
	return nil
}

// New makes the handler.
func New(cfg Config) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", cfg.Metrics)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !cfg.Ready() {
			http.Error(w, "draining", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	if cfg.Token == "" {
		return mux
	}
	return locked(mux, cfg.Token)
}

// locked lets only bearers of the token through. Hashes are compared, so that
// neither length nor content shows in the time it takes.
func locked(next http.Handler, token string) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		got := sha256.Sum256([]byte(given))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="sundry admin"`)
			http.Error(w, "this listener needs Authorization: Bearer with the admin token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
