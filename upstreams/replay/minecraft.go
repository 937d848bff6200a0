package replay

import (
	"context"
	"errors"
	"fmt"
	"net"

	"sundry/upstreams"
	"sundry/upstreams/minecraft"
)

// DialContext gives a connection on which a recorded game server answers; the
// recorded body is its status JSON. A status of 0 stands for a server that
// refuses.
func (r *Replay) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	at, ok := upstreams.PositionOf(ctx)
	if !ok {
		return nil, errors.New("replay: connection of no source")
	}
	if wrong, err := r.inject(ctx, at); wrong.status != 0 || err != nil {
		if err == nil {
			err = fmt.Errorf("injected fault: status %d", wrong.status)
		}
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	name, _ := at.Call.Params["host"].(string)
	step, err := r.find(at, "tcp://"+name, "")
	if err != nil {
		return nil, err
	}
	client, server := net.Pipe()
	go minecraft.ServeStatus(server, step.Body)
	return client, nil
}
