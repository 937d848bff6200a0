// Package admin is the private listener: metrics, profiles, and the API and
// console with which operators see and change a running Sundry. It promises
// never to be reachable from beyond this machine without its token, nor by the
// pages of strangers in an operator's browser.
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
	"time"
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
	// System that the API shows and changes; nil for no API.
	System *System
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
	if cfg.System != nil {
		(&api{System: *cfg.System, started: time.Now()}).routes(mux)
		console(mux)
	}
	guarded := http.NewCrossOriginProtection().Handler(mux)
	if cfg.Token == "" {
		return local(guarded)
	}
	return locked(guarded, cfg.Token)
}

// local refuses requests under names that are not this machine's: a page of a
// stranger's whose name was made to lead here would have one (DNS rebinding).
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
			http.Error(w, "without a token this listener is called localhost, or by its loopback address", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// locked lets only bearers of the token through, also with it as the password
// of whatever user: that is how browsers can bear it. Hashes are compared, so
// that neither length nor content shows in the time it takes.
func locked(next http.Handler, token string) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, password, basic := r.BasicAuth(); basic {
			given, ok = password, true
		}
		got := sha256.Sum256([]byte(given))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Add("WWW-Authenticate", `Bearer realm="sundry admin"`)
			w.Header().Add("WWW-Authenticate", `Basic realm="sundry admin: the token as password", charset="UTF-8"`)
			http.Error(w, "this listener needs Authorization: Bearer with the admin token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
