package upstreams

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/jq"
	"sundry/upstreams/shortlink"
)

// ShortlinkSpec follows the link in the parameter url to where it leads. Every
// connection goes through the guard.
type ShortlinkSpec struct{}

type linkFollower struct {
	client *http.Client
	env    *Environment
}

func compileShortlink(c *Compiler, section *yaml.Node) Compiled {
	c.Decode(section, &ShortlinkSpec{})
	return Compiled{Fetcher: &linkFollower{client: targetClient(c.Env, c.Timeout), env: c.Env}, Remote: true}
}

// Bound implements bounded. Where the link leads on is bounded in all.
func (f *linkFollower) Bound(ctx context.Context, in *input) (func(), error) {
	name := jq.AsText(in.call.Params["url"])
	if u, err := url.Parse(name); err == nil {
		name = u.Hostname()
	}
	return f.env.Work.Visit(ctx, name)
}

// Fetch implements Fetcher.
func (f *linkFollower) Fetch(ctx context.Context, in *input) (*reply, error) {
	link, _ := in.call.Params["url"].(string)
	follower := &shortlink.Follower{
		Do: &stranger{client: f.client, in: in, ctx: ctx}, Check: f.env.Guard.CheckURL, OwnHosts: f.env.OwnHosts(),
	}
	result, err := follower.Follow(ctx, link)
	switch {
	case errors.Is(err, shortlink.ErrGone):
		return nil, &Error{Kind: Negative, Err: err}
	case errors.Is(err, shortlink.ErrSelf):
		return nil, &Error{Kind: Forbidden, Parameter: "url", Err: err}
	case err != nil:
		return nil, refusal("url", sendError(err))
	}
	return &reply{body: result.Data()}, nil
}
