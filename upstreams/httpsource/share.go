package httpsource

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/sharelink"
)

// Bounds of following a short link.
const (
	shareHops    = 3
	shareTimeout = 4 * time.Second
	mobileAgent  = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1"
)

// readShare gives the work that a share link leads to. Only hosts of the
// platforms' own short links are asked, and no more than where they lead.
func (st *step) readShare(ctx context.Context, in *upstreams.Input) (any, error) {
	text, err := st.share.Text(ctx, nil, in.Env)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "step %s: share: %w", st.name, err)
	}
	link, err := sharelink.Parse(text)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "step %s: %w", st.name, err)
	}
	var data any = link.Data()
	if link.Short {
		if data, err = st.resolve(ctx, in, link); err != nil {
			return nil, err
		}
	}
	return data, upstreams.Judge(ctx, st.rules, &upstreams.Reply{Body: data}, in.Env)
}

// resolve gives where a short link leads, or led not long ago.
func (st *step) resolve(ctx context.Context, in *upstreams.Input, link sharelink.Link) (any, error) {
	return st.cached(ctx, in, link.String(), func(ctx context.Context, in *upstreams.Input) (data any, err error) {
		via := &Target{Client: TargetClient(st.env, shareTimeout), In: in, Ctx: ctx}
		for range shareHops {
			if link, err = st.resolveOnce(ctx, via, link); err != nil || !link.Short {
				break
			}
		}
		if err == nil && link.Short {
			err = &upstreams.Error{Kind: upstreams.Negative, Err: errors.New("short links lead to one another")}
		}
		return link.Data(), err
	})
}

// resolveOnce asks a short link's host where it leads.
func (st *step) resolveOnce(ctx context.Context, via *Target, link sharelink.Link) (sharelink.Link, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link.URL, http.NoBody)
	if err != nil {
		return link, upstreams.Errorf(upstreams.Internal, "follow %s: %w", link.URL, err)
	}
	req.Header.Set("User-Agent", mobileAgent)
	next := link
	_, err = upstreams.ThroughBreaker(ctx, st.env.Hosts.Get(req.URL.Host), nil, via.In.Fork(), func(ctx context.Context) (*upstreams.Reply, error) {
		resp, err := via.Do(req.WithContext(ctx))
		if err != nil {
			return nil, Refusal("url", SendError(err))
		}
		_ = resp.Body.Close()
		r := &upstreams.Reply{Status: http.StatusOK, Header: resp.Header}
		if resp.StatusCode/100 != 3 {
			r.Status = resp.StatusCode
			return r, unresolved(r.Status)
		}
		next, err = link.Follow(resp.Header.Get("Location"))
		return r, resolveError(err)
	})
	return next, err
}

// unresolved is what a short link's host says that does not redirect. That it
// has no such link is about the link, and no fault of the host; another source
// may follow it all the same.
func unresolved(status int) error {
	if _, ok := upstreams.ByStatus(status); ok || status == http.StatusNotFound || status == http.StatusGone {
		return &upstreams.Error{Kind: upstreams.Negative, Next: true, Status: status, Err: errors.New("the short link leads nowhere")}
	}
	return nil // judged by its status
}

// resolveError says what it means where a short link leads.
func resolveError(err error) error {
	switch {
	case errors.Is(err, sharelink.ErrChallenge):
		return &upstreams.Error{Kind: upstreams.Limited, Err: err}
	case err != nil:
		return &upstreams.Error{Kind: upstreams.Negative, Err: err}
	}
	return nil
}
