package upstreams

import (
	"context"
	"errors"
	"net/http"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/favicon"
	"sundry/upstreams/jq"
)

// FaviconSpec looks for the icon of the site that the parameter url names, on
// the site itself. Every connection goes through the guard.
type FaviconSpec struct {
	// At is root (/favicon.ico) or page (what the home page links).
	At string `yaml:"at"`
}

type iconFinder struct {
	page   bool
	client *http.Client
	env    *Environment
}

func compileFavicon(c *Compiler, section *yaml.Node) Compiled {
	var spec FaviconSpec
	c.Decode(section, &spec)
	if spec.At != "root" && spec.At != "page" {
		c.Add("favicon: at: %q: want root or page", spec.At)
	}
	return Compiled{Fetcher: &iconFinder{page: spec.At == "page", client: targetClient(c.Env, c.Timeout), env: c.Env}, Remote: true}
}

// Bound implements bounded.
func (f *iconFinder) Bound(ctx context.Context, in *input) (func(), error) {
	return f.env.Work.Visit(ctx, jq.AsText(in.call.Params["url"]))
}

// Fetch implements Fetcher.
func (f *iconFinder) Fetch(ctx context.Context, in *input) (*reply, error) {
	host, _ := in.call.Params["url"].(string)
	finder := &favicon.Finder{Do: &stranger{client: f.client, in: in, ctx: ctx}, Check: f.env.Guard.CheckURL}
	find := finder.Root
	if f.page {
		find = finder.Page
	}
	icon, err := find(ctx, host)
	switch {
	case errors.Is(err, favicon.ErrNone):
		return nil, &Error{Kind: Negative, Err: err}
	case err != nil:
		return nil, refusal("url", sendError(err))
	}
	data := map[string]any{"host": host, "url": icon.URL, "type": icon.Type, "bytes": len(icon.Bytes)}
	return &reply{body: data, blob: &Blob{Type: icon.Type, Bytes: icon.Bytes}}, nil
}
