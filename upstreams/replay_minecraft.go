package upstreams

import (
	"context"
	"net"

	"sundry/upstreams/minecraft"
)

// dialer gives connections on which a recorded game server answers; the
// recorded body is its status JSON. A status of 0 stands for a server that
// refuses.
func (r *Replay) dialer(in *input) minecraft.Dialer {
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		at, _ := ctx.Value(replayKey{}).(replayed)
		if status, err := r.inject(ctx, at); status != 0 || err != nil {
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
