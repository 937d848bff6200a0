package httpsource

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/jq"
)

// picture is a compiled PictureSpec.
type picture struct {
	url      *jq.Program
	hosts    hostSet
	maxBytes int64
	timeout  time.Duration
	client   *http.Client
	agent    agent
	env      *upstreams.Environment
}

// CompilePicture compiles the declaration of a picture. Mistakes go to the
// compiler's problems; what comes back must not be used then.
func CompilePicture(spec *PictureSpec, c *upstreams.Compiler) *picture {
	p := &picture{
		url: c.OfReply(&spec.URL), hosts: newHostSet(spec.Hosts, c.Problems),
		maxBytes: cmp.Or(int64(spec.Max)<<10, defaultMaxBytes), timeout: cmp.Or(time.Duration(spec.Timeout), pictureTimeout),
		agent: agent{c.Env, spec.Agent}, env: c.Env,
	}
	if len(spec.Hosts) == 0 {
		c.Problems.Add(spec.URL.Line, "picture: expected the hosts that it may come from, for example hosts: [img.example.org]")
	}
	p.client = newClient(c, p.hosts)
	return p
}

// Fetch implements upstreams.Picture. It fetches the picture from its address in
// the data, through the breaker of its host.
func (p *picture) Fetch(ctx context.Context, data any, a *upstreams.Attempt, vars *jq.Env) (*upstreams.Blob, error) {
	address, err := p.url.Text(ctx, data, vars)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "picture address: %w", err)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, &upstreams.Error{Kind: upstreams.Malformed, Err: errors.New("picture address is not an http or https URL")}
	}
	name, ok := p.hosts.match(u.Host)
	if !ok {
		return nil, upstreams.Errorf(upstreams.Malformed, "picture address: %q is not a declared host", u.Host)
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	r, err := upstreams.Send(ctx, p.env.Hosts.Get(name), nil, a, func(ctx context.Context) (*upstreams.Reply, error) { return p.get(ctx, u, a) })
	if err != nil {
		return nil, err
	}
	return r.Blob, nil
}

func (p *picture) get(ctx context.Context, u *url.URL, a *upstreams.Attempt) (*upstreams.Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "picture address: %w", err)
	}
	req.Header.Set("User-Agent", p.agent.value())
	a.SendLoopID(req.Header)
	a.StageOf("picture request", func() string { return shownRequest(req, nil, a) })
	f := fetcher{client: p.client, maxBytes: p.maxBytes}
	r, body, _, err := f.send(req, a)
	if err != nil {
		return nil, err
	}
	a.StageOf("picture reply", func() string { return shownReply(r, body, a) })
	r.Blob, r.Broken = Sniff(body)
	return r, nil
}

// LargestPicture is the greatest size of the picture, in bytes.
func (p *picture) LargestPicture() int64 { return p.maxBytes }
