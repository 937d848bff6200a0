package httpsource

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// origin is the scheme and host that requests go to.
type origin struct {
	text  string        // as in https://api.example.org
	blank *http.Request // a GET of it; nil: it was not compiled
}

func newOrigin(base *url.URL) origin {
	o := origin{text: base.String()}
	if req, err := http.NewRequest(http.MethodGet, o.text, http.NoBody); err == nil { //nolint:noctx // it is never sent
		o.blank = req
	}
	return o
}

// request makes a request for a path and a query, which are escaped. It does not parse
// them if they are plain.
func (o origin) request(ctx context.Context, method, path, query string, body []byte) (*http.Request, error) {
	if o.blank != nil && body == nil && method == http.MethodGet && isPlainPath(path) && isPlainQuery(query) {
		req, u := o.blank.WithContext(ctx), *o.blank.URL
		u.Path, u.RawQuery = path, query
		req.URL, req.Header = &u, make(http.Header, 8)
		return req, nil
	}
	address := o.text + path
	if query != "" {
		address += "?" + query
	}
	return http.NewRequestWithContext(ctx, method, address, bodyReader(body))
}

// isPlainPath reports whether a path is the same escaped and not.
func isPlainPath(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.ContainsFunc(path, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '/' && r != '-' && r != '_' && r != '.' && r != '~'
	})
}

// isPlainQuery reports whether all of it belongs to the query of an address.
func isPlainQuery(query string) bool {
	return !strings.ContainsFunc(query, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' })
}

// bodyReader returns a type that net/http can rewind to send a request again.
func bodyReader(body []byte) io.Reader {
	if body == nil {
		return http.NoBody
	}
	return bytes.NewReader(body)
}
