package kinds

import (
	"context"
	"errors"
	"net/http"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams"
	"sundry/upstreams/httpsource"
	"sundry/upstreams/lib/favicon"
)

// FaviconSpec declares a source that looks for the icon of a site on the site
// itself, or draws one in its place. The parameter url is the site's host; size, which
// may be absent, is the wanted width. Every connection goes through the SSRF guard.
type FaviconSpec struct {
	// At is root (/favicon.ico), page (the icons that the home page links) or letter
	// (the first letter of the host, drawn here).
	At string `yaml:"at" required:"true" enum:"root,page,letter"`
}

type iconFinder struct {
	page   bool
	client *http.Client
	env    *upstreams.Environment
}

func compileFavicon(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec FaviconSpec
	c.Decode(section, &spec)
	switch spec.At {
	case "root", "page":
	case "letter":
		return compileDrawing(c, "favicon", "png", drawLetter)
	case "":
		c.Add("favicon: at: expected root, page or letter")
	}
	f := &iconFinder{page: spec.At == "page", client: httpsource.NewTargetHTTPClient(c.Env, c.Timeout), env: c.Env}
	return upstreams.Compiled{Fetch: f.find, Admit: targetSlot(c.Env, "url"), Remote: true}
}

func (f *iconFinder) find(ctx context.Context, a *upstreams.Attempt) (*upstreams.Reply, error) {
	host, _ := a.Call.Params["url"].(string)
	finder := &favicon.Finder{Do: &httpsource.TargetClient{HTTP: f.client, Attempt: a, Context: ctx}, Check: f.env.Guard.CheckURL}
	finder.Size, _ = a.Call.Params["size"].(int)
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
	blob := &upstreams.Blob{Type: icon.Type, Bytes: icon.Bytes}
	data := httpsource.FactsOf(blob)
	data["host"], data["url"] = host, icon.URL
	return &upstreams.Reply{Body: data, Blob: blob}, nil
}

// letterSize is the width of a drawn icon where none is wanted.
const letterSize = 64

// drawLetter draws an icon for a site that has none.
func drawLetter(_ context.Context, a *upstreams.Attempt) (*upstreams.Reply, error) {
	host, _ := a.Call.Params["url"].(string)
	size, ok := a.Call.Params["size"].(int)
	if !ok {
		size = letterSize
	}
	b, err := favicon.Letter(host, size)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Internal, "draw an icon: %w", err)
	}
	blob := &upstreams.Blob{Type: "image/png", Bytes: b}
	data := httpsource.FactsOf(blob)
	data["host"] = host
	return &upstreams.Reply{Body: data, Blob: blob}, nil
}
