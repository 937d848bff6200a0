package secure

import (
	"net"
	"net/http"
	"strings"
)

// Redirect returns a handler that redirects requests to HTTPS at the same host, path and query. names reports whether there is a
// certificate for a host; requests for other hosts are refused. port is that of the TLS listener.
func Redirect(names func(host string) bool, port string) http.Handler {
	if port != "" && port != "443" {
		port = ":" + port
	} else {
		port = ""
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		if !names(host) {
			http.Error(w, "no such host", http.StatusMisdirectedRequest)
			return
		}
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		target := r.RequestURI
		if !strings.HasPrefix(target, "/") { // it has a scheme and a host, or is the target of CONNECT or OPTIONS
			target = "/" + strings.TrimLeft(r.URL.RequestURI(), "/*")
		}
		status := http.StatusPermanentRedirect
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			status = http.StatusMovedPermanently // which the oldest clients know
		}
		http.Redirect(w, r, "https://"+host+port+target, status) //nolint:gosec // names has the host
	})
}

// hostOf returns the name or address in a Host field, in lower case, without port and final dot.
func hostOf(field string) string {
	host, _, err := net.SplitHostPort(field)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(field, "["), "]")
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
