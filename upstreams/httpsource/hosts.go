package httpsource

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"sundry/upstreams"
	"sundry/upstreams/declare"
)

// hostSet are the hosts that a source may talk to. "*.example.org" covers the
// subdomains.
type hostSet []string

func newHostSet(hosts []declare.Text, problems *declare.Problems) hostSet {
	var s hostSet
	for _, h := range hosts {
		name := strings.ToLower(h.Value)
		if bare := strings.TrimPrefix(name, "*."); bare == "" || strings.ContainsAny(bare, "*/ @") {
			problems.Add(h.Line, "host %q: want a name such as img.example.org or *.example.org", h.Value)
		}
		s = append(s, name)
	}
	return s
}

// match finds the declared name that covers the host (with its port, where it
// has one).
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

// redirects lets a client follow to declared hosts only: what an upstream says
// must not lead this server to an address of the upstream's choosing.
func (s hostSet) redirects(req *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &upstreams.Error{Kind: upstreams.Malformed, Err: errors.New("too many redirects")}
	}
	if _, ok := s.match(req.URL.Host); !ok {
		return &upstreams.Error{Kind: upstreams.Malformed, Err: fmt.Errorf("redirect to %q, which is not a declared host", req.URL.Host)}
	}
	return nil
}

// client follows redirects to the given hosts only, and keeps no cookies.
func client(env *upstreams.Environment, allowed hostSet) *http.Client {
	return &http.Client{Transport: env.DeclaredHosts(), CheckRedirect: allowed.redirects}
}
