package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"sundry/cache"
	"sundry/upstreams"
)

// Through brings the picture that a form's redirect leads to: the link is
// picked for every request, the pictures are kept each for itself.
type Through struct {
	// Policy of the pictures.
	Policy cache.Policy
	form   *Form // of the chain that fetches them
}

// joinThrough gives a chain that fetches pictures its one form.
func (e *Endpoint) joinThrough(s *endpointSpec, c *Chain) {
	for i, f := range e.Forms {
		if i >= len(s.Forms) || s.Forms[i].Through == nil || s.Forms[i].Through.Chain != c.Name {
			continue
		}
		picture := &Form{Name: f.Name, Kind: "picture", Chain: c, index: len(c.Forms)}
		c.Forms = append(c.Forms, picture)
		policy := e.Policy
		policy.TTL, policy.Until, policy.Class, policy.Local = time.Duration(s.Forms[i].Through.TTL), nil, cache.Keyed, true
		f.Through = &Through{Policy: policy, form: picture}
	}
}

// Pictures names the space of the pictures that the endpoint's links lead to.
func (e *Endpoint) Pictures() string { return e.Name + "/pictures" }

// fetchesPictures tells a chain that does, for a form of this endpoint.
func (e *Endpoint) fetchesPictures(c *Chain) bool {
	return slices.ContainsFunc(e.Forms, func(f *Form) bool { return f.Through != nil && f.Through.form.Chain == c })
}

// redirectOnly makes plain redirects of forms that bring what they lead to.
func (s *endpointSpec) redirectOnly() {
	for i := range s.Forms {
		if t := s.Forms[i].Through; t != nil {
			delete(s.Chains, t.Chain)
			s.Forms[i].Through = nil
		}
	}
}

// Picture is the input of the fetch of what a link leads to.
type Picture struct {
	of   *Through
	call upstreams.Call
	link string
}

// Picture makes the input for a link that the form's answer held. The form
// must have a Through.
func (in *Input) Picture(link string) *Picture {
	call := upstreams.Call{Endpoint: in.endpoint.Name, Params: map[string]any{"link": link}}
	return &Picture{of: in.Form.Through, call: call, link: link}
}

// Key is the picture's identity.
func (p *Picture) Key() string {
	sum := sha256.Sum256([]byte(p.link))
	return p.of.form.Chain.prefix + ":#" + hex.EncodeToString(sum[:16])
}

var _ cache.Loader = (*Picture)(nil)

// Load implements cache.Loader.
func (p *Picture) Load(ctx context.Context, covered bool) (cache.Content, error) {
	call := p.call
	call.Now = time.Now()
	answer, err := p.of.form.Chain.Do(ctx, &call, covered, nil)
	if err != nil {
		return cache.Content{}, err
	}
	body, err := picture(answer.Blob)
	if err != nil {
		return cache.Content{}, err
	}
	forms := make([]cache.Form, p.of.form.index+1)
	forms[p.of.form.index] = cache.Form{*body}
	return cache.Content{Source: answer.Source, Forms: forms}, nil
}

// FormIndex is the form's place in the entry of its chain.
func (p *Picture) FormIndex() int { return p.of.form.index }
