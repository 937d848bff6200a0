package upstreams

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sundry/upstreams/declare"
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

func compileFavicon(spec *FaviconSpec, line int, timeout time.Duration, env *Environment, problems *declare.Problems) fetcher {
	if spec.At != "root" && spec.At != "page" {
		problems.Add(line, "favicon: at: %q: want root or page", spec.At)
	}
	return &iconFinder{page: spec.At == "page", client: targetClient(env, timeout), env: env}
}

// bound implements bounded.
func (f *iconFinder) bound(ctx context.Context, in *input) (func(), error) {
	return f.env.Work.Visit(ctx, jq.AsText(in.call.Params["url"]))
}

// fetch implements fetcher.
func (f *iconFinder) fetch(ctx context.Context, in *input) (*reply, error) {
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
