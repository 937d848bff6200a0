package kinds

import (
	"cmp"
	"context"
	"errors"
	"net"
	"time"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/lib/guard"
	"sundry/upstreams/lib/minecraft"
)

// MinecraftSpec declares a source that pings the game server in the parameter host.
// Every connection goes through the SSRF guard.
type MinecraftSpec struct {
	// Assume answers "offline" without a connection: for the last source of a chain,
	// after the others failed.
	Assume bool `yaml:"assume_offline"`
}

type pinger struct {
	assume bool
	env    *upstreams.Environment
}

func compileMinecraft(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	var spec MinecraftSpec
	c.Decode(section, &spec)
	out := upstreams.Compiled{Fetch: (&pinger{assume: spec.Assume, env: c.Env}).ping, Remote: !spec.Assume}
	if !spec.Assume {
		out.Admit = targetSlot(c.Env, "host")
	}
	return out
}

// ping asks the server. One that refuses the connection, or whose
// name does not exist, is offline, which is an answer. Any other failure is an error:
// the next source may know more.
func (p *pinger) ping(ctx context.Context, a *upstreams.Attempt) (*upstreams.Reply, error) {
	host, _ := a.Call.Params["host"].(string)
	target, err := minecraft.ParseTarget(host)
	if err != nil {
		return nil, upstreams.Mistaken("host", err, words.Of(err, notValid()))
	}
	if p.assume {
		return offline(target, cmp.Or(a.Env.Cause, "timeout")), nil
	}
	if !minecraft.AllowedPort(target.Port) {
		return nil, p.forbidden(minecraft.ErrPort)
	}
	status, err := p.client().Ping(ctx, target)
	if err != nil {
		return p.failed(target, err)
	}
	data := status.Data()
	data["host"] = target.Host
	return &upstreams.Reply{Body: data}, nil
}

// client connects through the SSRF guard, or to a recorded server.
func (p *pinger) client() *minecraft.Pinger {
	if p.env.Replay != nil {
		return &minecraft.Pinger{Dial: p.env.Replay.DialContext}
	}
	srv := func(ctx context.Context, host string) (string, uint16, error) {
		return p.env.Guard.LookupSRV(ctx, "minecraft", "tcp", host)
	}
	return &minecraft.Pinger{Dial: p.env.Guard.Dialer(minecraft.AllowedPort), SRV: srv, Timeout: 5 * time.Second}
}

// failed decides whether a failed ping is an answer.
func (p *pinger) failed(target minecraft.Target, err error) (*upstreams.Reply, error) {
	var forbidden *guard.ForbiddenError
	if errors.As(err, &forbidden) || errors.Is(err, minecraft.ErrPort) {
		return nil, p.forbidden(err)
	}
	var ping *minecraft.PingError
	if !errors.As(err, &ping) {
		return nil, err
	}
	var dns *net.DNSError
	switch {
	case ping.Kind == "refused", errors.As(err, &dns) && dns.IsNotFound:
		return offline(target, ping.Kind), nil
	case ping.Kind == "timeout":
		return nil, &upstreams.Error{Kind: upstreams.Timeout, Reason: ping.Kind, Err: err}
	}
	return nil, &upstreams.Error{Kind: upstreams.Unavailable, Reason: ping.Kind, Err: err}
}

func (p *pinger) forbidden(err error) error {
	return &upstreams.Error{Kind: upstreams.Forbidden, Parameter: "host", Err: err}
}

func offline(t minecraft.Target, reason string) *upstreams.Reply {
	return &upstreams.Reply{Body: map[string]any{"online": false, "host": t.Host, "port": int(t.Port), "error": reason}}
}
