package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"sundry/metrics/words"
	"sundry/proxy/express"
	"sundry/proxy/uri"
)

// securityHeaders keep browsers from showing an answer, errors included, in
// another site's page, from guessing its type, and from storing it.
func securityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		next.ServeHTTP(w, r)
	})
}

// checkRequest refuses too many fields, a malformed host and a path that may lead up, and removes the segments . of paths: what comes
// after it, above all requireToken, goes by the path.
func checkRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.Header) > express.MaxFields {
			refuseBefore(w, r, http.StatusRequestHeaderFieldsTooLarge, express.ErrFields.Words())
			return
		}
		err := uri.CheckHost(r)
		if r = uri.Clean(r); err == nil && uri.MayLeadUp(r.URL.EscapedPath()) {
			err = uri.ErrPath
		}
		if err != nil {
			refuseBefore(w, r, http.StatusBadRequest, wordsOf(err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// limitBody bounds the bodies of all requests.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > maxBody {
			refuseBefore(w, r, http.StatusRequestEntityTooLarge, words.Say("the request body is too large", "请求正文太大"))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// refuseOtherChanges refuses changes that a page of another origin makes (CSRF).
func refuseOtherChanges(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(refuseOtherOrigin))
	return protection.Handler(next)
}

// refuseOtherOrigins refuses reads that a page of another origin makes: the page
// cannot see the answer, but a profile costs CPU time. Only links to the console and, from
// dashboards and alerts, to the runbook may be followed.
func refuseOtherOrigins(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := r.Header.Get("Sec-Fetch-Site")
		if (site == "cross-site" || site == "same-site") && !isConsoleLink(r) {
			refuseOtherOrigin(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refuseOtherOrigin(w http.ResponseWriter, r *http.Request) {
	refuseBefore(w, r, http.StatusForbidden, words.Say("requests from pages of other origins are refused", "拒绝来自其他源的网页的请求"))
}

// isConsoleLink reports whether a browser follows a link from another page to the
// console or the runbook.
func isConsoleLink(r *http.Request) bool {
	h := r.Header
	return h.Get("Sec-Fetch-Mode") == "navigate" && h.Get("Sec-Fetch-Dest") == "document" &&
		slices.Contains([]string{"/", "/admin", "/admin/", "/admin/runbook.html", "/admin/runbook.zh.html"}, r.URL.Path)
}

// isConsoleFile reports whether a request is for a file of the console. They hold nothing
// of this instance, and ask for the token themselves.
func isConsoleFile(r *http.Request) bool {
	if !reads(r) {
		return false
	}
	path := r.URL.Path
	return path == "/" || path == "/admin" || strings.HasPrefix(path, "/admin/") && !strings.HasPrefix(path, apiPath)
}

// requireLoopbackHost refuses requests whose Host is not this machine's: with DNS
// rebinding another site's name resolves to this machine, and the browser treats
// this listener as that site.
func requireLoopbackHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		if host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
			refuseBefore(w, r, http.StatusForbidden, words.Say("without a token, the host must be localhost or a loopback address", "没有设置令牌时，主机名必须是 localhost 或环回地址"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isProbe reports whether a request asks whether this instance lives, or is ready. Orchestrators have no token for that.
func isProbe(r *http.Request) bool {
	return reads(r) && (r.URL.Path == "/healthz" || r.URL.Path == "/readyz")
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// isRead reports whether the read-only token is enough for a request: it changes nothing and calls nobody, and shows nothing of
// the memory of this process, as profiles do.
func isRead(r *http.Request) bool { return reads(r) && !strings.HasPrefix(r.URL.Path, "/debug/") }

// requireToken accepts only requests with the token, as a bearer token or, since
// browsers can send that, as the password of any user. The read-only token is enough for
// those that read; "" means that there is none. Hashes are compared in
// constant time, so that the time reveals neither the token's length nor its content.
// Those of addresses that sent many wrong ones are refused all the same. The console's
// files and probes need no token.
func requireToken(next http.Handler, token, readToken string, logins *logins) http.Handler {
	want, wantRead := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(readToken))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isConsoleFile(r) || isProbe(r) {
			next.ServeHTTP(w, r)
			return
		}
		sent := sentToken(r)
		if sent == "" {
			unauthorized(w, r)
			return
		}
		got := sha256.Sum256([]byte(sent))
		right := subtle.ConstantTimeCompare(got[:], want[:]) == 1
		reader := subtle.ConstantTimeCompare(got[:], wantRead[:]) == 1 // never with "", which is not sent
		switch wait, ok := logins.look(r, right || reader); {
		case !ok:
			tooMany(w, r, wait)
		case right || reader && isRead(r):
			next.ServeHTTP(w, r)
		case reader:
			refuseBefore(w, r, http.StatusForbidden, words.Say("the read-only token permits neither changes nor profiles: send the admin token", "只读令牌不能更改任何东西，也不能取得性能剖析：请发送管理令牌"))
		default:
			unauthorized(w, r)
		}
	})
}

// sentToken returns the token of a request; "" means none. The names of schemes are case-insensitive (RFC 9110, section 11.1).
func sentToken(r *http.Request) string {
	if _, password, basic := r.BasicAuth(); basic {
		return password
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimLeft(token, " ")
}

func unauthorized(w http.ResponseWriter, r *http.Request) {
	w.Header().Add("WWW-Authenticate", `Bearer realm="sundry admin"`)
	w.Header().Add("WWW-Authenticate", `Basic realm="sundry admin: the token as password", charset="UTF-8"`)
	refuseBefore(w, r, http.StatusUnauthorized, words.Say("unauthorized: send the admin token as Authorization: Bearer", "未经授权：请用 Authorization: Bearer 发送管理令牌"))
}
