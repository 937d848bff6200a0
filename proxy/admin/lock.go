package admin

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// plain gives every answer, refusals too, what keeps browsers from showing it
// in a stranger's page, guessing its type, or keeping it.
func plain(next http.Handler) http.Handler {
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

// sealed bounds what is sent here, whatever it is sent to.
func sealed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > maxBody {
			http.Error(w, "more is sent than any call takes", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// ownPages refuses reads that a page of another origin makes: it learns nothing
// by them, but a profile costs. A link that an operator follows leads to the
// console, and to nothing else.
func ownPages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := r.Header.Get("Sec-Fetch-Site")
		if (site == "cross-site" || site == "same-site") && !isLink(r) {
			http.Error(w, "this listener answers no pages of other origins", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLink tells a browser's visit of the console out of another page.
func isLink(r *http.Request) bool {
	h := r.Header
	return h.Get("Sec-Fetch-Mode") == "navigate" && h.Get("Sec-Fetch-Dest") == "document" &&
		(r.URL.Path == "/admin" || r.URL.Path == "/admin/")
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
// that neither length nor content shows in the time it takes. Whoever bore wrong
// ones waits first.
func locked(next http.Handler, token string, seen *logins) http.Handler {
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if _, password, basic := r.BasicAuth(); basic {
			given, ok = password, true
		}
		from := client(r)
		if ok && !seen.wait(r.Context(), from) {
			tooMany(w)
			return
		}
		got := sha256.Sum256([]byte(given))
		right := subtle.ConstantTimeCompare(got[:], want[:]) == 1
		switch {
		case ok && right:
			seen.succeed(from)
			next.ServeHTTP(w, r)
			return
		case ok && given != "":
			seen.fail(from, r)
		}
		unauthorized(w)
	})
}

func unauthorized(w http.ResponseWriter) {
	w.Header().Add("WWW-Authenticate", `Bearer realm="sundry admin"`)
	w.Header().Add("WWW-Authenticate", `Basic realm="sundry admin: the token as password", charset="UTF-8"`)
	http.Error(w, "this listener needs Authorization: Bearer with the admin token", http.StatusUnauthorized)
}
