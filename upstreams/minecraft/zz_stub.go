package minecraft
import ("context";"net";"errors";"time")
type Target struct{ Host string; Port uint16; Explicit bool }
func ParseTarget(s string) (Target, error) { return Target{Host:s,Port:25565}, nil }
func (t Target) String() string { return t.Host }
type Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
type SRVResolver func(ctx context.Context, host string) (string, uint16, error)
type Pinger struct { Dial Dialer; SRV SRVResolver; Timeout time.Duration }
type Status struct{}
func (Status) Data() map[string]any { return map[string]any{"online":true} }
func (p *Pinger) Ping(ctx context.Context, t Target) (Status, error) { return Status{}, nil }
type PingError struct{ Kind string; Err error }
func (e *PingError) Error() string { return e.Kind }
func AllowedPort(p uint16) bool { return true }
var ErrPort = errors.New("port")
func ServeStatus(c net.Conn, b []byte) {}
