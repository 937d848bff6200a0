package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"sundry/cache"
	"sundry/cache/entry"
	"sundry/cache/policy"
	"sundry/upstreams"
)

// PictureProxy serves the picture that a form's redirect leads to, in place of
// the redirect. The link is picked for every request; each picture has a cache
// entry of its own.
type PictureProxy struct {
	// Policy of the pictures.
	Policy policy.Policy
	form   *Form // of the chain that fetches them
}

// joinPictureProxy gives a chain that fetches pictures its one form.
func (e *Endpoint) joinPictureProxy(s *endpointSpec, c *Chain) {
	for i, f := range e.Forms {
		if i >= len(s.Forms) || s.Forms[i].Through == nil || s.Forms[i].Through.Chain != c.Name {
			continue
		}
		picture := &Form{Name: f.Name, Kind: "picture", Chain: c, Index: len(c.Forms)}
		c.Forms = append(c.Forms, picture)
		p := e.Policy
		p.TTL, p.Until, p.Class, p.Local = time.Duration(s.Forms[i].Through.TTL), nil, policy.Keyed, true
		f.PictureProxy = &PictureProxy{Policy: p, form: picture}
	}
}

// Pictures names the cache space of the pictures that the endpoint's links lead to.
func (e *Endpoint) Pictures() string { return e.Name + "/pictures" }

// fetchesPictures reports whether a chain fetches pictures for a form of this
// endpoint.
func (e *Endpoint) fetchesPictures(c *Chain) bool {
	return slices.ContainsFunc(e.Forms, func(f *Form) bool { return f.PictureProxy != nil && f.PictureProxy.form.Chain == c })
}

// redirectOnly turns picture proxies (through) into plain redirects.
func (s *endpointSpec) redirectOnly() {
	for i := range s.Forms {
		if t := s.Forms[i].Through; t != nil {
			delete(s.Chains, t.Chain)
			s.Forms[i].Through = nil
		}
	}
}

// PictureFetch loads the picture that a link leads to; it is what the cache
// calls.
type PictureFetch struct {
	of       *PictureProxy
	endpoint string
	link     string
}

// PictureFetch is for a link that the form's answer held. The form must have a
// PictureProxy.
func (in *Input) PictureFetch(link string) *PictureFetch {
	return &PictureFetch{of: in.Form.PictureProxy, endpoint: in.Endpoint.Name, link: link}
}

// Key is the picture's identity.
func (p *PictureFetch) Key() string {
	sum := sha256.Sum256([]byte(p.link))
	b := append(append(make([]byte, 0, 96), p.of.form.Chain.prefix...), ":#"...)
	return string(hex.AppendEncode(b, sum[:16]))
}

var _ cache.Loader = (*PictureFetch)(nil)

// Load implements cache.Loader.
func (p *PictureFetch) Load(ctx context.Context, hasCopy bool) (entry.Content, error) {
	call := upstreams.Call{Endpoint: p.endpoint, Params: map[string]any{"link": p.link}, Now: time.Now()}
	answer, err := p.of.form.Chain.Do(ctx, &call, hasCopy, nil)
	if err != nil {
		return entry.Content{}, err
	}
	body, err := picture(answer.Blob)
	if err != nil {
		return entry.Content{}, err
	}
	forms := make([]entry.Form, p.of.form.Index+1)
	forms[p.of.form.Index] = entry.Form{*body}
	return entry.Content{Source: answer.Source, Forms: forms}, nil
}

// FormIndex is the form's place in the entry of its chain.
func (p *PictureFetch) FormIndex() int { return p.of.form.Index }
