package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
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

// limitBody bounds the bodies of all requests.
func limitBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > maxBody {
			http.Error(w, "the request body is too large", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// refuseOtherOrigins refuses reads that a page of another origin makes: the page
// cannot see the answer, but a profile costs CPU time. Only a link to the console
// may be followed.
func refuseOtherOrigins(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := r.Header.Get("Sec-Fetch-Site")
		if (site == "cross-site" || site == "same-site") && !isConsoleLink(r) {
			http.Error(w, "requests from pages of other origins are refused", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isConsoleLink reports whether a browser follows a link from another page to the
// console.
func isConsoleLink(r *http.Request) bool {
	h := r.Header
	return h.Get("Sec-Fetch-Mode") == "navigate" && h.Get("Sec-Fetch-Dest") == "document" &&
		(r.URL.Path == "/admin" || r.URL.Path == "/admin/")
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
			http.Error(w, "without a token, the host must be localhost or a loopback address", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// requireToken accepts only requests with the token, as a bearer token or, since
// browsers can send that, as the password of any user. Hashes are compared in
// constant time, so that the time reveals neither the token's length nor its content.
// Requests from addresses that sent wrong tokens are delayed before that.
func requireToken(next http.Handler, token string, logins *logins) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, password, basic := r.BasicAuth(); basic {
			sent, ok = password, true
		}
		from := client(r)
		if ok && !logins.wait(r.Context(), from) {
			tooMany(w)
			return
		}
		got := sha256.Sum256([]byte(sent))
		right := subtle.ConstantTimeCompare(got[:], want[:]) == 1
		switch {
		case ok && right:
			logins.succeed(from)
			next.ServeHTTP(w, r)
			return
		case ok && sent != "":
			logins.fail(from, r)
		}
		unauthorized(w)
	})
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Add("WWW-Authenticate", `Bearer realm="sundry admin"`)
	w.Header().Add("WWW-Authenticate", `Basic realm="sundry admin: the token as password", charset="UTF-8"`)
	http.Error(w, "unauthorized: send the admin token as Authorization: Bearer", http.StatusUnauthorized)
}
