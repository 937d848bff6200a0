package httpsource

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/lib/guard"
)

// TargetClient sends the requests of one attempt to caller-supplied targets. It
// does not follow redirects. It is not safe for concurrent use.
type TargetClient struct {
	// HTTP is made by NewTargetHTTPClient, and shared by all attempts of a source.
	HTTP *http.Client
	// Input of the attempt.
	Input *upstreams.Input
	// Context of the attempt. It says to a replay which step the requests belong to.
	Context context.Context //nolint:containedctx // see above
	sent    int
}

// NewTargetHTTPClient makes a client for caller-supplied targets: through the SSRF
// guard, or to recorded exchanges. It does not follow redirects. timeout bounds a
// request and the reading of its reply; 0 means that only the context does.
func NewTargetHTTPClient(env *upstreams.Environment, timeout time.Duration) *http.Client {
	if env.Replay != nil {
		return &http.Client{Transport: env.Replay, CheckRedirect: noRedirects, Timeout: timeout}
	}
	client := env.Guard.Client(timeout, 0)
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
	c.Input.StageOf("request", func() string { return requestLine(req) })
	c.Input.MarkLoop(req.Header)
	resp, err := c.HTTP.Do(req) //nolint:gosec // NewTargetHTTPClient: its guard refuses addresses that must not be reached
	if err != nil {
		return nil, err
	}
	c.Input.Stage("reply", resp.Status)
	if err := c.Input.CheckLoop(resp); err != nil {
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
