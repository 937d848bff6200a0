package guard
import ("context";"net";"net/netip";"github.com/prometheus/client_golang/prometheus")
type Config struct { Allow []netip.Prefix; Refused prometheus.Counter }
type Guard struct{}
func New(Config) *Guard { return &Guard{} }
func (g *Guard) Dialer(func(uint16) bool) func(ctx context.Context, network, addr string) (net.Conn, error) { return nil }
func (g *Guard) LookupSRV(ctx context.Context, service, proto, host string) (string, uint16, error) { return "",0,nil }
type ForbiddenError struct{}
func (e *ForbiddenError) Error() string { return "" }
