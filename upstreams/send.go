package upstreams

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"sundry/upstreams/webpage"
)

// send does the exchange and reads what fits under the cap.
func (g *getter) send(req *http.Request, in *input) (*reply, []byte, error) {
	resp, err := g.client.Do(req)
	if err != nil {
		return nil, nil, sendError(err)
	}
	defer func() {
		// Reading a little more lets the connection be used again.
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
		_ = resp.Body.Close()
	}()
	body, err := readCapped(&metered{ctx: req.Context(), body: resp.Body, room: &in.room}, g.limit)
	if err != nil {
		return nil, nil, sendError(err)
	}
	return &reply{status: resp.StatusCode, header: resp.Header}, body, nil
}

// sendError classifies, and drops the URL that net/http puts into its errors:
// it may hold a secret or a caller's input.
func sendError(err error) error {
	err = webpage.Cause(err)
	if typed, ok := errors.AsType[*Error](err); ok {
		return typed
	}
	kind := KindOf(err)
	if kind == Internal && !errors.Is(err, context.Canceled) {
		kind = Unavailable // every other way in which an exchange can end
	}
	return &Error{Kind: kind, Err: err}
}

func requestLine(r *http.Request) string { return r.Method + " " + r.URL.Redacted() }

func (r *reply) line(body []byte) string {
	return fmt.Sprintf("%d %s, %s, %d bytes", r.status, http.StatusText(r.status), r.header.Get("Content-Type"), len(body))
}
