package httpsource

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/guard"
)

// Target sends requests to hosts that callers name: through the guard, or to
// a replay. It follows no redirects. Make one for each attempt.
type Target struct {
	Client *http.Client
	sent   int
	In     *upstreams.Input
	Ctx    context.Context //nolint:containedctx // the attempt's, whose step a replay must know
}

// TargetClient makes the client that such requests of a source go through.
func TargetClient(env *upstreams.Environment, timeout time.Duration) *http.Client {
	if env.Replay != nil {
		return &http.Client{Transport: env.Replay, CheckRedirect: stay, Timeout: timeout}
	}
	client := env.Guard.Client(timeout, 0)
	client.Transport = env.Recorded(client.Transport)
	return client
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Do sends one request of the attempt.
func (s *Target) Do(req *http.Request) (*http.Response, error) {
	at := upstreams.AtNth(s.Ctx, s.sent)
	s.sent++
	if p, ok := upstreams.PositionOf(at); ok {
		req = req.WithContext(upstreams.WithPosition(req.Context(), p))
	}
	s.In.Stage("request", requestLine(req))
	s.In.MarkLoop(req.Header)
	resp, err := s.Client.Do(req) //nolint:gosec // TargetClient: its guard refuses addresses that must not be reached
	if err != nil {
		return nil, err
	}
	s.In.Stage("reply", resp.Status)
	if err := s.In.CheckLoop(resp); err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// Refusal turns the guard's refusal of what a parameter leads to into a
// definite error, and passes any other error by.
func Refusal(parameter string, err error) error {
	if forbidden, ok := errors.AsType[*guard.ForbiddenError](err); ok {
		return &upstreams.Error{Kind: upstreams.Forbidden, Parameter: parameter, Err: forbidden}
	}
	return err
}
