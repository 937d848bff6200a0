package httpsource

import (
	"net/http"

	"sundry/upstreams/lib/webpage"
)

// do sends a request as the client does, which copies its headers in case there is a
// redirect. Only where there is one, the client goes on with it.
func do(client *http.Client, req *http.Request) (*http.Response, error) {
	resp, err := client.Transport.RoundTrip(req)
	if err != nil || !webpage.IsRedirect(resp.StatusCode) {
		return resp, err
	}
	following := *client
	following.Transport = &redirected{first: resp, next: client.Transport}
	return following.Do(req)
}

// redirected gives its first reply to the first request, and sends the others.
type redirected struct {
	first *http.Response
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (r *redirected) RoundTrip(req *http.Request) (*http.Response, error) {
	if first := r.first; first != nil {
		r.first = nil
		return first, nil
	}
	return r.next.RoundTrip(req)
}
