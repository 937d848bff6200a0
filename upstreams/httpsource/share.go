package httpsource

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/lib/sharelink"
)

// Bounds of resolving a short link.
const (
	maxShareRedirects = 3
	shareTimeout      = 4 * time.Second
)

// shareUserAgent is the agent that the host of a short link redirects.
func (st *step) shareUserAgent(link sharelink.Link) string {
	if link.ScriptedForBrowsers() {
		return st.env.Outgoing().Agents.Own
	}
	return phoneAgent
}

// readShare returns the data of the work that a share link names. Requests go only
// to the platforms' own short-link hosts, and only for the address they redirect
// to.
func (st *step) readShare(ctx context.Context, a *upstreams.Attempt) (any, error) {
	text, err := st.shareLink.Text(ctx, nil, a.Env)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "step %s: share: %w", st.name, err)
	}
	link, err := sharelink.Parse(text)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "step %s: %w", st.name, err)
	}
	var data any = link.Data()
	if link.Short {
		if data, err = st.resolve(ctx, a, link); err != nil {
			return nil, err
		}
	}
	return data, upstreams.Judge(ctx, st.rules, &upstreams.Reply{Body: data}, a.Env)
}

// resolve returns the data of the work that a short link redirects to, which may
// be a cached step result.
func (st *step) resolve(ctx context.Context, a *upstreams.Attempt, link sharelink.Link) (any, error) {
	return st.cached(ctx, a, link.URL, func(ctx context.Context, a *upstreams.Attempt) (data any, err error) {
		client := &TargetClient{Attempt: a, Context: ctx}
		for range maxShareRedirects {
			if link, err = st.resolveOnce(ctx, client, link); err != nil || !link.Short {
				break
			}
		}
		if err == nil && link.Short {
			err = &upstreams.Error{Kind: upstreams.Negative, Err: fmt.Errorf("the short link leads to more than %d others", maxShareRedirects)}
		}
		return link.Data(), err
	})
}

// shareClient is guarded like that for any target, or goes through the source's
// proxy. That is safe here, and for no other target: the hosts of short links are
// those of a table.
func (st *step) shareClient(req *http.Request) *http.Client {
	if st.env.Replay != nil || !st.env.Proxied(st.endpoint, st.source, req) {
		return st.guarded
	}
	return st.proxied
}

// compileShare makes the clients once: each has connections of its own.
func (st *step) compileShare() {
	st.guarded = NewTargetHTTPClient(st.env, shareTimeout)
	st.proxied = &http.Client{Transport: st.env.DeclaredHosts(st.endpoint, st.source), CheckRedirect: guard.NoRedirects, Timeout: shareTimeout}
}

// resolveOnce asks the host of a short link for the address it redirects to.
func (st *step) resolveOnce(ctx context.Context, client *TargetClient, link sharelink.Link) (sharelink.Link, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, link.URL, http.NoBody)
	if err != nil {
		return link, upstreams.Errorf(upstreams.Internal, "resolve %s: %w", link.URL, err)
	}
	req.Header.Set("User-Agent", st.shareUserAgent(link))
	client.HTTP = st.shareClient(req)
	next := link
	_, err = upstreams.Send(ctx, st.env.Hosts.Get(req.URL.Host), nil, client.Attempt.Fork(), func(ctx context.Context) (*upstreams.Reply, error) {
		resp, err := client.Do(req.WithContext(ctx))
		if err != nil {
			return nil, ForbiddenParameter("url", ClassifyError(err))
		}
		_ = resp.Body.Close()
		r := &upstreams.Reply{Status: http.StatusOK, Header: resp.Header}
		if resp.StatusCode/100 != 3 {
			r.Status = resp.StatusCode
			return r, unresolvedError(r.Status)
		}
		next, err = link.Resolve(resp.Header.Get("Location"))
		return r, resolveError(err)
	})
	return next, err
}

// unresolvedError is the error for a reply of a short link's host that is not a
// redirect. An unknown link is a negative answer, not a failure of the host; another
// source may still resolve it.
func unresolvedError(status int) error {
	if _, ok := upstreams.ByStatus(status); ok || status == http.StatusNotFound || status == http.StatusGone {
		return &upstreams.Error{Kind: upstreams.Negative, Next: true, Status: status, Err: errors.New("the short link does not redirect")}
	}
	return nil // judged by its status
}

// resolveError classifies an error of the address that a short link redirects to: a
// challenge, or no link of a work.
func resolveError(err error) error {
	switch {
	case errors.Is(err, sharelink.ErrChallenge):
		return &upstreams.Error{Kind: upstreams.Limited, Err: err}
	case err != nil:
		return &upstreams.Error{Kind: upstreams.Negative, Err: err}
	}
	return nil
}
