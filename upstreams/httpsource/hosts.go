package httpsource

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"sundry/upstreams"
	"sundry/upstreams/declare"
)

// hostSet are the hosts that a source may send requests to. "*.example.org" means
// all subdomains of example.org.
type hostSet []string

func newHostSet(hosts []declare.Text, problems *declare.Problems) hostSet {
	var s hostSet
	for _, h := range hosts {
		name := strings.ToLower(h.Value)
		if bare := strings.TrimPrefix(name, "*."); bare == "" || strings.ContainsAny(bare, "*/ @") {
			problems.Add(h.Line, "hosts: expected a name such as img.example.org or *.example.org, got %q", h.Value)
		}
		s = append(s, name)
	}
	return s
}

// match finds the declared name that matches a host, which includes its port if
// the URL has one.
func (s hostSet) match(host string) (declared string, ok bool) {
	host = strings.ToLower(host)
	for _, h := range s {
		if h == host {
			return h, true
		}
		if domain, wild := strings.CutPrefix(h, "*"); wild && strings.HasSuffix(host, domain) {
			return h, true
		}
	}
	return "", false
}

// checkRedirect lets a client follow redirects to declared hosts only: an upstream
// must not choose which addresses this server connects to.
func (s hostSet) checkRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &upstreams.Error{Kind: upstreams.Malformed, Err: errors.New("too many redirects")}
	}
	if _, ok := s.match(req.URL.Host); !ok {
		return &upstreams.Error{Kind: upstreams.Malformed, Err: fmt.Errorf("redirect to %q, which is not a declared host", req.URL.Host)}
	}
	return nil
}

// newClient makes a client that follows redirects to the given hosts only, and
// keeps no cookies.
func newClient(c *upstreams.Compiler, allowed hostSet) *http.Client {
	return &http.Client{Transport: c.Env.DeclaredHosts(c.Endpoint, c.Source), CheckRedirect: allowed.checkRedirect}
}

// noRedirects makes a client return redirects in place of following them.
func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
