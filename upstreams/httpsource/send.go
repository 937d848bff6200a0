package httpsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"sundry/upstreams"
	"sundry/upstreams/webpage"
)

// send does the exchange and reads what fits under the cap.
func (q *request) send(req *http.Request, in *upstreams.Input) (*upstreams.Reply, []byte, error) {
	resp, err := q.client.Do(req)
	if err != nil {
		return nil, nil, SendError(err)
	}
	defer func() {
		// Reading a little more lets the connection be used again.
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10)
		_ = resp.Body.Close()
	}()
	body, err := readCapped(&metered{ctx: req.Context(), body: resp.Body, room: &in.Memory}, q.limit)
	if err != nil {
		return nil, nil, SendError(err)
	}
	return &upstreams.Reply{Status: resp.StatusCode, Header: resp.Header}, body, nil
}

// SendError classifies, and drops the URL that net/http puts into its errors:
// it may hold a secret or a caller's input.
func SendError(err error) error {
	err = webpage.Cause(err)
	if typed, ok := errors.AsType[*upstreams.Error](err); ok {
		return typed
	}
	kind := upstreams.KindOf(err)
	if kind == upstreams.Internal && !errors.Is(err, context.Canceled) {
		kind = upstreams.Unavailable // every other way in which an exchange can end
	}
	return &upstreams.Error{Kind: kind, Err: err}
}

func requestLine(r *http.Request) string { return r.Method + " " + r.URL.Redacted() }

func replyLine(r *upstreams.Reply, body []byte) string {
	return fmt.Sprintf("%d %s, %s, %d bytes", r.Status, http.StatusText(r.Status), r.Header.Get("Content-Type"), len(body))
}
