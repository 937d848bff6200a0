package kinds

import (
	"context"
	"errors"
	"net/http"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/lib/shortlink"
)

// ShortlinkSpec declares a source that follows the redirects of the link in the
// parameter url to their end. Every connection goes through the SSRF guard.
type ShortlinkSpec struct{}

type linkFollower struct {
	client *http.Client
	env    *upstreams.Environment
}

func compileShortlink(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	c.Decode(section, &ShortlinkSpec{})
	f := &linkFollower{client: httpsource.NewTargetHTTPClient(c.Env, c.Timeout), env: c.Env}
	return upstreams.Compiled{Fetch: f.follow, Admit: targetSlot(c.Env, "url"), Remote: true}
}

func (f *linkFollower) follow(ctx context.Context, a *upstreams.Attempt) (*upstreams.Reply, error) {
	link, _ := a.Call.Params["url"].(string)
	resolver := &shortlink.Resolver{
		Do: &httpsource.TargetClient{HTTP: f.client, Attempt: a, Context: ctx}, Check: f.env.Guard.CheckURL, OwnHosts: f.env.Outgoing().OwnHosts,
	}
	result, err := resolver.Resolve(ctx, link)
	switch {
	case errors.Is(err, shortlink.ErrGone):
		return nil, &upstreams.Error{Kind: upstreams.Negative, Err: err}
	case errors.Is(err, shortlink.ErrSelf):
		return nil, &upstreams.Error{Kind: upstreams.Forbidden, Parameter: "url", Err: err}
	case err != nil:
		return nil, httpsource.ForbiddenParameter("url", httpsource.ClassifyError(err))
	}
	return &upstreams.Reply{Body: result.Data()}, nil
}
