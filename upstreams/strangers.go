package upstreams

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sundry/upstreams/guard"
)

// stranger sends requests to hosts that callers name: through the guard, or to
// a replay. It follows no redirects. Make one for each attempt.
type stranger struct {
	client *http.Client
	sent   int
	in     *input
	ctx    context.Context //nolint:containedctx // the attempt's, whose step a replay must know
}

// targetClient makes the client that such requests of a source go through.
func targetClient(env *Environment, timeout time.Duration) *http.Client {
	if env.Replay != nil {
		return &http.Client{Transport: env.Replay, CheckRedirect: stay, Timeout: timeout}
	}
	client := env.Guard.Client(timeout, 0)
	client.Transport = env.witnessed(client.Transport)
	return client
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Do sends one request of the attempt.
func (s *stranger) Do(req *http.Request) (*http.Response, error) {
	at := atNth(s.ctx, s.sent)
	s.sent++
	if p, ok := PositionOf(at); ok {
		req = req.WithContext(withPosition(req.Context(), p))
	}
	s.in.stage("request", requestLine(req))
	s.in.bear(req.Header)
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	s.in.stage("reply", resp.Status)
	if err := s.in.cameBack(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// refusal turns the guard's refusal of what a parameter leads to into a
// definite error, and passes any other error by.
func refusal(parameter string, err error) error {
	if forbidden, ok := errors.AsType[*guard.ForbiddenError](err); ok {
		return &Error{Kind: Forbidden, Parameter: parameter, Err: forbidden}
	}
	return err
}
