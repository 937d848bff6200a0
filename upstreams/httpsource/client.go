package httpsource

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/lib/guard"
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

// TargetClient sends the requests of one attempt to caller-supplied targets. It
// does not follow redirects. It is not safe for concurrent use.
type TargetClient struct {
	// HTTP is made by NewTargetHTTPClient, and shared by all attempts of a source.
	HTTP *http.Client
	// Attempt whose requests they are.
	Attempt *upstreams.Attempt
	// Context of the attempt. It says to a replay which step the requests belong to.
	Context context.Context //nolint:containedctx // see above
	sent    int
}

// NewTargetHTTPClient makes a client for caller-supplied targets: through the SSRF
// guard, or to recorded exchanges. It does not follow redirects. timeout bounds a
// request and the reading of its reply; 0 means that only the context does.
func NewTargetHTTPClient(env *upstreams.Environment, timeout time.Duration) *http.Client {
	if env.Replay != nil {
		return &http.Client{Transport: env.Replay, CheckRedirect: guard.NoRedirects, Timeout: timeout}
	}
	client := env.Guard.Client(timeout)
	client.Transport = env.Recorded(client.Transport)
	return client
}

// Do sends one request. Its errors are those of net/http, which contain the URL
// (see ClassifyError), and a *guard.ForbiddenError for a target that leads back to
// this service. The caller closes the response's body.
func (c *TargetClient) Do(req *http.Request) (*http.Response, error) {
	position, ok := upstreams.PositionOf(upstreams.AtNth(c.Context, c.sent))
	c.sent++
	if ok {
		req = req.WithContext(upstreams.WithPosition(req.Context(), position))
	}
	c.Attempt.StageOf("request", func() string { return shownRequest(req, nil, c.Attempt) })
	c.Attempt.SendLoopID(req.Header)
	resp, err := c.HTTP.Do(req) //nolint:gosec // NewTargetHTTPClient: its guard refuses addresses that must not be reached
	if err != nil {
		return nil, err
	}
	c.Attempt.Stage("reply", resp.Status)
	if err := c.Attempt.CheckLoop(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// ForbiddenParameter attributes a refusal of the SSRF guard to the parameter that
// named the target. It returns any other error as it is.
func ForbiddenParameter(parameter string, err error) error {
	if forbidden, ok := errors.AsType[*guard.ForbiddenError](err); ok {
		return &upstreams.Error{Kind: upstreams.Forbidden, Parameter: parameter, Err: forbidden}
	}
	return err
}
