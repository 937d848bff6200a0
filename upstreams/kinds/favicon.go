package kinds

import (
	"context"
	"errors"
	"net/http"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/favicon"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/jq"
)

// FaviconSpec declares a source that looks for the icon of a site on the site
// itself. The parameter url is the site's host. Every connection goes through the
// SSRF guard.
type FaviconSpec struct {
	// At is root (/favicon.ico) or page (the icons that the home page links).
	At string `yaml:"at" required:"true" enum:"root,page"`
}

type iconFinder struct {
	page   bool
	client *http.Client
	env    *upstreams.Environment
}

func compileFavicon(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec FaviconSpec
	c.Decode(section, &spec)
	if spec.At != "root" && spec.At != "page" {
		c.Add("favicon: at: expected root or page, got %q", spec.At)
	}
	return upstreams.Compiled{Fetcher: &iconFinder{page: spec.At == "page", client: httpsource.NewTargetHTTPClient(c.Env, c.Timeout), env: c.Env}, Remote: true}
}

var _ upstreams.Admitter = (*iconFinder)(nil)

// Admit implements upstreams.Admitter: it takes a slot for a call of the target.
func (f *iconFinder) Admit(ctx context.Context, in *upstreams.Input) (func(), error) {
	return f.env.Work.EnterTarget(ctx, jq.AsText(in.Call.Params["url"]))
}

// Fetch implements upstreams.Fetcher.
func (f *iconFinder) Fetch(ctx context.Context, in *upstreams.Input) (*upstreams.Reply, error) {
	host, _ := in.Call.Params["url"].(string)
	finder := &favicon.Finder{Do: &httpsource.TargetClient{HTTP: f.client, Input: in, Context: ctx}, Check: f.env.Guard.CheckURL}
	find := finder.Root
	if f.page {
		find = finder.Page
	}
	icon, err := find(ctx, host)
	switch {
	case errors.Is(err, favicon.ErrNone):
		return nil, &upstreams.Error{Kind: upstreams.Negative, Err: err}
	case err != nil:
		return nil, httpsource.ForbiddenParameter("url", httpsource.ClassifyError(err))
	}
	data := map[string]any{"host": host, "url": icon.URL, "type": icon.Type, "bytes": len(icon.Bytes)}
	return &upstreams.Reply{Body: data, Blob: &upstreams.Blob{Type: icon.Type, Bytes: icon.Bytes}}, nil
}
