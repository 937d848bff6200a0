// Package admin is the private listener: metrics, profiles, and the API and
// console with which operators see and change a running Sundry. It promises that
// other machines change nothing without the token, and learn no more than that an instance is
// alive and ready, and that other sites cannot use it
// through an operator's browser.
package admin

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"

	"sundry/metrics/words"
	"sundry/proxy/site/i18n"
)

// Config of the private listener.
type Config struct {
	// Token that every request must have; "" for none, which is allowed on
	// loopback addresses only.
	Token string
	// ReadToken is enough for requests that change nothing, beside Token; "" means that there is none.
	ReadToken string
	// Metrics serves /metrics.
	Metrics http.Handler
	// Ready reports whether this instance is ready for traffic, for probes of this
	// listener.
	Ready func() bool
	// System that the API shows and changes; nil for no API.
	System *System
	// Languages chooses the language of messages.
	Languages i18n.Rule
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	// Log takes lines about wrong tokens; nil for none.
	Log *slog.Logger
}

// ErrExposed is returned for an address beyond loopback without a token.
var ErrExposed = words.NewError("the admin listener beyond loopback needs a token: set SUNDRY_ADMIN_TOKEN, or listen on 127.0.0.1", "管理端口不限于本机时须有令牌：请设置 SUNDRY_ADMIN_TOKEN，或在 127.0.0.1 监听")

// minTokenLength is the least length, in bytes, of the token of a listener that other
// machines can reach and so try to guess it.
const minTokenLength = 16

// ErrGuessable is returned for an address beyond loopback with a token that is short
// enough to be guessed.
var ErrGuessable = words.Errorf("the admin listener beyond loopback needs a token of at least %d characters, and SUNDRY_ADMIN_TOKEN has fewer: make one with openssl rand -hex 24, or listen on 127.0.0.1",
	"管理端口不限于本机时，令牌至少要有 %d 个字符，SUNDRY_ADMIN_TOKEN 不够长：请用 openssl rand -hex 24 生成，或在 127.0.0.1 监听", minTokenLength)

// errShortToken is returned for a read-only token that is short enough to be guessed.
var errShortToken = words.Errorf("expected at least %d characters: make a token with openssl rand -hex 24", "至少要有 %d 个字符：请用 openssl rand -hex 24 生成", minTokenLength)

// errUnsendable is returned for a token that no client can send.
var errUnsendable = words.NewError("expected a token without line breaks and other control characters, which no request can have", "令牌不能有换行等控制字符，请求无法带上这样的令牌")

// errSameToken and errNoToken are returned for a read-only token that would restrict nobody.
var (
	errSameToken = words.NewError("expected another token than SUNDRY_ADMIN_TOKEN, which permits changes", "只读令牌不能与 SUNDRY_ADMIN_TOKEN 相同，后者允许更改")
	errNoToken   = words.NewError("expected SUNDRY_ADMIN_TOKEN as well: without it, everybody on this machine may change everything", "还须设置 SUNDRY_ADMIN_TOKEN：没有它，本机的任何人都能更改一切")
)

// CheckToken returns an error if no request can have the token.
func CheckToken(token string) error {
	if strings.ContainsFunc(token, unicode.IsControl) {
		return errUnsendable
	}
	return nil
}

// CheckReadToken returns an error if the read-only token is of no use beside the token; "" is none.
func CheckReadToken(read, token string) error {
	switch {
	case read == "":
		return nil
	case token == "":
		return errNoToken
	case read == token:
		return errSameToken
	case len(read) < minTokenLength:
		return errShortToken
	}
	return CheckToken(read)
}

// CheckAddress returns an error if the address needs a better token to be listened on.
func CheckAddress(addr, token string) error {
	if len(token) >= minTokenLength {
		return nil
	}
	refused := ErrExposed
	if token != "" {
		refused = ErrGuessable
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
		return refused
	}
	return nil
}

// New returns the handler.
func New(cfg Config) http.Handler {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	logins := newLogins(cfg.Registerer, cfg.Log)
	handler := limitBody(refuseOtherChanges(refuseOtherOrigins(cfg.routes())))
	if cfg.Token == "" {
		return cfg.inEnglish(securityHeaders(checkRequest(requireLoopbackHost(handler))))
	}
	return cfg.inEnglish(securityHeaders(checkRequest(requireToken(handler, cfg.Token, cfg.ReadToken, logins))))
}

// inEnglish answers whoever asks for no language in English, where that is the rule.
func (cfg *Config) inEnglish(next http.Handler) http.Handler {
	if !cfg.Languages.English {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header["Accept-Language"]) == 0 {
			r.Header.Set("Accept-Language", "en")
		}
		next.ServeHTTP(w, r)
	})
}

// routes returns the handler of all paths, without the checks around it.
func (cfg *Config) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", cfg.Metrics)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index) // without cmdline: a flag may hold a password
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
		if cfg.System == nil {
			return
		}
		if !cfg.System.Replicator.InSync() {
			_, _ = io.WriteString(w, "settings: not in sync, because the store cannot be read: answers come from memory and the sources, and what is changed and purged elsewhere is not known here\n")
		}
		if n := cfg.System.Replicator.Pending(); n > 0 {
			_, _ = fmt.Fprintf(w, "settings: %d pending, in force on this instance only until they can be stored\n", n)
		}
	})
	if cfg.System != nil {
		(&api{System: *cfg.System, started: time.Now()}).routes(mux)
		console(mux)
	}
	return refuseUnknown(mux)
}

// consolePattern is that of the console's files, which the API's paths are below.
const consolePattern = "GET /admin/"

// refuseUnknown refuses calls that the API does not have, in JSON as its other errors are.
func refuseUnknown(mux *http.ServeMux) http.Handler {
	has := func(r *http.Request) bool {
		_, pattern := mux.Handler(r)
		return pattern != "" && pattern != consolePattern
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "PURGE" { // mux would redirect a path with empty segments
			purge, _ := mux.Handler(&http.Request{Method: r.Method, URL: &url.URL{Path: "/"}})
			purge.ServeHTTP(w, r)
			return
		}
		if !strings.HasPrefix(r.URL.Path, apiPath) || has(r) {
			mux.ServeHTTP(w, r)
			return
		}
		allowed := slices.DeleteFunc([]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}, func(method string) bool {
			return !has(&http.Request{Method: method, URL: r.URL, Host: r.Host})
		})
		if len(allowed) == 0 {
			refuseBefore(w, r, http.StatusNotFound, words.Say("there is no such call", "没有这个调用"))
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		refuseBefore(w, r, http.StatusMethodNotAllowed, words.Sayf("the method %s is not allowed; expected %s", "不支持 %s 方法，应为 %s", r.Method, words.Names(allowed...)))
	})
}

//go:embed console
var consoleFiles embed.FS

// console serves the page for operators. Its Content-Security-Policy lets it load
// nothing from elsewhere.
func console(mux *http.ServeMux) {
	files, err := fs.Sub(consoleFiles, "console")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	pages := http.StripPrefix("/admin/", http.FileServerFS(files))
	mux.HandleFunc(consolePattern, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		pages.ServeHTTP(w, r)
	})
	for _, path := range []string{"/{$}", "/admin"} {
		mux.Handle("GET "+path, http.RedirectHandler("/admin/", http.StatusSeeOther))
	}
}
