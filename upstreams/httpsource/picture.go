package httpsource

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"sundry/upstreams"
	"sundry/upstreams/jq"
)

// picture is a compiled second step: fetch what the data points at.
type picture struct {
	url     *jq.Program
	hosts   hostSet
	limit   int64
	timeout time.Duration
	client  *http.Client
	env     *upstreams.Environment
}

// CompilePicture checks the declaration.
func CompilePicture(spec *PictureSpec, c *upstreams.Compiler) *picture {
	p := &picture{
		url: c.Program(&spec.URL), hosts: newHostSet(spec.Hosts, c.Problems),
		limit: defaultMax, timeout: 5 * time.Second, env: c.Env,
	}
	if len(spec.Hosts) == 0 {
		c.Problems.Add(spec.URL.Line, "picture without hosts: want the hosts it may come from, as in hosts: [img.example.org]")
	}
	if spec.Max > 0 {
		p.limit = int64(spec.Max) << 10
	}
	if spec.Timeout > 0 {
		p.timeout = time.Duration(spec.Timeout)
	}
	p.client = client(c.Env, p.hosts)
	return p
}

// Fetch implements Picture: it gets the picture that the data leads to.
func (p *picture) Fetch(ctx context.Context, data any, in *upstreams.Input, vars *jq.Env) (*upstreams.Blob, error) {
	raw, err := p.url.Text(ctx, data, vars)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "picture address: %w", err)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return nil, &upstreams.Error{Kind: upstreams.Malformed, Err: errors.New("picture address is not an http or https URL")}
	}
	name, ok := p.hosts.match(u.Host)
	if !ok {
		return nil, upstreams.Errorf(upstreams.Malformed, "picture on %q, which is not a declared host", u.Host)
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	r, err := upstreams.ThroughBreaker(ctx, p.env.Hosts.Get(name), nil, in, func(ctx context.Context) (*upstreams.Reply, error) { return p.get(ctx, u, in) })
	if err != nil {
		return nil, err
	}
	return r.Blob, nil
}

func (p *picture) get(ctx context.Context, u *url.URL, in *upstreams.Input) (*upstreams.Reply, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, upstreams.Errorf(upstreams.Malformed, "picture address: %w", err)
	}
	req.Header.Set("User-Agent", userAgent)
	in.MarkLoop(req.Header)
	in.Stage("picture request", requestLine(req))
	q := request{client: p.client, limit: p.limit}
	r, body, err := q.send(req, in)
	if err != nil {
		return nil, err
	}
	in.Stage("picture reply", replyLine(r, body))
	r.Blob, r.Broken = Sniff(body)
	return r, nil
}

// LargestPicture is how many bytes it may have.
func (p *picture) LargestPicture() int64 { return p.limit }
