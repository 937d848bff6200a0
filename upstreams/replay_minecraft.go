package upstreams

import (
	"context"
	"fmt"
	"net"

	"sundry/upstreams/minecraft"
)

// dialer gives connections on which a recorded game server answers; the
// recorded body is its status JSON. A status of 0 stands for a server that
// refuses.
func (r *Replay) dialer(in *input) minecraft.Dialer {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		at, _ := ctx.Value(replayKey{}).(replayed)
		if wrong, err := r.inject(ctx, at); wrong.status != 0 || err != nil {
			if err == nil {
				err = fmt.Errorf("injected fault: status %d", wrong.status)
			}
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
		}
		step, err := r.find(at, "tcp://"+in.call.Params["host"].(string), "")
		if err != nil {
			return nil, err
		}
		client, server := net.Pipe()
		go minecraft.ServeStatus(server, step.Body)
		return client, nil
	}
}
