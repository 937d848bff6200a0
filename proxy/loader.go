package proxy

import (
	"context"

	"sundry/cache"
	"sundry/upstreams/catalog"
	"sundry/upstreams/loop"
)

// loader fills from a request's input. It is a pointer in disguise, so that a
// hit, which needs none, pays nothing for it.
type loader struct{ x *exchange }

// Load implements cache.Loader. The fill may outlive the request: it reads the
// input and the headers, which nobody writes any more, and leaves the
// connection alone.
func (l loader) Load(ctx context.Context, covered bool) (cache.Content, error) {
	fill := catalog.Fill{
		Input: l.x.in, Trace: traceOf(l.x), Client: l.x.caller, Loop: loop.Of(l.x.r.Header[loop.Header]),
	}
	return fill.Load(ctx, covered)
}
